"""Skills made by hand, or by `migrate`: agent hosts see them like all others, and their owner stays free."""

import os
import shutil

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths

HERE = ".agent-skills"


def seen(scene: CommandSandbox) -> list[str]:
    """Return what the host's folder holds."""
    folder = scene.work / ".claude/skills"
    return sorted(os.listdir(folder)) if folder.is_dir() else []


@pytest.fixture
def own(project: CommandSandbox) -> CommandSandbox:
    """Return a project with two skills made by hand."""
    project.write_files(prefix_paths(f"{HERE}/notes", make_skill("notes", "My notes.")))
    project.write_files(
        prefix_paths(f"{HERE}/house-style", make_skill("house-style", "How we write.", version="2.0.0"))
    )
    return project


@pytest.fixture
def linked(own: CommandSandbox) -> CommandSandbox:
    """Return one whose skills are linked for a host."""
    own.run("link", "claude-code", check=True)
    return own


def test_link_shows_them_to_a_host(own: CommandSandbox) -> None:
    assert own.output("link", "claude-code") == expected_output("""\
 → house-style 2.0.0  (linked in .claude/skills)
 → notes  (linked in .claude/skills)
linked 2; total: 2 skills in WORK/.agent-skills
""")
    assert own.render_tree(".claude") == expected_output("""\
skills/
  house-style -> ../../.agent-skills/house-style
  notes -> ../../.agent-skills/notes
""")
    assert own.read_json(f"{HERE}/.skillpm/receipt.json") == {
        "version": 1,
        "skills": {},
        "links": {".claude/skills": {"house-style": "symlink", "notes": "symlink"}},
        "folders": [".claude", ".claude/skills"],
    }
    assert [row["links"] for row in own.json_output("list")["skills"]] == [
        [".claude/skills/house-style"],
        [".claude/skills/notes"],
    ]
    assert own.run("registry", "check").code == 0
    assert own.output("link", "claude-code") == "nothing to do: 2 skills in WORK/.agent-skills\n"


def test_one_that_is_installed_from_the_hosts_own_folder_stays_its_makers(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".claude/skills/mine", make_skill("mine", "My own.")))
    project.run("link", "claude-code", check=True)
    assert project.output("install", "./.claude/skills/mine").splitlines()[0].startswith(" + mine ")
    project.write_files(prefix_paths(".claude/skills/mine", make_skill("mine", "My own, better.")))
    before = project.snapshot(".claude")

    result = project.run("update", check=True)

    assert (result.stdout.splitlines()[0][:8], result.stderr) == (" ~ mine ", "")
    assert "better" in project.read(f"{HERE}/mine/SKILL.md")
    project.run("uninstall", "mine", check=True)
    assert not project.exists(f"{HERE}/mine")
    project.run("install", "./.claude/skills/mine", check=True)
    project.run("unlink", "claude-code", check=True)
    assert project.snapshot(".claude") == before


def test_a_copy_made_for_a_host_is_not_a_source(own: CommandSandbox) -> None:
    own.run("link", "claude-code", env={"SKILLPM_LINK_MODE": "copy"}, check=True)
    before = own.full_snapshot

    assert own.output("install", "./.claude/skills/notes") == expected_output("""\
! error: ./.claude/skills/notes is inside a directory where skills are installed
!   hint: agents see it already (`skillpm list`); to manage it, move it elsewhere, for example \
`mv ./.claude/skills/notes ~/my-skills/`, and install it from there
[2]
""")
    assert own.full_snapshot == before


def test_a_dry_run_says_so_and_links_nothing(own: CommandSandbox) -> None:
    assert own.output("link", "claude-code", "--dry-run") == expected_output("""\
 → house-style 2.0.0  (linked in .claude/skills)
 → notes  (linked in .claude/skills)
would have linked 2; total: 2 skills in WORK/.agent-skills
""")
    assert seen(own) == []


def test_every_later_command_keeps_the_links_true(linked: CommandSandbox) -> None:
    linked.write_files(prefix_paths(f"{HERE}/later", make_skill("later")))
    linked.run("install", "code-review", check=True)
    assert seen(linked) == ["code-review", "house-style", "later", "notes"]

    linked.run("disable", "notes", check=True)
    assert seen(linked) == ["code-review", "house-style", "later"]

    linked.run("enable", "notes", check=True)
    linked.run("uninstall", "later", "--force", check=True)
    assert seen(linked) == ["code-review", "house-style", "notes"]

    linked.run("backup", "restore", "later-1", check=True)
    assert seen(linked) == ["code-review", "house-style", "later", "notes"]

    linked.run("unlink", "claude-code", check=True)
    assert seen(linked) == []
    assert linked.exists(f"{HERE}/notes/SKILL.md")


def test_migrate_links_what_it_makes(linked: CommandSandbox) -> None:
    linked.write(f"{HERE}/old.md", "---\nname: old\ndescription: Old.\n---\n# Old\n")

    assert linked.output("migrate") == expected_output("""\
 + old/SKILL.md  from old.md
converted 1 flat file: 3 skills in WORK/.agent-skills
linked in .claude/skills: old
! next: `skillpm list` lists them
""")
    assert seen(linked) == ["house-style", "notes", "old"]
    assert linked.output("sync") == "nothing to do: 3 skills in WORK/.agent-skills\n"


