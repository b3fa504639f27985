"""Which sources a rule of `[[trust]]` covers, however their addresses are written."""

import pytest

from skillpm.formats.pin import BundledPin, GitPin, IndexPin, OciPin, PackagePin, PathPin, Pin, UrlPin
from skillpm.trust.places import covers_source, name_source


def git(url: str) -> GitPin:
    return GitPin(url=url, commit="0" * 40, tree="0" * 40)


@pytest.mark.parametrize(
    ("pin", "name"),
    [
        (git("https://github.com/NVIDIA/skills"), "github.com/nvidia/skills"),
        (git("https://github.com/nvidia/Skills.git"), "github.com/nvidia/skills"),
        (git("https://GitHub.com:443//NVIDIA//skills/"), "github.com/nvidia/skills"),
        (git("https://github.com./NVIDIA/skills"), "github.com/nvidia/skills"),
        (git("git@github.com:NVIDIA/skills"), "github.com/nvidia/skills"),
        (git("git@github.com:/NVIDIA/skills.git"), "github.com/nvidia/skills"),
        (git("ssh://git@github.com:22/NVIDIA/skills"), "github.com/nvidia/skills"),
        (git("ssh://git@git.acme.example:2222/skills"), "git.acme.example:2222/skills"),
        (git("file:///srv/skills.git"), "/srv/skills"),
        (
            UrlPin(url="https://github.com/NVIDIA/skills/archive/main.zip", sha256=""),
            "github.com/nvidia/skills/archive/main.zip",
        ),
        (
            IndexPin(index="https://skills.acme.example/", url="https://cdn.example/pdf.tar.gz", sha256=""),
            "skills.acme.example",
        ),
        (IndexPin(index="./public", url="./public/pdf.tar.gz", sha256=""), "./public"),
        (OciPin(repository="ghcr.io/acme/pdf", manifest="", layer=""), "ghcr.io/acme/pdf"),
        (PathPin(path="./own/pdf"), "path:./own/pdf"),
        (BundledPin(name="pdf"), "bundled:pdf"),
        (PackagePin(kind="npm", package="@acme/ui", path="."), "npm:@acme/ui"),
    ],
)
def test_a_source_has_one_name(pin: Pin, name: str) -> None:
    assert name_source(pin) == name


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [
        ("github.com/NVIDIA/*", True),
        ("GITHUB.COM/nvidia/skills", True),
        ("github.com/*", True),
        ("*", True),
        ("github.com/NVIDIA/", False),
        ("github.com/NVIDIA", False),
        ("github.com/NVIDIA/skill", False),
        ("github.com/NVIDIA/skill?", False),
        ("github.com/NVIDIA/[s]kills", False),
        ("*.com", False),
        ("gitlab.com/NVIDIA/*", False),
    ],
)
def test_a_pattern_is_about_the_whole_name(pattern: str, *, covered: bool) -> None:
    assert covers_source(pattern, git("https://github.com/NVIDIA/skills")) is covered
