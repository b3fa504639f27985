"""`skillpm version`: raise the version of a skill; nothing else in its SKILL.md changes."""

import os
from pathlib import Path

import pytest
from kit import Sandbox, git, make_skill, prefix_paths
from kit.git import git_bytes
from kit.skills import to_bytes

from skillpm import __version__
from skillpm.skillmd.skill import read_skill
from skillpm.skillmd.version_edit import next_version, set_version


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('name: a\nmetadata:\n  version: "1.0.0"\n', 'name: a\nmetadata:\n  version: "2.1"\n'),
        ("name: a\nmetadata:\n  version: '1.0.0' # ours\n", "name: a\nmetadata:\n  version: '2.1' # ours\n"),
        ("version: 1.0.0  # ours\nname: a\n", 'version: "2.1"  # ours\nname: a\n'),
        ("metadata: {a: b, version: 1.0.0}\nname: a\n", 'metadata: {a: b, version: "2.1"}\nname: a\n'),
        ('metadata: {"version": "1.0.0"}\n', 'metadata: {"version": "2.1"}\n'),
        (
            "compatibility: >\n  version: 1.0.0\nother:\n  version: 1.0.0\nmetadata:\n    x: y\n    version: v1.0.0\n",
            'compatibility: >\n  version: 1.0.0\nother:\n  version: 1.0.0\nmetadata:\n    x: y\n    version: "2.1"\n',
        ),
        (
            "name: a\nmetadata:\n    x: y\nlicense: MIT\n",
            'name: a\nmetadata:\n    version: "2.1"\n    x: y\nlicense: MIT\n',
        ),
        ("name: a\n", 'name: a\nmetadata:\n  version: "2.1"\n'),
        ("metadata: {a: b}\n", None),
        ("metadata:\n  version: 1.0.0 and more\n", None),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_only_the_value_changes(before: str, after: str | None, ending: str) -> None:
    def skill(block: str) -> bytes:
        text = f"---\ndescription: Use it.\n{block}---\n# Body\n\nversion: 1.0.0\n\n\n  end"
        return b"\xef\xbb\xbf" + text.replace("\n", ending).encode()

    assert set_version(skill(before), "2.1") == (None if after is None else skill(after))


@pytest.mark.parametrize(
    ("version", "major", "minor", "patch"),
    [
        ("1.2.3", "2.0.0", "1.3.0", "1.2.4"),
        ("v1.2.3", "v2.0.0", "v1.3.0", "v1.2.4"),
        ("1.2", "2.0", "1.3", "1.2.1"),
        ("2026.11.25.1", "2027.0.0.0", "2026.12.0.0", "2026.11.26.0"),
        ("2.0.0rc1", "2.0.0", "2.0.0", "2.0.0"),
        ("1.2.3rc1", "2.0.0", "1.3.0", "1.2.3"),
        ("1.2.3.post1+linux", "2.0.0", "1.3.0", "1.2.4"),
        ("banana", "", "", ""),
    ],
)
def test_the_next_version(version: str, major: str, minor: str, patch: str) -> None:
    assert [next_version(version, part) for part in ("major", "minor", "patch")] == [major, minor, patch]


@pytest.fixture
def author(tmp_path: Path) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    files = prefix_paths("skills/base-style", make_skill("base-style", metadata={"version": "1.0.0"}))
    sandbox.write_files(files | prefix_paths("other/none", make_skill("none")))
    return sandbox


def test_a_skill_is_given_by_name_or_path(author: Sandbox) -> None:
    os.chmod(author.work / "skills/base-style/SKILL.md", 0o664)

    by_name = author.run("version", "base-style", "minor", check=True)
    by_path = author.run("version", "skills/base-style/SKILL.md", "2.0.0rc1", check=True)
    inside = author.run("version", ".", "major", cwd="skills/base-style", check=True)

    assert by_name.stdout == "base-style 1.0.0 → 1.1.0\n"
    assert by_path.stdout == "base-style 1.1.0 → 2.0.0rc1\n"
    assert inside.stdout == "base-style 2.0.0rc1 → 2.0.0\n"
    files = make_skill("base-style", metadata={"version": "2.0.0"})
    assert author.read("skills/base-style/SKILL.md") == to_bytes(files["SKILL.md"]).decode()
    assert (author.work / "skills/base-style/SKILL.md").stat().st_mode & 0o777 == 0o664


