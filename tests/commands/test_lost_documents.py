"""A missing manifest or lockfile while skills are installed: it is reported, and no skill is removed."""

from pathlib import Path

import pytest
from commands.scene import EMPTY_MANIFEST, CommandSandbox, expected_output

pytestmark = pytest.mark.slow

OWN = "../home/.config/skillpm"
LOST = expected_output("""\
! error: skills.json is missing, but skills.lock next to it locks 1 skill; nothing was changed
!   where: PLACE/skills.json
!   hint: restore it from version control or dotfiles; if you want none of these skills, delete skills.lock and run \
`skillpm init -g`
[1]
""")


@pytest.fixture
def own(scene: CommandSandbox) -> CommandSandbox:
    """Return a user who has one skill."""
    scene.run("install", "-g", "testing", check=True)
    return scene


def lose(scene: CommandSandbox, path: str) -> None:
    """Take a document away."""
    (Path(scene.work) / path).unlink()


@pytest.mark.parametrize("words", [["sync"], ["sync", "--locked"], ["sync", "--frozen"], ["sync", "--dry-run"],
                                   ["install", "code-review"], ["update"], ["lock"], ["lock", "--check"],
                                   ["uninstall", "testing"]], ids=" ".join)  # fmt: skip
def test_without_its_manifest_no_command_takes_what_is_locked_for_unwanted(
    own: CommandSandbox, words: list[str]
) -> None:
    lose(own, f"{OWN}/skills.json")
    before = own.full_snapshot

    assert own.output(*words, "-g") == LOST.replace("PLACE", "HOME/.config/skillpm")
    assert own.full_snapshot == before


@pytest.mark.parametrize("where", [["-g"], [], ["."], ["--project", "."]], ids=" ".join)
def test_init_writes_no_empty_manifest_over_what_is_locked(project: CommandSandbox, where: list[str]) -> None:
    project.run("install", "testing", "code-review", *where[:1] * (where == ["-g"]), check=True)
    place = OWN if where == ["-g"] else "."
    lose(project, f"{place}/skills.json")
    before = project.full_snapshot

    assert project.output("init", *where) == expected_output(f"""\
! error: skills.lock locks 2 skills, which the next `skillpm sync{" -g" * (where == ["-g"])}` would uninstall \
if skills.json were empty; nothing was written
!   where: {"HOME/.config/skillpm" if where == ["-g"] else "WORK"}/skills.lock
!   hint: restore skills.json from version control (`git checkout HEAD -- skills.json`) or dotfiles; if you want none \
of these skills, delete skills.lock first
[1]
""")
    assert project.full_snapshot == before


def test_an_empty_manifest_without_a_lockfile_says_that_no_skills_are_wanted(own: CommandSandbox) -> None:
    lose(own, f"{OWN}/skills.json")
    lose(own, f"{OWN}/skills.lock")
    own.run("init", "-g", check=True)

    assert own.output("sync", "-g") == " - testing 1.0.0\nremoved 1; total: 0 skills in HOME/.agent-skills\n"


def test_init_beside_a_lockfile_that_locks_nothing_starts_a_project(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.run("uninstall", "testing", check=True)
    assert project.exists("skills.lock")
    lose(project, "skills.json")

    assert project.run("init").code == 0


@pytest.mark.parametrize("words", [["sync"], ["sync", "--locked"], ["sync", "--frozen"], ["sync", "--dry-run"], ["ci"],
                                   ["lock"], ["lock", "--check"], ["lock", "--dry-run"], ["verify"], ["update"],
                                   ["update", "code-review"], ["install"], ["install", "--frozen"],
                                   ["install", "https://localhost:9/nobody/answers"], ["uninstall", "testing"],
                                   ["link", "claude-code"], ["unlink", "codex"], ["disable", "code-review"]],
                         ids=" ".join)  # fmt: skip
def test_a_project_without_its_manifest_is_not_user_scope(project: CommandSandbox, words: list[str]) -> None:
    project.run("install", "-g", "code-review", check=True)
    project.run("install", "testing", check=True)
    project.write("below/.keep", "")
    (Path(project.work) / ".git").mkdir()
    lose(project, "skills.json")
    before = project.full_snapshot
    report = LOST.replace("PLACE", "WORK").replace(" -g", "")

    assert project.output(*words) == report.replace("skillpm init`\n", "skillpm init`; use `-g` for user scope\n")
    assert project.output(*words, cwd="below") == project.output(*words)
    assert project.output(*words, "--project", ".") == report.replace("skillpm init", "skillpm init .")
    assert project.full_snapshot == before
    assert project.run("sync", "-g").code == 0


def test_a_folder_without_a_project_still_gets_the_hint_to_start_one(scene: CommandSandbox) -> None:
    report = "! error: WORK has no skills.json\n!   hint: start a project with `skillpm init .`\n[1]\n"
    assert scene.output("sync", "--project", ".") == report
    scene.write("skills.lock", "what: ever\n")
    assert scene.output("sync", "--project", ".") == report


def test_the_skills_lock_of_another_tool_is_not_a_lost_project(scene: CommandSandbox) -> None:
    scene.write("skills.lock", "what: ever\n")

    assert scene.run("sync").code == 0


def test_verify_reports_a_missing_lockfile(project: CommandSandbox) -> None:
    project.run("install", "testing", "code-review", check=True)
    lose(project, "skills.lock")

    assert project.output("verify") == expected_output("""\
lockfile WORK/skills.lock is missing; `skillpm lock` (or `sync`) writes it
[1]
""")
    project.run("sync", check=True)
    assert project.output("verify") == "! 2 of 2 skills match the lockfile\n"


def test_verify_without_any_document_does_not_send_to_a_sync_that_removes_all(own: CommandSandbox) -> None:
    lose(own, f"{OWN}/skills.lock")
    lose(own, f"{OWN}/skills.json")

    assert own.output("verify", "-g") == expected_output("""\
skills.json and skills.lock are missing in HOME/.config/skillpm; restore them to verify the installed skills
[1]
""")


def test_verify_distinguishes_missing_locks_from_surplus_ones(
    project: CommandSandbox,
) -> None:
    project.run("install", "testing", "code-review", check=True)
    asked, locked = project.read("skills.json"), project.read("skills.lock")
    project.run("uninstall", "testing", check=True)
    without = project.read("skills.lock")
    project.write("skills.lock", locked)
    project.write("skills.json", asked)
    project.run("sync", check=True)
    project.write("skills.lock", without)

    assert project.output("verify") == expected_output("""\
not-locked: testing: installed 1.0.0, but not in the lockfile; `skillpm sync` locks it
! 1 of 2 skills matches the lockfile
[1]
""")
    project.write("skills.json", EMPTY_MANIFEST)
    assert "testing: installed 1.0.0, but not in the lockfile; `skillpm sync` removes it\n" in project.output("verify")
