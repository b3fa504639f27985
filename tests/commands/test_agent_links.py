"""Agent hosts see installed skills through links: made, followed by every command, and only ever our own."""

import os
import shutil
from pathlib import Path

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import Repository, git, make_skill, prefix_paths

AGENTS = ["claude-code", "codex", "opencode", "roo"]


def links(scene: CommandSandbox, *folders: str, top: str = ".") -> str:
    """Draw the agents' folders that there are."""
    there = [folder for folder in folders or (".agents", ".claude", ".roo") if scene.exists(f"{top}/{folder}")]
    return "".join(f"{folder}/\n" + scene.render_tree(f"{top}/{folder}") for folder in there)


@pytest.fixture
def linked(project: CommandSandbox, url: str) -> CommandSandbox:
    """Return a project with one skill, linked for four hosts."""
    project.run("install", f"{url}@pdf", check=True)
    project.run("link", *AGENTS, check=True)
    return project


def test_link_makes_one_relative_link_a_folder_and_writes_the_agents_down(
    project: CommandSandbox, upstream: Repository, url: str
) -> None:
    project.run("install", f"{url}@pdf", check=True)

    output = project.output("link", *AGENTS)

    assert output == expected_output(f"""\
 → pdf {upstream.resolve("main")[:7]}  (linked in .agents/skills, .claude/skills, .roo/skills)
linked 1; total: 1 skill in WORK/.agent-skills
""")
    assert links(project) == expected_output("""\
.agents/
skills/
  pdf -> ../../.agent-skills/pdf
.claude/
skills/
  pdf -> ../../.agent-skills/pdf
.roo/
skills/
  pdf -> ../../.agent-skills/pdf
""")
    assert project.read_json("skills.json")["agents"] == AGENTS
    assert project.read_json(".agent-skills/.skillpm/receipt.json")["links"] == {
        ".agents/skills": {"pdf": "symlink"},
        ".claude/skills": {"pdf": "symlink"},
        ".roo/skills": {"pdf": "symlink"},
    }
    assert project.output("link", *AGENTS) == "nothing to do: 1 skill in WORK/.agent-skills\n"


def test_every_later_command_keeps_the_links_true(linked: CommandSandbox, upstream: Repository, url: str) -> None:
    linked.run("install", f"{url}@docx", check=True)
    assert links(linked, ".claude") == expected_output("""\
.claude/
skills/
  docx -> ../../.agent-skills/docx
  pdf -> ../../.agent-skills/pdf
""")

    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    linked.run("update", check=True)
    assert (linked.work / ".claude/skills/pdf/notes.md").read_text() == "Second.\n"

    linked.run("uninstall", "pdf", check=True)
    assert links(linked) == expected_output("""\
.agents/
skills/
  docx -> ../../.agent-skills/docx
.claude/
skills/
  docx -> ../../.agent-skills/docx
.roo/
skills/
  docx -> ../../.agent-skills/docx
""")


def test_unlink_removes_links_that_no_other_host_uses(linked: CommandSandbox) -> None:
    linked.run("unlink", "codex", check=True)
    assert linked.exists(".agents/skills/pdf")

    linked.run("unlink", "opencode", "roo", check=True)
    assert links(linked) == ".claude/\nskills/\n  pdf -> ../../.agent-skills/pdf\n"

    linked.run("unlink", "claude-code", check=True)
    assert links(linked) == ""
    assert linked.read_json("skills.json")["agents"] == []
    assert linked.exists(".agent-skills/pdf/SKILL.md")


def test_a_fresh_clone_has_the_links_after_sync(linked: CommandSandbox) -> None:
    for command in (["init", "-q"], ["add", "skills.json", "skills.lock"], ["commit", "-q", "-m", "skills"]):
        git(*command, cwd=linked.work)
    clone = linked.root / "clone"
    git("clone", "-q", str(linked.work), str(clone))

    linked.run("sync", "--frozen", cwd=clone, check=True)

    assert links(linked, top="../clone") == links(linked)


