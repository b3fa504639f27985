"""`enable`, `disable`: a skill is switched off without being uninstalled, for everybody or for one agent."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import make_skill, prefix_paths


@pytest.fixture
def full(project: CommandSandbox) -> CommandSandbox:
    """Return a project with two linked skills and a local one."""
    project.run("install", "testing", "code-review", check=True)
    project.run("link", "claude-code", "codex", check=True)
    project.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "By hand.")))
    project.run("sync", check=True)
    return project


def registered(scene: CommandSandbox) -> list[str]:
    return [entry["name"] for entry in scene.read_json(".agent-skills/skills.json")["skills"]]


def test_a_disabled_skill_is_in_no_registry_no_link_and_no_prompt(full: CommandSandbox) -> None:
    assert full.output("disable", "testing") == expected_output("""\
 - testing 1.0.0  (no longer linked in .agents/skills, .claude/skills)
unlinked 1; total: 3 skills in WORK/.agent-skills
! disabled: testing
""")

    assert full.read_json("skills.json")["disabled"] == {"testing": True}
    assert registered(full) == ["code-review", "mine"]
    assert full.read_json(".agent-skills/skills.json")["disabled"] == ["testing"]
    assert not full.exists(".claude/skills/testing")
    assert full.exists(".agent-skills/testing/SKILL.md")
    assert "testing" in full.read_json("skills.lock")["skills"]
    assert "<name>\ntesting" not in full.run("prompt").stdout
    assert full.output("load", "testing") == expected_output("""\
! error: skill `testing` is disabled
!   hint: to use it, run `skillpm enable testing`
[1]
""")
    assert "testing" not in full.output("search", "--triggers", "write a unit test")
    assert {entry["name"]: entry["state"] for entry in full.json_output("list")["skills"]}["testing"] == "disabled"
    assert full.run("verify").code == 0
    assert "nothing to do" in full.output("sync")


def test_enabling_brings_all_of_it_back(full: CommandSandbox) -> None:
    before = full.full_snapshot
    full.run("disable", "testing", "mine", check=True)

    assert full.output("enable", "testing", "mine") == expected_output("""\
 → testing 1.0.0  (linked in .agents/skills, .claude/skills)
 → mine  (linked in .agents/skills, .claude/skills)
linked 2; total: 3 skills in WORK/.agent-skills
! no skill is disabled
""")

    assert full.full_snapshot == before


def test_a_skill_made_by_hand_can_be_disabled(full: CommandSandbox) -> None:
    full.run("disable", "mine", check=True)

    assert registered(full) == ["code-review", "testing"]
    assert full.run("load", "mine").code == 1


def test_a_skill_can_be_disabled_for_one_agent(full: CommandSandbox) -> None:
    assert full.output("disable", "mine", "--agent", "cursor") == expected_output("""\
manifest and registry brought up to date: 3 skills in WORK/.agent-skills
! disabled: mine (for cursor)
""")
    full.run("enable", "mine", check=True)
    full.run("disable", "testing", "--agent", "codex", check=True)

    assert full.read_json("skills.json")["disabled"] == {"testing": ["codex"]}
    assert (full.exists(".claude/skills/testing"), full.exists(".agents/skills/testing")) == (True, False)
    assert registered(full) == ["code-review", "mine", "testing"]
    assert full.run("load", "testing").code == 0
    assert full.run("load", "testing", "--agent", "codex").code == 1

    assert full.json_output("disable", "testing", "--agent", "claude-code")["disabled"] == {
        "testing": ["claude-code", "codex"]
    }
    assert full.json_output("enable", "testing", "--agent", "codex")["disabled"] == {"testing": ["claude-code"]}
    assert full.json_output("enable", "testing", "--agent", "claude-code")["disabled"] == {}
    assert "disabled" not in full.read_json("skills.json")


def test_twice_is_the_same_as_once(full: CommandSandbox) -> None:
    full.run("disable", "testing", check=True)
    before = full.full_snapshot

    assert full.json_output("disable", "testing")["changed"] is False
    assert full.json_output("disable", "testing", "--agent", "codex")["changed"] is False
    assert full.json_output("enable", "code-review")["changed"] is False
    assert full.full_snapshot == before


def test_every_other_byte_of_the_manifest_stays(scene: CommandSandbox) -> None:
    manifest = '{\n    "name":   "x",\n    "skills": {"testing": {"bundled": true}}\n}\n'
    scene.create_project(manifest).run("sync", check=True)

    scene.run("disable", "testing", check=True)
    assert json.loads(scene.read("skills.json"))["disabled"] == {"testing": True}
    scene.run("enable", "testing", check=True)

    assert scene.read("skills.json") == manifest


def test_what_cannot_be_meant_changes_nothing(full: CommandSandbox) -> None:
    full.run("disable", "testing", check=True)
    before = full.full_snapshot

    assert full.output("disable", "code-reveiw") == expected_output("""\
! error: `code-reveiw` is not in WORK/.agent-skills
!   hint: did you mean `code-review`?
[1]
""")
    assert full.output("enable", "testing", "--agent", "codex") == expected_output("""\
! error: `testing` is disabled for all agents
!   hint: run `skillpm enable testing`, then `skillpm disable testing --agent ID` for each agent that should not see it
[2]
""")
    assert full.output("disable", "code-review", "--agent", "nobodys") == expected_output("""\
! error: unknown agent `nobodys`
!   hint: run `skillpm agents --all` to list them
[2]
""")
    assert full.run("disable", "../x").code == 2
    dry = full.json_output("disable", "code-review", "--dry-run")
    assert (dry["changed"], dry["dryRun"], dry["disabled"]) == (False, True, {"code-review": True, "testing": True})
    assert full.full_snapshot == before


def test_in_user_scope_a_manifest_is_made_for_it(scene: CommandSandbox) -> None:
    for path, content in prefix_paths(".agent-skills/mine", make_skill("mine")).items():
        scene.write(f"../home/{path}", content)

    scene.run("disable", "-g", "mine", check=True)

    assert json.loads((scene.home / ".config/skillpm/skills.json").read_text())["disabled"] == {"mine": True}
    assert scene.run("load", "-g", "mine").code == 1
