"""Malicious repositories: each is refused with one clear error, and nothing is installed."""

import json

import pytest
from fetchers.world import Project
from kit import GitServer, Repository, Result, make_skill

pytestmark = pytest.mark.slow

Rows = list[tuple[str, str | bytes, str]]
FILE, FOLDER, LINK = "100644", "40000", "120000"


def evil(upstream: Repository, rows: Rows, *, inside: str = "") -> None:
    """Commit the skill `evil` with these entries in its tree, or in a folder of it."""
    text = upstream.hash_object(make_skill("evil")["SKILL.md"])
    folder = upstream.store_tree(sorted(rows, key=lambda row: row[1].encode() if isinstance(row[1], str) else row[1]))
    if inside:
        rows = [(FOLDER, inside, folder)]
    rows = sorted([*rows, (FILE, "SKILL.md", text)], key=_in_git_order)
    upstream.commit_tree(
        upstream.store_tree([("40000", "skills", upstream.store_tree([(FOLDER, "evil", upstream.store_tree(rows))]))])
    )


def _in_git_order(row: tuple[str, str | bytes, str]) -> bytes:
    name = row[1].encode() if isinstance(row[1], str) else row[1]
    return name + b"/" if row[0] == FOLDER else name


def refused(project: Project, url: str) -> str:
    """Run an installation that must fail and change nothing; return its message."""
    result = project.run("install", f"{url}@evil")
    assert_one_clear_error(result)
    assert project.is_untouched
    return result.stderr


def assert_one_clear_error(result: Result) -> None:
    assert result.code == 1, result
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0].startswith("error: ")
    assert 1 <= len(lines) <= 3
    assert [line.partition(":")[0] for line in lines[1:]] == [
        word for word in ("  where", "  hint") if any(x.startswith(word) for x in lines)
    ]
    assert "Traceback" not in result.stderr


NAMES: dict[str, tuple[str | bytes, str]] = {
    "parent": ("..", "'..'"),
    "itself": (".", "'.'"),
    "dot-git": (".git", "'.git'"),
    "upper-case": (".GIT", "'.git'"),
    "short-name": ("git~1", "'.git'"),
    "hfs": (".g\u200cit", "'.git'"),
    "trailing-dot": (".git.", "'.git'"),
    "trailing-space": (".git ", "'.git'"),
    "stream": (".git::$INDEX_ALLOCATION", "'.git'"),
    "slash": ("a/b", "full pathnames"),
    "absolute": ("/etc", "full pathnames"),
    "empty": ("", "was reached, but the server failed"),
    "windows": ("CON", "CON"),
    "windows-ending": ("aux.txt", "aux.txt"),
    "backslash": ("a\\b", "a\\b"),
    "colon": ("C:", "C:"),
    "control": ("a\x1b[2Jb", "a\\x1b[2Jb"),
    "new-line": ("a\nb", "a\\nb"),
    "delete": ("a\x7f", "a\\x7f"),
    "bidi": ("a\u202egpj.exe", "a\\u202egpj.exe"),
    "zero-width": ("a\u200bb", "a\\u200bb"),
    "not-utf-8": (b"caf\xe9", "caf\\udce9"),
    "space-at-end": ("a ", "'a '"),
    "dot-at-end": ("a.", "'a.'"),
    "too-long": ("x" * 256, "x" * 50),
    "path-too-long": ("x" * 241, "x" * 50),
}


@pytest.mark.parametrize(
    ("case", "inside"),
    [*((case, "") for case in NAMES), *((case, "deep") for case in ("parent", "dot-git", "windows"))],
)
def test_a_dangerous_name_is_refused(project: Project, upstream: Repository, case: str, inside: str) -> None:
    name, expected = NAMES[case]
    evil(upstream, [(FILE, name, upstream.hash_object("x"))], inside=inside)

    message = refused(project, upstream.file_url)

    assert expected in message or expected.strip("'") in message
    assert "evil" in message or upstream.file_url in message
    assert "\x1b" not in message


COLLISIONS: dict[str, tuple[str, str]] = {
    "twice": ("a", "a"),
    "case": ("README.md", "readme.md"),
    "unicode": ("caf\u00e9", "cafe\u0301"),
    "sharp-s": ("stra\u00dfe", "strasse"),
    "skill-file": ("skill.md", "x"),
}


@pytest.mark.parametrize("case", COLLISIONS)
def test_names_that_collide_on_some_systems(project: Project, upstream: Repository, case: str) -> None:
    one, other = COLLISIONS[case]
    blob = upstream.hash_object("x")
    evil(upstream, [(FILE, one, blob), (FILE, other, blob)])

    message = refused(project, upstream.file_url)

    assert one in message or "duplicate" in message
    assert "evil" in message or upstream.file_url in message


def test_folders_that_collide_on_some_systems(project: Project, upstream: Repository) -> None:
    folder = upstream.store_tree([(FILE, "x", upstream.hash_object("x"))])
    evil(upstream, [(FOLDER, "Docs", folder), (FOLDER, "docs", folder)])

    assert refused(project, upstream.file_url).splitlines()[0] == (
        "error: skill evil: 'Docs/x' and 'docs/x' are the same on some systems"
    )


def test_a_file_and_a_folder_with_the_same_name(project: Project, upstream: Repository) -> None:
    blob = upstream.hash_object("x")
    evil(upstream, [(FILE, "docs", blob), (FOLDER, "docs", upstream.store_tree([(FILE, "x", blob)]))])

    assert "docs" in refused(project, upstream.file_url) or "duplicate" in refused(project, upstream.file_url)


