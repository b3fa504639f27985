"""Links in a skills directory that skillpm did not create, or that were retargeted: no work is lost."""

import os

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths


@pytest.fixture
def live(project: CommandSandbox) -> CommandSandbox:
    """Return a project with a live link to the first of two folders inside it."""
    for name in ("one", "two"):
        project.write_files(prefix_paths(f"own/{name}", make_skill("house", f"House rules, {name}.")))
    project.run("install", "./own/one", "--link", check=True)
    return project


def lead_elsewhere(scene: CommandSandbox, place: str, target: str) -> None:
    (scene.work / place).unlink()
    (scene.work / place).symlink_to(target)


def test_a_retargeted_live_link_is_an_edit(live: CommandSandbox) -> None:
    lead_elsewhere(live, ".agent-skills/house", "../own/two")

    assert live.output("sync") == expected_output("""\
! error: blocked by a skill; nothing was changed
!   house: its link points to WORK/own/two, not to WORK/own/one
!   hint: use `skillpm diff house` to see the changes, `skillpm sync --keep house` to keep it as it is, or `--force` \
to back it up and continue
[1]
""")
    assert live.output("verify") == expected_output("""\
modified: house: its link points to WORK/own/two, not to WORK/own/one
! 0 of 1 skill matches the lockfile
[1]
""")
    assert live.output("diff", "house") == "-link to WORK/own/one\n+link to WORK/own/two\n"
    assert live.output("sync", "--keep", "house") == expected_output("""\
 = house (live link)  (its link points to WORK/own/two, not to WORK/own/one)
kept 1; total: 1 skill in WORK/.agent-skills
""")
    assert live.output("sync", "--force") == expected_output("""\
 ~ house (live link)  (its link points to WORK/own/two, not to WORK/own/one; backed up first)
updated 1; total: 1 skill in WORK/.agent-skills
! warning: backed up your version of house as house-1; restore it with `skillpm backup restore house-1`
""")
    assert os.readlink(live.work / ".agent-skills/house") == "../own/one"
    assert live.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"
    assert live.output("verify") == "! 0 of 0 skills match the lockfile, 1 live link skipped\n"


def test_a_backup_of_a_live_link_that_leads_nowhere_is_not_restored(live: CommandSandbox) -> None:
    lead_elsewhere(live, ".agent-skills/house", "../own/two")
    live.run("sync", "--force", check=True)
    (live.work / "own/two").rename(live.work / "own/three")

    assert live.output("backup", "restore", "house-1") == expected_output("""\
! error: house-1 is a link to WORK/own/two, which does not exist; nothing was changed
!   where: WORK/.agent-skills/.skillpm/backup/house-1
!   hint: the link has no content of its own; put that folder back, then try again
[1]
""")
    assert os.readlink(live.work / ".agent-skills/house") == "../own/one"


def test_a_live_link_follows_the_manifest(live: CommandSandbox) -> None:
    live.write("skills.json", live.read("skills.json").replace("own/one", "own/two"))

    assert live.run("sync", check=True).code == 0

    assert os.readlink(live.work / ".agent-skills/house") == "../own/two"
    assert "House rules, two." in live.run("list", check=True).stdout
    assert live.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_a_live_link_whose_folder_moved_is_not_an_edit(live: CommandSandbox) -> None:
    (live.work / "own/one").rename(live.work / "own/three")

    assert live.output("sync") == expected_output("""\
registry brought up to date: 1 skill in WORK/.agent-skills
! warning: house: its folder ./own/one is missing; it stays as it is locked
""")
    assert os.readlink(live.work / ".agent-skills/house") == "../own/one"

    live.write("skills.json", live.read("skills.json").replace("own/one", "own/three"))
    assert live.output("sync") == expected_output("""\
 ~ house (live link)  (different content)
updated 1; total: 1 skill in WORK/.agent-skills
""")
    assert os.readlink(live.work / ".agent-skills/house") == "../own/three"


@pytest.mark.parametrize("target", ["../own/two", "../gone"])
def test_an_unmanaged_link_is_reported_and_replaced_only_with_force(live: CommandSandbox, target: str) -> None:
    (live.work / ".agent-skills/mine").symlink_to(target)

    assert live.output("uninstall", "mine") == expected_output(f"""\
! error: `mine` is a link that skillpm does not manage; nothing was changed
!   where: WORK/.agent-skills/mine -> {target}
!   hint: `rm WORK/.agent-skills/mine` removes the link but not its target, `--force` does the same and keeps a backup
[1]
""")
    assert os.readlink(live.work / ".agent-skills/mine") == target

    assert live.run("uninstall", "mine", "--force").code == 0
    assert not os.path.lexists(live.work / ".agent-skills/mine")
    assert live.exists("own/two/SKILL.md")
    if target == "../gone":
        (live.work / "own/two").rename(live.work / "gone")  # what leads nowhere is not restored
    live.run("backup", "restore", "mine-1", check=True)
    assert os.readlink(live.work / ".agent-skills/mine") == target