def test_migrate_says_how_to_show_them_to_an_agent(scene: CommandSandbox) -> None:
    scene.write("../home/.agent-skills/old.md", "---\nname: old\ndescription: Old.\n---\n# Old\n")
    (scene.home / ".claude").mkdir()

    assert scene.output("migrate", "-g") == expected_output("""\
 + old/SKILL.md  from old.md
converted 1 flat file: 1 skill in HOME/.agent-skills
! next: `skillpm list -g` lists them, `skillpm link -g claude-code` links them for an agent
""")
    assert scene.run("link", "-g", "claude-code").code == 0
    assert scene.exists("../home/.claude/skills/old/SKILL.md")


def test_what_the_registry_does_not_list_is_not_linked(own: CommandSandbox) -> None:
    own.write(f"{HERE}/broken/SKILL.md", "---\nname: [\n")
    own.write(f"{HERE}/folder/notes.md", "No skill.\n")
    own.write_files(prefix_paths(f"{HERE}/Two Words", make_skill("two-words")))

    result = own.run("link", "claude-code")

    assert seen(own) == ["house-style", "notes"]
    assert own.add_placeholders(result.stderr).splitlines()[0] == (
        "warning: Two Words is not linked: the name of a skill consists of lower-case letters, digits and "
        "single hyphens; "
        "rename its folder"
    )


def test_a_deleted_skill_is_unlinked(linked: CommandSandbox) -> None:
    shutil.rmtree(linked.work / HERE / "notes")
    assert "problem: a link to a skill that does not exist\n    where: WORK/.claude/skills/notes" in linked.output(
        "doctor"
    )

    assert linked.output("sync") == expected_output("""\
 - notes  (its folder is missing; no longer linked in .claude/skills)
removed 1; total: 1 skill in WORK/.agent-skills
""")
    assert seen(linked) == ["house-style"]
    assert linked.run("doctor").code == 0


def test_a_folder_that_is_no_longer_a_skill_is_unlinked(linked: CommandSandbox) -> None:
    (linked.work / HERE / "notes/SKILL.md").rename(linked.work / HERE / "notes/draft.md")

    assert linked.output("sync") == expected_output("""\
 - notes  (no longer linked in .claude/skills)
unlinked 1; total: 2 skills in WORK/.agent-skills
""")
    assert seen(linked) == ["house-style"]
    assert linked.exists(f"{HERE}/notes/draft.md")


def test_a_link_that_is_gone_is_named_and_made_again(linked: CommandSandbox) -> None:
    (linked.work / ".claude/skills/notes").unlink()
    assert "notes: its link .claude/skills/notes is missing; `skillpm sync` creates it again" in linked.output("verify")

    linked.run("doctor", "--fix", check=True)

    assert seen(linked) == ["house-style", "notes"]


def test_an_existing_file_blocks_link_and_nothing_else(own: CommandSandbox) -> None:
    own.write(".claude/skills/notes/mine.md", "Mine.\n")
    assert own.output("link", "claude-code") == expected_output("""\
! error: blocked by a skill; nothing was changed
!   notes: .claude/skills/notes exists and was not created by skillpm
!   hint: use `skillpm link claude-code --keep notes` to keep it as it is, or `--force` to back it up and continue
[1]
""")
    assert own.output("link", "claude-code", "--keep", "notes") == expected_output("""\
 → house-style 2.0.0  (linked in .claude/skills)
 = notes  (the existing folder in .claude/skills is kept)
linked 1, kept 1; total: 2 skills in WORK/.agent-skills
""")
    assert own.output("sync", "--force") == "nothing to do: 2 skills in WORK/.agent-skills\n"
    assert own.run("install", "code-review", "--force").code == 0
    assert own.read(".claude/skills/notes/mine.md") == "Mine.\n"
    assert "note: notes is not linked in .claude/skills: another file or folder has its name" in own.output("doctor")

    assert own.run("link", "claude-code", "--force").code == 0
    assert own.exists(".claude/skills/notes/SKILL.md")
    assert own.read(f"{HERE}/.skillpm/backup/notes-1/mine.md") == "Mine.\n"


def test_a_skill_in_the_hosts_own_folder_stays_there(project: CommandSandbox) -> None:
    project.write_files(prefix_paths(".claude/skills/notes", make_skill("notes", "My notes.")))
    (project.work / HERE).mkdir()
    (project.work / HERE / "notes").symlink_to("../.claude/skills/notes")
    before = project.snapshot(".claude")

    assert project.run("link", "claude-code", "--force").code == 0

    assert project.snapshot(".claude") == before
    assert project.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_copies_follow_the_owners_edits_and_never_overrun_others(own: CommandSandbox) -> None:
    copies = {"SKILLPM_LINK_MODE": "copy"}
    own.run("link", "claude-code", env=copies, check=True)
    assert (own.work / ".claude/skills/notes").is_symlink() is False
    own.write(f"{HERE}/notes/more.md", "More.\n")

    own.run("sync", env=copies, check=True)

    assert own.read(".claude/skills/notes/more.md") == "More.\n"
    assert own.output("sync", env=copies) == "nothing to do: 2 skills in WORK/.agent-skills\n"
    own.write(".claude/skills/notes/more.md", "Edited there.\n")
    own.run("sync", env=copies, check=True)
    own.run("unlink", "claude-code", env=copies, check=True)
    assert own.read(".claude/skills/notes/more.md") == "Edited there.\n"
    assert seen(own) == ["notes"]


def test_a_folder_outside_any_scope_gets_no_links(scene: CommandSandbox) -> None:
    scene.write("../home/.config/skillpm/config.toml", 'agents = ["claude-code"]\n')
    scene.write("skills/old.md", "---\nname: old\ndescription: Old.\n---\n# Old\n")

    assert scene.run("migrate", "./skills").code == 0

    assert scene.exists("skills/old/SKILL.md")
    assert not scene.exists(".claude")
    assert not scene.exists("skills/.claude")