LINKS = {
    "absolute": "/etc/passwd",
    "device": "/dev/zero",
    "process": "/proc/self/environ",
    "upwards": "../../../../../../etc/passwd",
    "just-out": "../..",
    "sibling": "../other/SKILL.md",
    "its-own-top": ".",
    "itself": "link",
    "nothing": "not-there",
    "home": "~/.ssh/id_rsa",
    "windows": "C:\\Windows",
    "new-line": "SKILL.md\n",
    "long": "x/" * 50_000,
    "through-a-file": "SKILL.md/../SKILL.md/x",
}


@pytest.mark.parametrize("case", LINKS)
def test_a_link_that_leaves_the_skill(project: Project, upstream: Repository, case: str) -> None:
    upstream.write(
        {f"skills/evil/{path}": data for path, data in make_skill("evil").items()}
        | {"skills/other/SKILL.md": "secret"},
        symlinks={"skills/evil/docs/link": LINKS[case]},
    ).commit()

    message = refused(project, upstream.file_url)

    assert message.startswith("error: skill evil: link 'docs/link' -> '")
    assert len(message) < 500


def test_a_chain_of_links_that_leaves_the_skill(project: Project, upstream: Repository) -> None:
    upstream.write(
        {f"skills/evil/{path}": data for path, data in make_skill("evil").items()} | {"skills/evil/a/b/c/x": ""},
        symlinks={
            "skills/evil/up": "a/b/c",
            "skills/evil/a/b/c/more": "../../..",
            "skills/evil/link": "up/more/../../../secret",
        },
    ).commit()
    assert "link '" in refused(project, upstream.file_url)


def test_a_circle_of_links(project: Project, upstream: Repository) -> None:
    files = {f"skills/evil/{path}": data for path, data in make_skill("evil").items()}
    upstream.write(files, symlinks={"skills/evil/a": "b", "skills/evil/b": "a"}).commit()

    assert refused(project, upstream.file_url).startswith("error: skill evil: link 'a' -> 'b'")


def test_a_skill_file_that_is_a_link_out(project: Project, upstream: Repository) -> None:
    upstream.write({"README.md": "x"}, symlinks={"skills/evil/SKILL.md": "/etc/passwd"}).commit()

    assert refused(project, upstream.file_url).startswith("error: skill evil: link 'SKILL.md' -> '/etc/passwd'")


@pytest.mark.parametrize(
    "path", ["alias", "alias/evil", "alias/../skills/evil", "../skills", "/etc", "skills/evil/SKILL.md"]
)
def test_a_path_that_goes_through_a_link_or_out(project: Project, upstream: Repository, path: str) -> None:
    files = {f"skills/evil/{name}": data for name, data in make_skill("evil").items()}
    upstream.write(files, symlinks={"alias": "skills"}).commit()

    result = project.run("install", upstream.file_url, "--path", path)

    assert result.code in {1, 2}, result
    assert path.strip("/") in result.stderr or "`..`" in result.stderr or "absolute" in result.stderr
    assert project.is_untouched


def test_a_manifest_cannot_name_a_path_through_a_link(project: Project, upstream: Repository) -> None:
    files = {f"skills/evil/{name}": data for name, data in make_skill("evil").items()}
    upstream.write(files, symlinks={"alias": "skills"}).commit()
    project.write("skills.json", json.dumps({"skills": {"evil": {"git": upstream.file_url, "path": "alias/evil"}}}))

    result = project.run("sync")

    assert (result.code, result.stderr) == (
        1,
        f"error: {upstream.file_url} has no folder `alias/evil`\n"
        f"  hint: did you mean `{upstream.file_url}@evil`? its folder is skills/evil\n",
    )


def test_a_bad_name_outside_the_skill_is_harmless(project: Project, server: GitServer, upstream: Repository) -> None:
    """Honest repositories may contain `aux.c` or names that differ in case; only the skill itself is checked."""
    files = {f"skills/evil/{name}": data for name, data in make_skill("evil").items()}
    upstream.write(
        files | {"src/aux.c": "x", "src/A": "", "src/a": "", "src/b\\c": ""}, symlinks={"out": "/etc"}
    ).commit()

    project.run("install", f"{server.serve('s', upstream)}@evil", check=True)

    assert project.installed_files("evil") == upstream.read_files("skills/evil")


def test_a_submodule_instead_of_the_skill(project: Project, upstream: Repository) -> None:
    blob = upstream.hash_object("x")
    skills = upstream.store_tree([("160000", "evil", blob)])
    upstream.commit_tree(upstream.store_tree([(FOLDER, "skills", skills)]))

    result = project.run("install", upstream.file_url, "--path", "skills/evil")

    assert (result.code, result.stderr.splitlines()[0]) == (
        1,
        f"error: {upstream.file_url} has no folder `skills/evil`",
    )


def test_unusual_modes_are_normalized(project: Project, server: GitServer, upstream: Repository) -> None:
    """Old versions of git wrote 100664. Git never writes setuid bits, and forged ones are dropped."""
    files = {"SKILL.md": make_skill("evil")["SKILL.md"], "group": b"g"}
    rows: Rows = [
        (FILE, "SKILL.md", upstream.hash_object(files["SKILL.md"])),
        ("100664", "group", upstream.hash_object("g")),
    ]
    upstream.commit_tree(upstream.store_tree(rows))

    project.run("install", server.serve("s", upstream), check=True)

    assert project.installed_files("evil") == {path: ("100644", data) for path, data in files.items()}


def test_a_skill_file_that_is_a_folder(project: Project, upstream: Repository) -> None:
    upstream.write({"skills/evil/SKILL.md/x": "y"}).commit()

    result = project.run("install", upstream.file_url, "--path", "skills/evil")

    assert_one_clear_error(result)
    assert "SKILL.md" in result.stderr
