"""Installed files are those of the repository, byte for byte, regardless of git's settings."""

from pathlib import Path

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, make_skill

ATTRIBUTES = """\
*.txt text eol=crlf
*.id ident
*.utf16 working-tree-encoding=UTF-16
*.evil filter=evil diff=evil merge=evil
*.psd filter=lfs diff=lfs merge=lfs -text
version.txt export-subst
secret.txt export-ignore
"""
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n"
FILES: dict[str, str | bytes] = {
    ".gitattributes": ATTRIBUTES,
    "unix.txt": "one\ntwo\n",
    "dos.txt": b"one\r\ntwo\r\n",
    "mixed.txt": b"one\r\ntwo\n\r",
    "x.id": "$Id$ $Id: 0123 $\n",
    "x.utf16": "é\n",
    "x.evil": "to be smudged\n",
    "x.psd": POINTER,
    "version.txt": "$Format:%H$\n",
    "secret.txt": "not exported\n",
    "binary": bytes(range(256)) * 40,
    "empty": b"",
    "no-newline": "end",
    ".hidden": "seen",
    ".github/workflows/x.yml": "on: push\n",
}
ODD = [
    "a b.md",
    " leading",
    "naïve é 漢字.md",
    "-rf",
    "--help",
    "[x]",
    "$(touch pwned)",
    "`x`",
    "'",
    "~",
    "#",
]
# A configuration that would change files or run programs on every checkout.
EVIL = """\
[core]
\tautocrlf = true
\teol = crlf
\tsafecrlf = false
\tattributesFile = ~/attributes
\thooksPath = ~/hooks
\tfsmonitor = {pwn}
\tsymlinks = true
\tfileMode = false
[init]
\ttemplateDir = ~/template
[filter "evil"]
\tsmudge = {pwn}
\tclean = {pwn}
\tprocess = {pwn}
\trequired = true
[filter "lfs"]
\tsmudge = {pwn}
\tprocess = {pwn}
\trequired = true
[alias]
\tcat-file = !{pwn}
\tfetch = !{pwn}
\tconfig = !{pwn}
"""


@pytest.fixture
def pwned(project: Project) -> Path:
    """The file that appears if a command of the user's configuration is run."""
    proof = project.home / "pwned"
    script = project.home / "pwn.sh"
    script.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    script.chmod(0o755)
    project.git_config(EVIL.format(pwn=script))
    (project.home / "attributes").write_text("* filter=evil eol=crlf\n")
    for name in ("hooks", "template/hooks"):
        folder = project.home / name
        folder.mkdir(parents=True)
        for hook in ("post-checkout", "reference-transaction", "post-merge", "pre-auto-gc", "fsmonitor-watchman"):
            (folder / hook).write_text(script.read_text())
            (folder / hook).chmod(0o755)
    return proof


@pytest.mark.parametrize("over", ["http", "file"])
def test_bytes_and_executable_bits_are_those_of_the_blobs(
    upstream: Repository, server: GitServer, project: Project, pwned: Path, over: str
) -> None:
    files = make_skill("odd") | FILES | dict.fromkeys(ODD, "odd\n") | {"run.sh": "#!/bin/sh\n", "deep/er/run": "x"}
    upstream.write(files, executable=["run.sh", "deep/er/run", "-rf"]).commit()
    url = server.serve("odd", upstream) if over == "http" else upstream.file_url

    project.run("install", url, check=True)

    assert project.installed_files("odd") == upstream.read_files()
    assert not pwned.exists()
    assert not project.exists("pwned")


def test_links_within_the_skill_become_copies(upstream: Repository, project: Project) -> None:
    files = make_skill("linked") | {"docs/guide.md": "Guide.\n", "bin/run": "#!", "docs/deep/x": "x"}
    links = {
        "README.md": "SKILL.md",
        "bin/up": "../docs/./deep/../guide.md",
        "manual": "docs",
        "bin/again": "run",
        "alias": "./bin/again",
    }
    upstream.write(files, executable=["bin/run"], symlinks=links).commit()

    project.run("install", upstream.file_url, check=True)

    plain = upstream.read_files()
    assert project.installed_files("linked") == {
        **{path: plain[path] for path in files},
        "README.md": plain["SKILL.md"],
        "bin/up": plain["docs/guide.md"],
        "manual/guide.md": plain["docs/guide.md"],
        "manual/deep/x": plain["docs/deep/x"],
        "bin/again": plain["bin/run"],
        "alias": plain["bin/run"],
    }


def test_a_submodule_is_left_out_with_a_warning(upstream: Repository, project: Project) -> None:
    upstream.write(
        make_skill("modular") | {".gitmodules": '[submodule "m"]\n\tpath = lib/m\n\turl = ext::sh -c id\n'}
    ).commit()
    blob = upstream.hash_object("x")
    folder = upstream.store_tree([("160000", "m", blob)])
    rows = [
        ("100644", ".gitmodules", upstream.resolve("HEAD:.gitmodules")),
        ("100644", "SKILL.md", upstream.resolve("HEAD:SKILL.md")),
    ]
    upstream.commit_tree(upstream.store_tree([*rows, ("40000", "lib", folder)]))

    result = project.run("install", upstream.file_url, check=True)

    assert "warning: modular: `lib/m` is a submodule, which skillpm does not fetch\n" in result.stderr
    assert set(project.installed_files("modular")) == {".gitmodules", "SKILL.md"}


def test_the_store_returns_the_same_bytes_and_bits(upstream: Repository, project: Project, tmp_path: Path) -> None:
    upstream.write(make_skill("odd") | FILES | {"run": "#!"}, executable=["run"]).commit()
    project.run("install", upstream.file_url, check=True)
    other = project.clone(tmp_path / "other")

    other.run("sync", "--offline", env={"SKILLPM_CACHE_DIR": str(project.cache)}, check=True)

    assert other.installed_files("odd") == upstream.read_files()


def test_trees_that_differ_in_an_executable_bit_are_distinct(upstream: Repository, project: Project) -> None:
    upstream.write(make_skill("bit") | {"run": "#!"}).commit()
    project.run("install", upstream.file_url, check=True)
    upstream.write({"run": "#!"}, executable=["run"]).commit()
    project.run("update", check=True)

    assert project.installed_files("bit") == upstream.read_files()