def test_a_project_can_be_moved_with_its_links(linked: CommandSandbox) -> None:
    elsewhere = linked.root / "elsewhere"
    linked.work.rename(elsewhere)

    assert (elsewhere / ".claude/skills/pdf/SKILL.md").is_file()
    assert linked.run("verify", cwd=elsewhere).code == 0
    assert linked.run("sync", cwd=elsewhere).stdout == f"nothing to do: 1 skill in {elsewhere}/.agent-skills\n"


def test_a_missing_link_is_reported_and_recreated(linked: CommandSandbox, upstream: Repository) -> None:
    (linked.work / ".claude/skills/pdf").unlink()

    assert linked.output("verify") == expected_output("""\
broken-link: pdf: its link .claude/skills/pdf is missing; `skillpm sync` creates it again
! 0 of 1 skill matches the lockfile
[1]
""")
    assert linked.output("sync") == expected_output(f"""\
 → pdf {upstream.resolve("main")[:7]}  (linked in .claude/skills)
linked 1; total: 1 skill in WORK/.agent-skills
""")
    assert linked.output("verify") == "! 1 of 1 skill matches the lockfile\n"


def test_an_existing_folder_blocks_a_link_and_is_never_touched(project: CommandSandbox) -> None:
    project.run("install", "code-review", "testing", check=True)
    project.write(".claude/skills/testing/SKILL.md", "mine")
    (project.work / ".agents/skills").mkdir(parents=True)
    (project.work / ".agents/skills/testing").symlink_to("/somewhere/else")
    before = project.full_snapshot

    output = project.output("link", "claude-code", "codex")

    assert output == expected_output("""\
! error: blocked by a skill; nothing was changed
!   testing: .agents/skills/testing and .claude/skills/testing exist and were not created by skillpm
!   hint: use `skillpm link claude-code codex --keep testing` to keep it as it is, or `--force` to back it up and \
continue
[1]
""")
    assert project.full_snapshot == before

    assert project.output("link", "claude-code", "codex", "--keep", "testing") == expected_output("""\
 → code-review 1.0.0  (linked in .agents/skills, .claude/skills)
 = testing 1.0.0  (the existing folder in .agents/skills, .claude/skills is kept)
linked 1, kept 1; total: 2 skills in WORK/.agent-skills
""")
    assert project.read(".claude/skills/testing/SKILL.md") == "mine"
    assert os.readlink(project.work / ".agents/skills/testing") == "/somewhere/else"
    assert os.readlink(project.work / ".claude/skills/code-review") == "../../.agent-skills/code-review"


