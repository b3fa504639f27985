"""`skillpm uninstall`: out of the manifest, out of the lockfile, off the disk; and nothing else."""

import pytest
from commands.scene import Scene, text
from kit import skill, under


@pytest.fixture
def full(project: Scene) -> Scene:
    """Give a project with three skills, one of them made by hand."""
    project.run("install", "testing", "code-review", check=True)
    project.write_files(under(".agent-skills/mine", skill("mine")))
    project.run("registry", "build", check=True)
    return project


def test_everything_of_a_skill_goes_and_everything_else_stays(full: Scene) -> None:
    before = full.snapshot(".agent-skills/testing") | full.snapshot(".agent-skills/mine")

    said = full.tell("uninstall", "code-review")

    assert said == " - code-review 1.0.0\nremoved 1: 2 skills in WORK/.agent-skills\n"
    assert full.read("skills.json") == '{"skills": {\n  "testing": {"bundled": true}\n}}\n'
    assert list(full.document("skills.lock")["skills"]) == ["testing"]
    assert list(full.document(".agent-skills/.skillpm/receipt.json")["skills"]) == ["testing"]
    assert [entry["name"] for entry in full.document(".agent-skills/skills.json")["skills"]] == ["mine", "testing"]
    assert not full.exists(".agent-skills/code-review")
    assert full.snapshot(".agent-skills/testing") | full.snapshot(".agent-skills/mine") == before


def test_the_last_skill_leaves_documents_that_say_so(project: Scene) -> None:
    project.run("install", "code-review", check=True)

    said = project.tell("rm", "code-review")

    assert said == " - code-review 1.0.0\nremoved 1: 0 skills in WORK/.agent-skills\n"
    assert project.document("skills.lock") == {"version": 1, "requirements": {}, "skills": {}}
    assert project.document(".agent-skills/skills.json")["skills"] == []
    assert project.tree_text(".agent-skills", ignore=[".skillpm"]) == "skills.json\n"


def test_a_skill_made_by_hand_is_only_set_aside_and_only_with_force(full: Scene) -> None:
    mine = full.snapshot(".agent-skills/mine")

    assert full.tell("uninstall", "mine", "testing") == text("""\
! error: `mine` was made by hand and is not managed by skillpm; nothing was changed
!   where: WORK/.agent-skills/mine
!   try: `rm -r WORK/.agent-skills/mine` removes it for good, `--force` removes it and keeps a backup
[1]
""")
    assert full.tell("uninstall", "mine", "--force") == text("""\
 - mine  (a folder that skillpm did not make; set aside first)
removed 1: 2 skills in WORK/.agent-skills
! warning: what lay at mine is kept as backup mine-1: `skillpm backup restore mine-1` brings it back
""")
    assert full.snapshot(".agent-skills/.skillpm/backup/mine-1") == mine
    assert full.run("registry", "check").code == 0
    full.run("backup", "restore", "mine-1", check=True)
    assert full.snapshot(".agent-skills/mine") == mine


def test_several_go_at_once(full: Scene) -> None:
    assert full.tell("remove", "code-review", "testing") == text("""\
 - code-review 1.0.0
 - testing 1.0.0
removed 2: 1 skill in WORK/.agent-skills
""")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["code-reviw"], "`code-reviw` is not installed in project scope\n!   try: did you mean code-review?"),
        (["zzz"], "`zzz` is not installed in project scope\n!   try: one of these is: code-review, testing"),
        (["testing", "zzz"], "`zzz` is not installed in project scope\n!   try: one of these is: code-review, testing"),
    ],
)
def test_a_name_that_is_not_there_stops_all(full: Scene, names: list[str], message: str) -> None:
    before = full.everything

    assert full.tell("uninstall", *names) == f"! error: {message}\n[1]\n"
    assert full.everything == before


def test_nothing_installed_at_all_is_told(project: Scene) -> None:
    assert project.tell("uninstall", "pdf") == text("""\
! error: `pdf` is not installed in project scope; nothing is
!   try: `list` shows a project's skills, `list -g` your own
[1]
""")


def test_dry_run_removes_nothing(full: Scene) -> None:
    before = full.snapshot()

    assert full.tell("uninstall", "testing", "--dry-run") == text("""\
 - testing 1.0.0
would have removed 1: 2 skills in WORK/.agent-skills
""")
    assert full.snapshot() == before


def test_what_was_only_asked_for_by_hand_goes_too(project: Scene) -> None:
    project.write("skills.json", '{"skills": {"testing": {"bundled": true}, "code-review": {"bundled": true}}}\n')

    project.run("uninstall", "testing", check=True)

    assert list(project.document("skills.lock")["skills"]) == ["code-review"]
    assert project.read("skills.json") == '{"skills": {"code-review": {"bundled": true}}}\n'