def test_a_dry_run_and_a_version_that_is_there_change_nothing(author: Sandbox) -> None:
    before = author.snapshot()

    dry_run = author.run("version", "base-style", "patch", "--dry-run", "--json", check=True)
    same = author.run("version", "base-style", "1.0.0", check=True)

    assert dry_run.json == {
        "changed": False,
        "name": "base-style",
        "path": "skills/base-style/SKILL.md",
        "from": "1.0.0",
        "to": "1.0.1",
        "dryRun": True,
    }
    assert same.stdout == "base-style is already 1.0.0\n"
    assert author.snapshot() == before


def test_a_lower_version_is_reported(author: Sandbox) -> None:
    lower = author.run("version", "base-style", "0.9", check=True)

    assert lower.error_output == "warning: 0.9 is lower than 1.0.0: if that is published, it stays the newest\n"
    assert lower.stdout == "base-style 1.0.0 → 0.9\n"
    assert author.run("version", "base-style", "1.0.0", check=True).error_output == ""


def test_without_a_skill_it_is_the_version_of_skillpm(author: Sandbox) -> None:
    for words in (["version"], ["--version"], ["version", "--no-color"]):
        assert author.run(*words, check=True).stdout == f"skillpm {__version__}\n"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["base-style"], 2, "error: missing the version\n  hint: e.g. skillpm version base-style minor\n"),
        (
            ["base-style", "next"],
            2,
            "error: `next` is not a valid version (PEP 440)\n  hint: use major, minor, patch or a version like 1.2.0\n",
        ),
        (["bas-style", "minor"], 1, "error: no skill `bas-style` here\n  hint: did you mean `base-style`?\n"),
        (
            ["none", "minor"],
            1,
            "error: other/none/SKILL.md: it declares no version\n  hint: set one: skillpm version none 0.1.0\n",
        ),
    ],
)
def test_mistakes_are_explained(author: Sandbox, words: list[str], code: int, message: str) -> None:
    before = author.snapshot()

    result = author.run("version", *words)

    assert (result.code, result.error_output) == (code, message)
    assert author.snapshot() == before


def test_two_skills_with_one_name_and_links_out_of_the_folder(author: Sandbox) -> None:
    author.write_files(prefix_paths("more/none", make_skill("none", metadata={"version": "1.0.0"})))
    author.write_files(prefix_paths(".claude/skills/none", make_skill("none", metadata={"version": "1.0.0"})))
    (author.root / "outside").mkdir()
    (author.work / "other/none/SKILL.md").rename(author.root / "outside/SKILL.md")
    (author.work / "other/none/SKILL.md").symlink_to(author.root / "outside/SKILL.md")

    several = author.run("version", "none", "1.0.0")
    link = author.run("version", "other/none", "1.0.0")

    assert several.error_output == (
        "error: several skills have the name `none`: more/none, other/none\n  hint: pass the path of one\n"
    )
    assert link.error_output.startswith("error: other/none/SKILL.md is behind a link that leads elsewhere")