def test_force_backs_up_what_blocks_a_link(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.write(".claude/skills/testing/SKILL.md", "mine")

    output = project.output("link", "claude-code", "--force")

    assert output == expected_output("""\
 → testing 1.0.0  (linked in .claude/skills)
linked 1; total: 1 skill in WORK/.agent-skills
! warning: backed up WORK/.claude/skills/testing as testing-1; restore it with `skillpm backup restore testing-1`
""")
    assert os.readlink(project.work / ".claude/skills/testing") == "../../.agent-skills/testing"
    assert project.read(".agent-skills/.skillpm/backup/testing-1/SKILL.md") == "mine"


@pytest.fixture
def leading(project: CommandSandbox) -> CommandSandbox:
    """Return a project where another tool's link in .claude/skills leads to an edited folder."""
    project.run("install", "testing", check=True)
    project.write_files(prefix_paths(".agents/skills/testing", make_skill("testing", body="Mine.\n")))
    (project.work / ".claude/skills").mkdir(parents=True)
    (project.work / ".claude/skills/testing").symlink_to("../../.agents/skills/testing")
    return project


def test_the_backup_of_a_link_names_the_folder_to_keep(leading: CommandSandbox) -> None:
    entry = "the link WORK/.claude/skills/testing, which leads to WORK/.agents/skills/testing,"
    linked = " → testing 1.0.0  (linked in .claude/skills)\n"

    assert leading.output("link", "claude-code", "--force", "--dry-run") == expected_output(f"""\
{linked}would have linked 1; total: 1 skill in WORK/.agent-skills
! warning: {entry} would be backed up
""")
    assert leading.output("link", "claude-code", "--force") == expected_output(f"""\
{linked}linked 1; total: 1 skill in WORK/.agent-skills
! warning: backed up {entry} as testing-1: keep that folder; restore it with `skillpm backup restore testing-1`
""")
    leading.run("backup", "restore", "testing-1", check=True)
    assert leading.read(".claude/skills/testing/SKILL.md").endswith("Mine.\n")


def test_a_backup_of_a_link_that_leads_nowhere_is_not_restored(leading: CommandSandbox) -> None:
    leading.run("link", "claude-code", "--force", check=True)
    (leading.work / ".agents").rename(leading.work / "elsewhere")
    before = leading.full_snapshot

    for option in ("--force", "--dry-run"):
        assert leading.output("backup", "restore", "testing-1", option) == expected_output("""\
! error: testing-1 is a link to WORK/.agents/skills/testing, which does not exist; nothing was changed
!   where: WORK/.agent-skills/.skillpm/backup/testing-1
!   hint: the link has no content of its own; put that folder back, then try again
[1]
""")
    assert leading.full_snapshot == before

    (leading.work / "elsewhere").rename(leading.work / ".agents")
    leading.run("backup", "restore", "testing-1", check=True)
    assert leading.read(".claude/skills/testing/SKILL.md").endswith("Mine.\n")


def test_a_link_that_leads_nowhere_is_backed_up_without_a_folder_to_keep(leading: CommandSandbox) -> None:
    (leading.work / ".agents").rename(leading.work / "elsewhere")

    assert leading.output("link", "claude-code", "--force") == expected_output("""\
 → testing 1.0.0  (linked in .claude/skills)
linked 1; total: 1 skill in WORK/.agent-skills
! warning: backed up the link WORK/.claude/skills/testing, which leads to WORK/.agents/skills/testing, as testing-1; \
restore it with `skillpm backup restore testing-1`
""")


@pytest.fixture
def displaced(project: CommandSandbox) -> CommandSandbox:
    """Return a project where a link has taken the place of a folder in .claude/skills."""
    project.run("install", "testing", check=True)
    project.write_files(prefix_paths(".claude/skills/testing", make_skill("testing", body="Mine.\n")))
    project.run("link", "claude-code", "--force", check=True)
    return project


def test_a_backup_of_an_agent_folder_is_restored_there(displaced: CommandSandbox) -> None:
    installed = displaced.snapshot(".agent-skills/testing")
    listed = "testing-1  WORK/.agent-skills/.skillpm/backup/testing-1  (from .claude/skills, backed up 20"
    assert displaced.output("backup", "list").startswith(listed)
    assert displaced.json_output("backup", "list")["backups"][0]["origin"] == ".claude/skills"

    output = displaced.output("backup", "restore", "testing-1")

    assert output == expected_output("""\
 → testing testing-1  (restored into .claude/skills)
restored 1; total: 1 skill in WORK/.agent-skills
! warning: .claude/skills/testing: `skillpm sync` will stop at it while that agent is linked
""")
    assert displaced.read(".claude/skills/testing/SKILL.md").endswith("Mine.\n")
    assert displaced.snapshot(".agent-skills/testing") == installed
    assert not displaced.exists(".agent-skills/.skillpm/backup")
    assert displaced.run("sync").code == 1
    displaced.run("unlink", "claude-code", check=True)
    assert displaced.run("sync").code == 0
    assert displaced.read(".claude/skills/testing/SKILL.md").endswith("Mine.\n")


def test_an_origin_line_without_its_backup_is_used_by_the_same_path_only(
    project: CommandSandbox,
) -> None:
    """A command that is killed leaves the line that says where the folder was, and not yet the folder."""
    project.run("install", "testing", check=True)
    project.write(".agent-skills/.skillpm/backup/testing-1.from", ".claude/skills\n")

    project.write(".agent-skills/testing/SKILL.md", "my edit")
    project.run("sync", "--force", check=True)
    project.write_files(prefix_paths(".claude/skills/testing", make_skill("testing", body="Mine.\n")))
    project.run("link", "claude-code", "--force", check=True)

    listed = project.json_output("backup", "list")["backups"]
    assert [(backup["id"], backup.get("origin", "")) for backup in listed] == [
        ("testing-1", ".claude/skills"),
        ("testing-2", ""),
    ]
    assert project.read(".agent-skills/.skillpm/backup/testing-1/SKILL.md").endswith("Mine.\n")
    assert project.read(".agent-skills/.skillpm/backup/testing-2/SKILL.md") == "my edit"


def test_a_newer_folder_in_its_place_is_not_overrun(displaced: CommandSandbox) -> None:
    (displaced.work / ".claude/skills/testing").unlink()
    displaced.write(".claude/skills/testing/SKILL.md", "newer")
    before = displaced.full_snapshot

    assert displaced.output("backup", "restore", "testing-1") == expected_output("""\
! error: .claude/skills/testing is now occupied by something else; nothing was changed
!   where: WORK/.claude/skills/testing
!   hint: move it away, or use `--force` to back it up and continue
[1]
""")
    assert displaced.full_snapshot == before

    displaced.run("backup", "restore", "testing-1", "--force", check=True)
    assert displaced.read(".claude/skills/testing/SKILL.md").endswith("Mine.\n")
    displaced.run("backup", "restore", "testing-2", "--force", check=True)
    assert displaced.read(".claude/skills/testing/SKILL.md") == "newer"


def test_a_replaced_link_blocks_no_other_skill(linked: CommandSandbox, url: str) -> None:
    (linked.work / ".claude/skills/pdf").unlink()
    linked.write(".claude/skills/pdf/SKILL.md", "mine")

    assert linked.run("install", f"{url}@docx").code == 0
    assert linked.read(".claude/skills/pdf/SKILL.md") == "mine"
    assert linked.run("sync").code == 1
    assert linked.run("uninstall", "pdf").code == 0
    assert links(linked, ".claude") == expected_output("""\
.claude/
skills/
  docx -> ../../.agent-skills/docx
  pdf/
    SKILL.md
""")


def test_a_link_of_the_users_own_stays_where_ours_was(linked: CommandSandbox) -> None:
    for place in (".claude/skills/pdf", ".roo/skills/pdf"):
        (linked.work / place).unlink()
        (linked.work / place).symlink_to("../../drafts/pdf")

    assert linked.run("unlink", "claude-code").code == 0
    assert linked.run("uninstall", "pdf").code == 0

    assert links(linked) == expected_output("""\
.claude/
skills/
  pdf -> ../../drafts/pdf
.roo/
skills/
  pdf -> ../../drafts/pdf
""")


@pytest.mark.parametrize("thing", ["a folder", "a link"])
def test_verify_reports_what_replaced_a_link(linked: CommandSandbox, thing: str) -> None:
    (linked.work / ".claude/skills/pdf").unlink()
    if thing == "a folder":
        linked.write(".claude/skills/pdf/SKILL.md", "mine")
    else:
        (linked.work / ".claude/skills/pdf").symlink_to("../../drafts/pdf")

    assert linked.output("verify") == expected_output("""\
broken-link: pdf: .claude/skills/pdf no longer links to it
! 0 of 1 skill matches the lockfile
[1]
""")


def test_other_things_in_an_agents_folder_stay(linked: CommandSandbox) -> None:
    linked.write_files(prefix_paths(".claude/skills/own", make_skill("own")))

    linked.run("unlink", *AGENTS, check=True)

    assert links(linked) == ".claude/\nskills/\n  own/\n    SKILL.md\n"


COPY = {"SKILLPM_LINK_MODE": "copy"}


def test_where_links_cannot_be_made_copies_follow_instead(
    project: CommandSandbox, upstream: Repository, url: str
) -> None:
    project.run("install", f"{url}@pdf", check=True)

    project.run("link", "claude-code", env=COPY, check=True)
    assert project.snapshot(".claude/skills/pdf") == project.snapshot(".agent-skills/pdf")
    assert project.output("sync", env=COPY) == "nothing to do: 1 skill in WORK/.agent-skills\n"

    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    project.run("update", env=COPY, check=True)
    assert project.snapshot(".claude/skills/pdf") == project.snapshot(".agent-skills/pdf")

    project.run("unlink", "claude-code", env=COPY, check=True)
    assert links(project) == ""


def test_a_copy_is_neither_setuid_nor_writable_for_others(project: CommandSandbox) -> None:
    project.write_files(
        prefix_paths(".agent-skills/own", make_skill("own") | {"bin/run": "#!/bin/sh\n", "data": "D.\n"})
    )
    for path, mode in {"bin/run": 0o6777, "data": 0o666, "bin": 0o3777}.items():
        (project.work / ".agent-skills/own" / path).chmod(mode)

    project.run("link", "claude-code", env=COPY, check=True)

    copy = project.work / ".claude/skills/own"
    modes = {path: (copy / path).stat().st_mode & 0o7777 for path in ("bin/run", "data", "bin")}
    assert modes == {"bin/run": 0o755, "data": 0o644, "bin": 0o755}


def test_an_edited_copy_is_kept(project: CommandSandbox, upstream: Repository, url: str) -> None:
    project.run("install", f"{url}@pdf", check=True)
    project.run("link", "claude-code", env=COPY, check=True)
    project.write(".claude/skills/pdf/SKILL.md", "mine")
    upstream.write({"skills/pdf/notes.md": "Second.\n"}).commit()
    before = project.full_snapshot

    assert project.output("update", env=COPY) == expected_output("""\
! error: blocked by a skill; nothing was changed
!   pdf: .claude/skills/pdf exists and was not created by skillpm
!   hint: use `skillpm update --keep pdf` to keep it as it is, or `--force` to back it up and continue
[1]
""")
    assert project.full_snapshot == before
    assert project.output("unlink", "claude-code", env=COPY).splitlines()[-1] == (
        "! warning: WORK/.claude/skills/pdf was edited; it is left as it is"
    )
    assert project.read(".claude/skills/pdf/SKILL.md") == "mine"


def test_the_user_has_links_in_the_hosts_own_folders(scene: CommandSandbox) -> None:
    scene.run("install", "-g", "testing", check=True)

    output = scene.output("link", "-g", *AGENTS)

    assert output == expected_output("""\
 → testing 1.0.0  (linked in ~/.agents/skills, ~/.claude/skills, ~/.config/opencode/skills, ~/.roo/skills)
linked 1; total: 1 skill in HOME/.agent-skills
""")
    assert links(scene, ".agents", ".claude", ".config/opencode", ".roo", top="../home") == expected_output("""\
.agents/
skills/
  testing -> ../../.agent-skills/testing
.claude/
skills/
  testing -> ../../.agent-skills/testing
.config/opencode/
skills/
  testing -> ../../../.agent-skills/testing
.roo/
skills/
  testing -> ../../.agent-skills/testing
""")
    scene.run("uninstall", "-g", "testing", check=True)
    assert not (scene.home / ".claude/skills").exists()
    assert (scene.home / ".claude").is_dir()


def test_claude_code_is_found_where_its_own_variable_says(scene: CommandSandbox) -> None:
    moved = {"CLAUDE_CONFIG_DIR": str(scene.root / "claude")}
    scene.run("install", "-g", "testing", check=True)

    scene.run("link", "-g", "claude-code", env=moved, check=True)

    assert os.readlink(scene.root / "claude/skills/testing") == "../../home/.agent-skills/testing"
    assert not (scene.home / ".claude").exists()
    assert (scene.root / "claude/skills/testing/SKILL.md").is_file()


def test_the_users_agents_hold_where_a_manifest_names_none(scene: CommandSandbox) -> None:
    (scene.home / ".config/skillpm").mkdir(parents=True)
    (scene.home / ".config/skillpm/config.toml").write_text('agents = ["claude-code"]\n')
    scene.create_project()

    scene.run("install", "testing", check=True)
    assert links(scene) == ".claude/\nskills/\n  testing -> ../../.agent-skills/testing\n"

    scene.write("skills.json", '{"agents": [], "skills": {"testing": {"bundled": true}}}\n')
    assert scene.output("sync") == expected_output("""\
 - testing 1.0.0  (no longer linked in .claude/skills)
unlinked 1; total: 1 skill in WORK/.agent-skills
""")
    assert links(scene) == ""


def test_a_skill_can_be_kept_from_one_host(scene: CommandSandbox) -> None:
    scene.create_project(
        '{"skills": {"code-review": {"bundled": true}, "testing": {"bundled": true}},'
        ' "agents": ["claude-code", "codex"], "disabled": {"testing": ["codex"], "code-review": true}}\n'
    )

    scene.run("sync", check=True)

    assert links(scene) == ".claude/\nskills/\n  testing -> ../../.agent-skills/testing\n"
    scene.write("skills.json", scene.read("skills.json").replace('{"testing": ["codex"], "code-review": true}', "{}"))
    scene.run("sync", check=True)
    assert links(scene, ".agents") == expected_output("""\
.agents/
skills/
  code-review -> ../../.agent-skills/code-review
  testing -> ../../.agent-skills/testing
""")


def test_a_host_whose_folder_is_a_link_to_ours_needs_no_links(scene: CommandSandbox) -> None:
    scene.create_project('{"skills": {"testing": {"bundled": true}}, "agents": ["claude-code"]}\n')
    (scene.work / ".claude").mkdir()
    (scene.work / ".claude/skills").symlink_to("../.agent-skills")

    assert scene.output("sync").splitlines()[0] == " + testing 1.0.0"
    assert scene.output("sync") == "nothing to do: 1 skill in WORK/.agent-skills\n"
    scene.run("uninstall", "testing", check=True)
    assert os.readlink(scene.work / ".claude/skills") == "../.agent-skills"


@pytest.mark.parametrize("kind", ["link out of the project", "file", "link to nowhere", "file above it"])
def test_an_agent_folder_that_is_a_file_is_refused_before_any_change(scene: CommandSandbox, kind: str) -> None:
    scene.create_project('{"skills": {"testing": {"bundled": true}}, "agents": ["claude-code"]}\n')
    (scene.root / "outside").mkdir()
    place = scene.work / ".claude/skills"
    if kind == "file above it":
        place.parent.write_text("mine")
    else:
        place.parent.mkdir()
    match kind:
        case "link out of the project":
            place.symlink_to(scene.root / "outside")
        case "file":
            place.write_text("mine")
        case "link to nowhere":
            place.symlink_to("nowhere")
    before = scene.full_snapshot

    output = scene.output("sync")

    assert output == {
        "link out of the project": """\
! error: .claude/skills is a link that points outside the project
!   where: WORK/.claude/skills
!   hint: remove that link first
[1]
""",
        "file above it": """\
! error: cannot write into WORK/.claude/skills
!   where: WORK/.claude
!   hint: this is not a folder; move it away first
[1]
""",
    }.get(
        kind,
        """\
! error: cannot write into WORK/.claude/skills
!   where: WORK/.claude/skills
!   hint: this is not a folder; move it away first
[1]
""",
    )
    assert scene.full_snapshot == before


def test_a_linked_folder_that_was_led_out_of_the_project_since_is_refused_as_a_whole(
    linked: CommandSandbox, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "pdf").mkdir()
    shutil.rmtree(linked.work / ".claude/skills")
    (linked.work / ".claude/skills").symlink_to(outside)
    before = linked.full_snapshot

    for arguments in (["unlink", "claude-code"], ["uninstall", "pdf"], ["sync"]):
        assert linked.output(*arguments) == expected_output("""\
! error: .claude/skills is a link that points outside the project
!   where: WORK/.claude/skills
!   hint: remove that link first
[1]
"""), arguments
        assert linked.full_snapshot == before


@pytest.mark.parametrize("place", [".agent-skills", ".agent-skills/.skillpm"])
def test_a_skills_directory_that_leads_out_of_the_project_is_refused(scene: CommandSandbox, place: str) -> None:
    scene.create_project('{"skills": {"testing": {"bundled": true}}}\n')
    (scene.root / "outside").mkdir()
    (scene.work / place).parent.mkdir(exist_ok=True)
    (scene.work / place).symlink_to(scene.root / "outside")
    before = scene.full_snapshot

    for arguments in (["sync"], ["list"], ["verify"], ["install", "code-review"], ["registry", "build"]):
        assert scene.output(*arguments) == expected_output(f"""\
! error: WORK/{place} is a link that points outside the project
!   hint: remove the link; a repository must not decide where skills are written
[1]
"""), arguments
    assert scene.full_snapshot == before


def test_the_users_own_skills_directory_may_be_a_link(scene: CommandSandbox) -> None:
    (scene.home / "dotfiles/skills").mkdir(parents=True)
    (scene.home / ".agent-skills").symlink_to("dotfiles/skills")

    scene.run("install", "-g", "testing", check=True)
    scene.run("link", "-g", "claude-code", check=True)

    assert (scene.home / "dotfiles/skills/testing/SKILL.md").is_file()
    assert (scene.home / ".claude/skills/testing/SKILL.md").is_file()
    assert scene.output("sync", "-g") == "nothing to do: 1 skill in HOME/.agent-skills\n"
    assert scene.output("verify", "-g") == "! 1 of 1 skill matches the lockfile\n"


def test_of_all_agents_one_that_is_here_is_named_to_be_linked(project: CommandSandbox) -> None:
    assert project.run("agents", "--all").stderr == "`skillpm link AGENT` links the installed skills\n"
    (project.work / ".roo").mkdir()

    assert project.run("agents", "--all").stderr == "`skillpm link roo` links the installed skills\n"


def test_agents_lists_those_that_are_here_and_what_is_linked(project: CommandSandbox) -> None:
    assert project.output("agents") == ("! no agent hosts found; `skillpm agents --all` lists all supported hosts\n")
    (project.home / ".claude").mkdir()
    (project.work / ".roo").mkdir()

    assert project.output("agents") == expected_output("""\
claude-code      here    .claude/skills           ~/.claude/skills
roo              here    .roo/skills              ~/.roo/skills
! `skillpm link claude-code` links the installed skills
""")
    project.run("install", "testing", check=True)
    project.run("link", "roo", check=True)
    assert project.output("agents") == expected_output("""\
claude-code      here    .claude/skills           ~/.claude/skills
roo              linked  .roo/skills              ~/.roo/skills
""")
    assert len(project.output("agents", "--all").splitlines()) > 50


def test_an_unknown_agent_is_reported_with_similar_names(project: CommandSandbox) -> None:
    before = project.full_snapshot

    assert project.output("link", "claude-cod") == expected_output("""\
! error: unknown agent `claude-cod`
!   hint: did you mean `claude-code`?
[2]
""")
    for typed, known in {"kimi-cli": "kimi-code-cli", "vscode": "github-copilot", "copilot": "github-copilot"}.items():
        assert project.output("link", typed) == expected_output(f"""\
! error: unknown agent `{typed}`
!   hint: did you mean `{known}`?
[2]
""")
    assert project.output("unlink", "zzz") == expected_output("""\
! error: unknown agent `zzz`
!   hint: run `skillpm agents --all` to list them
[2]
""")
    assert project.output("link", "omega") == expected_output("""\
! error: omega reads no skills in project scope
!   hint: link it with `-g`
[2]
""")
    assert project.full_snapshot == before


def test_an_unknown_agent_in_a_document_is_reported_with_its_location_and_can_be_unlinked(
    scene: CommandSandbox,
) -> None:
    scene.create_project('{"skills": {"testing": {"bundled": true}}, "agents": ["nobody"]}\n')

    assert scene.output("sync") == expected_output("""\
! error: unknown agent `nobody`
!   where: WORK/skills.json: agents
!   hint: run `skillpm agents --all` to list them
[1]
""")
    assert scene.output("unlink", "nobody").splitlines()[0] == " + testing 1.0.0"
    assert scene.read_json("skills.json")["agents"] == []


def test_hosts_that_share_a_folder_with_a_linked_one_are_reported(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    (project.home / ".cursor").mkdir()
    project.run("link", "codex", check=True)

    assert [" ".join(line.split()) for line in project.output("agents").splitlines()] == [
        "codex linked .agents/skills ~/.agents/skills",
        "cursor linked .agents/skills ~/.cursor/skills",
        "(shares .agents/skills with codex)",
    ]
    by_id = {agent["id"]: agent for agent in project.json_output("agents")["agents"]}
    assert (by_id["codex"]["linked"], by_id["codex"]["shares"]) == (True, [])
    assert (by_id["cursor"]["linked"], by_id["cursor"]["shares"]) == (False, ["codex"])
    assert [name for name, agent in by_id.items() if agent["linked"]] == ["codex"]


def test_copies_left_by_a_lost_skills_directory_are_taken_over(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.run("link", "claude-code", env=COPY, check=True)
    copy = project.snapshot(".claude/skills/testing")
    shutil.rmtree(project.work / ".agent-skills")

    output = project.output("sync", env=COPY)

    assert output == " + testing 1.0.0\nadded 1; total: 1 skill in WORK/.agent-skills\n"
    assert project.snapshot(".claude/skills/testing") == copy
    project.run("uninstall", "testing", env=COPY, check=True)
    assert links(project) == ".claude/\nskills/\n"  # who made the folders went with the receipt


def test_a_folder_with_other_content_is_not_adopted_as_a_copy(project: CommandSandbox) -> None:
    project.run("install", "testing", check=True)
    project.run("link", "claude-code", env=COPY, check=True)
    shutil.rmtree(project.work / ".agent-skills")
    project.write(".claude/skills/testing/SKILL.md", "mine")

    assert project.run("sync", env=COPY).code == 1
    assert project.read(".claude/skills/testing/SKILL.md") == "mine"


@pytest.mark.parametrize("origin", ["../..", ".git/hooks", "~/.ssh", "/etc"])
def test_the_origin_of_a_backup_leads_only_to_a_host_folder(project: CommandSandbox, origin: str) -> None:
    project.write_files(prefix_paths(".agent-skills/.skillpm/backup/testing-1", make_skill("testing")))
    project.write(".agent-skills/.skillpm/backup/testing-1.from", f"{origin}\n")
    before = project.full_snapshot

    assert project.output("backup", "restore", "testing-1") == expected_output(f"""\
! error: no agent reads skills in {origin}
!   where: WORK/.agent-skills/.skillpm/backup/testing-1
!   hint: move it manually from WORK/.agent-skills/.skillpm/backup/testing-1
[1]
""")
    assert project.full_snapshot == before


def test_a_folder_made_by_hand_that_is_kept_is_linked_as_it_is(linked: CommandSandbox) -> None:
    linked.write_files(prefix_paths(".agent-skills/code-review", make_skill("code-review", body="Mine.\n")))

    linked.run("install", "code-review", "--keep", "code-review", check=True)

    assert "Mine." in linked.read(".claude/skills/code-review/SKILL.md")
    linked.run("install", "code-review", "--force", check=True)
    assert sorted(os.listdir(linked.work / ".claude/skills")) == ["code-review", "pdf"]


def test_a_host_whose_folder_is_in_the_project_is_here(project: CommandSandbox) -> None:
    assert project.json_output("agents", "--all")["agents"] == project.json_output("agents")["agents"]
    assert not any(agent["present"] for agent in project.json_output("agents")["agents"])
    (project.work / ".claude").mkdir()
    (project.work / ".agents").mkdir()

    assert [agent["id"] for agent in project.json_output("agents")["agents"] if agent["present"]] == ["claude-code"]
