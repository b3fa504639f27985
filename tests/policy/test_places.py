"""Patterns of places: what they match, and how an address cannot get around them."""

import pytest

from skillpm.formats.pin import BundledPin, GitPin, IndexPin, OciPin, PackagePin, PathPin, Pin, UrlPin
from skillpm.formats.trust.licenses import is_license_allowed, normalize_license
from skillpm.trust.places import Place, find_place, matches_name, matches_place, matches_request

COMMIT = "0" * 40
MATCHES = [
    ("github.com/acme/*", "https://github.com/acme/x", True),
    ("github.com/acme/*", "ssh://git@github.com/acme/x", True),
    ("github.com/acme/*", "https://GitHub.com/acme/x.git", True),
    ("GitHub.com/acme/*", "https://github.com/acme/x", True),
    ("github.com/acme/x", "https://github.com/acme/x.git", True),
    ("github.com/acme/x.git", "https://github.com/acme/x", True),
    ("github.com/acme/", "https://github.com/acme/x/y", True),
    ("github.com/a*/", "https://github.com/acme/x/y", True),
    ("github.com", "https://github.com/acme/x", True),
    ("*.acme.example", "https://git.acme.example/x", True),
    ("*.acme.example:8443/x", "https://git.acme.example:8443/x", True),
    ("https://skills.example/", "https://skills.example/", True),
    ("https://skills.example/", "https://skills.example/deep/er", True),
    ("oci.acme.example:5000/acme/*", "oci.acme.example:5000/acme/pdf", True),
    ("*", "https://anything.example/x", True),
    ("bundled", "bundled", True),
    ("env", "env:fastapi", True),
    ("env:fast*", "env:fastapi", True),
    ("npm:@acme/*", "npm:@acme/ui", True),
    ("github.com/acme/*", "https://github.com/acme", False),
    ("github.com/acme/*", "https://github.com/Acme/x", False),
    ("github.com/acme/*", "https://github.com/acme/../evil/x", False),
    ("github.com/acme/*", "https://github.com/acme/./../evil/x", False),
    ("github.com/acme/*", "https://github.com/acme/%2e%2e/evil/x", False),
    ("github.com/acme/*", "https://github.com/acme%2F..%2Fevil/x", False),
    ("github.com/acme/*", "https://github.com/acme/..\\evil/x", False),
    ("github.com/acme/*", "https://github.com//acme/x", False),
    ("github.com/acme/*", "https://github.com@evil.example/acme/x", False),
    ("github.com/acme/*", "https://evil.example/github.com/acme/x", False),
    ("github.com/acme/*", "https://github.com.evil.example/acme/x", False),
    ("github.com/acme/*", "https://github.com:8443/acme/x", False),
    ("github.com/acme/", "https://github.com/acmeevil/x", False),
    ("github.com/acme/x", "https://github.com/acme/x/y", False),
    ("github.com/[ab]*", "https://github.com/acme", False),
    ("*.acme.example/*", "https://evil.example/x.acme.example/y", False),
    ("*.acme.example", "https://evil.example/?.acme.example", False),
    ("https://skills.example/", "http://skills.example/", False),
    ("env:fast", "env:fastapi", False),
    ("path", "bundled", False),
]


@pytest.mark.parametrize(("pattern", "address", "matches"), MATCHES)
def test_a_pattern_matches_a_place(pattern: str, address: str, matches: bool) -> None:  # noqa: FBT001  (a table)
    assert matches_place(pattern, address) is matches


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("https://skills.example/index", "https://skills.example/index/skills/pdf.json", True),
        ("github.com/acme/x", "https://github.com/acme/x.git/info/refs?service=git-upload-pack", True),
        ("github.com/acme/x", "https://github.com/acme/y.git/info/refs", False),
        ("github.com/acme/x", "https://github.com/acme/x/../y/info/refs", False),
        ("https://skills.example/index", "https://skills.example/indexes/a.json", False),
    ],
)
def test_a_request_belongs_to_a_place(pattern: str, url: str, matches: bool) -> None:  # noqa: FBT001  (a table)
    assert matches_request(pattern, url) is matches


@pytest.mark.parametrize(
    ("pin", "place"),
    [
        (GitPin(url="git@github.com:acme/x", commit=COMMIT, tree=COMMIT), ("sources", "ssh://git@github.com/acme/x")),
        (GitPin(url="https://github.com/acme/x", commit=COMMIT, tree=COMMIT), ("sources", "https://github.com/acme/x")),
        (GitPin(url="file:///srv/x", commit=COMMIT, tree=COMMIT), ("sources", "path")),
        (UrlPin(url="https://x.example/a.zip", sha256=""), ("sources", "https://x.example/a.zip")),
        (UrlPin(url="./a.zip", sha256=""), ("sources", "path")),
        (PathPin(path="./x"), ("sources", "path")),
        (BundledPin(name="x"), ("sources", "bundled")),
        (PackagePin(kind="npm", package="@acme/ui", path="."), ("sources", "npm:@acme/ui")),
        (IndexPin(index="https://i.example/", url="https://cdn.example/a", sha256=""), ("indexes", "https://i.example/")),
        (IndexPin(index="/srv/index", url="/srv/index/a", sha256=""), ("indexes", "path")),
        (OciPin(repository="oci.example/acme/x", manifest="", layer=""), ("oci", "oci.example/acme/x")),
    ],
)  # fmt: skip
def test_a_pin_has_a_place(pin: Pin, place: tuple[str, str]) -> None:
    found = find_place(pin)
    assert isinstance(found, Place)
    assert (found.table, found.address) == place


@pytest.mark.parametrize(
    ("expression", "allowed", "is_allowed"),
    [
        ("mit", ["MIT"], True),
        ("MIT OR GPL-3.0-only", ["MIT"], True),
        ("MIT AND GPL-3.0-only", ["MIT"], False),
        ("MIT AND GPL-3.0-only", ["MIT", "GPL-3.0-only"], True),
        # AND binds tighter than OR.
        ("GPL-3.0-only AND X11 OR MIT", ["MIT"], True),
        ("MIT OR X11 AND GPL-3.0-only", ["X11"], False),
        ("(MIT OR X11) AND GPL-3.0-only", ["MIT"], False),
        ("(MIT OR X11) AND (GPL-3.0-only OR BSD-3-Clause)", ["X11", "BSD-3-Clause"], True),
        ("Apache-2.0 WITH LLVM-exception", ["Apache-2.0"], True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", ["GPL-2.0-only WITH Classpath-exception-2.0"], True),
        ("GPL-2.0-only", ["GPL-2.0-only WITH Classpath-exception-2.0"], False),
        ("Apache-2.0+", ["Apache-2.0"], True),
        ("LicenseRef-acme", ["LicenseRef-acme"], True),
    ],
)
def test_a_license_expression_is_evaluated(expression: str, allowed: list[str], is_allowed: bool) -> None:  # noqa: FBT001
    assert is_license_allowed(normalize_license(expression), allowed) is is_allowed


@pytest.mark.parametrize(
    "text", ["", "Complete terms in LICENSE.txt", "MIT AND", "(MIT", "MIT OR OR X11", f"{'(' * 400}MIT{')' * 400}"]
)
def test_what_is_not_a_license_expression_is_none(text: str) -> None:
    assert normalize_license(text) == ""


def test_a_name_is_matched_in_whatever_case() -> None:
    assert matches_name("free-*", "FREE-tokens")
    assert not matches_name("free-*", "my-free-tokens")
