"""`skillpm uninstall`: out of the manifest, out of the lockfile, off the disk; and nothing else."""

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths


@pytest.fixture
def full(project: CommandSandbox) -> CommandSandbox:
    """Return a project with three skills, one of them local."""
    project.run("install", "testing", "code-review", check=True)
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine")))
    project.run("registry", "build", check=True)
    return project


def test_everything_of_a_skill_goes_and_everything_else_stays(full: CommandSandbox) -> None:
    before = full.snapshot(".agent-skills/testing") | full.snapshot(".agent-skills/mine")

    output = full.output("uninstall", "code-review")

    assert output == " - code-review 1.0.0\nremoved 1; total: 2 skills in WORK/.agent-skills\n"
    assert full.read("skills.json") == '{"skills": {\n  "testing": {"bundled": true}\n}}\n'
    assert list(full.read_json("skills.lock")["skills"]) == ["testing"]
    assert list(full.read_json(".agent-skills/.skillpm/receipt.json")["skills"]) == ["testing"]
    assert [entry["name"] for entry in full.read_json(".agent-skills/skills.json")["skills"]] == ["mine", "testing"]
    assert not full.exists(".agent-skills/code-review")
    assert full.snapshot(".agent-skills/testing") | full.snapshot(".agent-skills/mine") == before


def test_links_are_removed_and_never_followed(full: CommandSandbox) -> None:
    (full.home / "letters").mkdir()
    (full.home / "letters/one.txt").write_text("Dear Ada")
    (full.work / ".agent-skills/testing/__pycache__").symlink_to(full.home / "letters")

    full.run("uninstall", "testing", check=True)
    (full.cache / "v1").mkdir(parents=True, exist_ok=True)
    (full.cache / "v1/old").symlink_to(full.home / "letters")
    full.run("cache", "clean", "--yes", check=True)

    assert not full.exists(".agent-skills/testing")
    assert not (full.cache / "v1/old").is_symlink()
    assert (full.home / "letters/one.txt").read_text() == "Dear Ada"


def test_the_last_skill_leaves_documents_that_say_so(project: CommandSandbox) -> None:
    project.run("install", "code-review", check=True)

    output = project.output("rm", "code-review")

    assert output == " - code-review 1.0.0\nremoved 1; total: 0 skills in WORK/.agent-skills\n"
    assert project.read_json("skills.lock") == {"version": 1, "requirements": {}, "skills": {}}
    assert project.read_json(".agent-skills/skills.json")["skills"] == []
    assert project.render_tree(".agent-skills", ignore=[".skillpm"]) == ".gitattributes\nskills.json\n"


def test_a_local_skill_is_only_removed_with_force_and_backed_up(full: CommandSandbox) -> None:
    mine = full.snapshot(".agent-skills/mine")

    assert full.output("uninstall", "mine", "testing") == expected_output("""\
! error: `mine` is a local skill, not managed by skillpm; nothing was changed
!   where: WORK/.agent-skills/mine
!   hint: `rm -r WORK/.agent-skills/mine` removes it for good, `--force` removes it and keeps a backup
[1]
""")
    assert full.output("uninstall", "mine", "--force") == expected_output("""\
 - mine  (a folder that skillpm did not create; backed up first)
removed 1; total: 2 skills in WORK/.agent-skills
! warning: backed up your version of mine as mine-1; restore it with `skillpm backup restore mine-1`
""")
    assert full.snapshot(".agent-skills/.skillpm/backup/mine-1") == mine
    assert full.run("registry", "check").code == 0
    full.run("backup", "restore", "mine-1", check=True)
    assert full.snapshot(".agent-skills/mine") == mine


def test_several_go_at_once(full: CommandSandbox) -> None:
    assert full.output("remove", "code-review", "testing") == expected_output("""\
 - code-review 1.0.0
 - testing 1.0.0
removed 2; total: 1 skill in WORK/.agent-skills
""")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["code-reviw"], "`code-reviw` is not installed in project scope\n!   hint: did you mean `code-review`?"),
        (["zzz"], "`zzz` is not installed in project scope\n!   hint: installed: code-review, testing"),
        (["testing", "zzz"], "`zzz` is not installed in project scope\n!   hint: installed: code-review, testing"),
    ],
)
def test_an_unknown_name_stops_everything(full: CommandSandbox, names: list[str], message: str) -> None:
    before = full.full_snapshot

    assert full.output("uninstall", *names) == f"! error: {message}\n[1]\n"
    assert full.full_snapshot == before


def test_an_empty_scope_is_reported(project: CommandSandbox) -> None:
    assert project.output("uninstall", "pdf") == expected_output("""\
! error: `pdf` is not installed: no skills in project scope
!   hint: `skillpm list` shows a project's skills, `skillpm list -g` those in user scope
[1]
""")


def test_dry_run_removes_nothing(full: CommandSandbox) -> None:
    before = full.snapshot()

    assert full.output("uninstall", "testing", "--dry-run") == expected_output("""\
 - testing 1.0.0
would have removed 1; total: 2 skills in WORK/.agent-skills
""")
    assert full.snapshot() == before


def test_a_requirement_that_was_never_installed_is_removed_too(project: CommandSandbox) -> None:
    project.write("skills.json", '{"skills": {"testing": {"bundled": true}, "code-review": {"bundled": true}}}\n')

    project.run("uninstall", "testing", check=True)

    assert list(project.read_json("skills.lock")["skills"]) == ["code-review"]
    assert project.read("skills.json") == '{"skills": {"code-review": {"bundled": true}}}\n'


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["URL@pdf"], ["docx", "papers"]),
        (["URL@docx", "p*"], []),
        (["d*"], ["papers", "pdf"]),
        (["URL@papers"], ["docx", "pdf"]),
        (["?df"], ["docx", "papers"]),
    ],
)
@pytest.mark.parametrize("is_included", [False, True])
def test_a_pattern_and_a_spec_name_skills(
    project: CommandSandbox, url: str, words: list[str], left: list[str], *, is_included: bool
) -> None:
    project.run("install", *([url, "--all"] if is_included else [f"{url}@pdf", f"{url}@docx"]), check=True)
    project.run("install", f"{url}@pdf", "--as", "papers", check=True)
    if words == ["URL@pdf"]:  # which is both of them
        left = ["docx"]

    project.run("uninstall", *(word.replace("URL", url) for word in words), check=True)

    assert sorted(project.read_json("skills.lock")["skills"]) == left


@pytest.mark.parametrize("word", ["x*", "URL@none", "https://git.example/acme/skills@pdf"])
def test_a_pattern_or_a_spec_of_nothing_is_an_error(project: CommandSandbox, url: str, word: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    word = word.replace("URL", url)

    assert project.run("uninstall", word).stderr.startswith(f"error: `{word}` is not installed in project scope\n")