@pytest.fixture
def work(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def skill_versions(sandbox: Sandbox) -> dict[str, str]:
    """Return the versions of all skills below `skills`, by name."""
    files = sorted(sandbox.work.glob("skills/**/SKILL.md"))
    return {file.parent.name: read_skill(file.read_bytes()).version for file in files}


@pytest.mark.parametrize("words", [["skills/a", "skills/deep/b"], ["skills"], ["skills/", "a"]], ids=" ".join)
def test_several_skills_or_a_folder_of_them_are_changed_at_once(work: Sandbox, words: list[str]) -> None:
    work.write_files(prefix_paths("skills/a", make_skill("a", version="1.0.0")))
    work.write_files(prefix_paths("skills/deep/b", make_skill("b", version="2.3.4")))

    dry = work.run("version", *words, "minor", "--dry-run", check=True)
    assert dry.stdout == "a 1.0.0 → 1.1.0\nb 2.3.4 → 2.4.0\n"
    assert skill_versions(work) == {"a": "1.0.0", "b": "2.3.4"}
    result = work.run("version", *words, "minor", "--json", check=True).json

    assert result["changed"] is True
    assert [(each["name"], each["to"]) for each in result["skills"]] == [("a", "1.1.0"), ("b", "2.4.0")]
    assert skill_versions(work) == {"a": "1.1.0", "b": "2.4.0"}


def test_no_skill_is_changed_if_one_cannot_be(work: Sandbox) -> None:
    work.write_files(prefix_paths("skills/a", make_skill("a", version="1.0.0")))
    work.write_files(prefix_paths("skills/b", make_skill("b")))

    result = work.run("version", "skills", "minor")

    assert (result.code, result.stderr) == (
        1,
        "error: skills/b/SKILL.md: it declares no version\n  hint: set one: skillpm version skills/b 0.1.0\n",
    )
    assert skill_versions(work) == {"a": "1.0.0", "b": ""}


def test_the_version_of_skillpm_as_json(work: Sandbox) -> None:
    assert work.run("version", "--json", check=True).json == {"version": __version__}


def test_of_the_changed_skills_a_version_is_raised_once(author: Sandbox) -> None:
    """A commit that changes a line `version:` elsewhere, a raise that is not committed, and ignored files."""
    skills = {name: make_skill(name, metadata={"version": "1.0.0"}) for name in ("as-is", "edited", "grown", "raised")}
    for name, files in skills.items():
        author.write_files(prefix_paths(f"skills/{name}", files))
    git("init", "-q", "-b", "main", cwd=author.work)
    commit(author)
    author.write("skills/edited/SKILL.md", author.read("skills/edited/SKILL.md") + "\nversion: 3 of the tool\n")
    commit(author)
    author.write("skills/grown/references/more.md", "More.\n")
    author.write("skills/as-is/.DS_Store", "x")
    author.write("skills/new/SKILL.md", author.read("skills/as-is/SKILL.md"))
    author.run("version", "raised", "2.0.0", check=True)

    result = author.run("version", "skills", "minor", "--changed", check=True)
    commit(author)
    again = author.run("version", "skills", "minor", "--changed", check=True)
    as_json = author.run("version", "skills", "minor", "--changed", "--json", check=True)

    assert result.stdout == "edited 1.0.0 → 1.1.0\ngrown 1.0.0 → 1.1.0\n"
    assert (again.stdout, again.error_output) == ("", "no skill has changed since the commit that set its version\n")
    assert as_json.json == {"changed": False, "skills": []}


def test_without_git_no_change_is_known(author: Sandbox) -> None:
    result = author.run("version", "skills", "minor", "--changed")

    assert (result.code, author.read("skills/base-style/SKILL.md").count("1.0.0")) == (1, 1)
    assert result.error_output.startswith("error: git reads no repository here: ")


def commit(author: Sandbox) -> None:
    git("add", "-A", cwd=author.work)
    git("-c", "user.name=a", "-c", "user.email=a@acme.example", "commit", "-qm", "x", cwd=author.work)


def test_the_configuration_of_a_checkout_starts_no_program(author: Sandbox) -> None:
    """`git log` would check the signature of each commit with the program that the checkout names."""
    git("init", "-q", "-b", "main", cwd=author.work)
    commit(author)
    signed = git("cat-file", "commit", "HEAD", cwd=author.work).replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n\n", 1
    )
    oid = git_bytes("hash-object", "-t", "commit", "-w", "--stdin", cwd=author.work, stdin=f"{signed}\n".encode())
    git("update-ref", "HEAD", oid.decode().strip(), cwd=author.work)
    program = author.write("program", "#!/bin/sh\ntouch ../started\n")
    program.chmod(0o755)
    git("config", "gpg.program", str(program), cwd=author.work)
    git("config", "log.showSignature", "true", cwd=author.work)
    git("log", "-n1", cwd=author.work)
    (author.work.parent / "started").unlink()

    assert author.run("version", "skills", "minor", "--changed").code == 0
    assert not (author.work.parent / "started").exists()
