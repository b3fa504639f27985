"""`discover`: what a host sees, as a report of eighty columns and as JSON."""

from pathlib import Path

import pytest
from agent_hosts.world import create_full_workspace
from commands.scene import CommandSandbox, expected_output, nested_keys
from kit import make_skill, prefix_paths


@pytest.fixture
def host(scene: CommandSandbox) -> CommandSandbox:
    """Return a project with skills for Claude Code, some of which shadow each other."""
    (scene.work / ".git").mkdir()
    scene.write_files(prefix_paths("../home/.claude/skills/pdf", make_skill("pdf", "Reads PDF files, mine.")))
    scene.write_files(prefix_paths("../home/.claude/skills/deploy", make_skill("deploy", "Ships it. " * 20)))
    scene.write_files(prefix_paths(".claude/skills/pdf", make_skill("pdf", "Reads PDF files, the project's.")))
    scene.write_files(prefix_paths(".claude/skills/review", make_skill("review", "")))
    scene.write(".claude/skills/broken/SKILL.md", "# Broken\n")
    (scene.work / ".claude/skills/same").symlink_to("review")
    return scene


def test_the_report_shows_folders_skills_and_shadowed_skills(host: CommandSandbox) -> None:
    assert host.output("discover", "--agent", "claude-code") == expected_output("""\
claude-code sees 4 skills from WORK
(Claude Code: the organization's folder before the user's, and the user's before
the project's)

it searches these folders; the first skill with a name is used:
   1 user     ~/.claude/skills  2 skills
   2 project  .claude/skills    2 skills
     missing: /etc/claude-code/.claude/skills

~/.claude/skills (user)
  deploy  Ships it. Ships it. Ships it. Ships it. Ships it. Ships it. Ships it.…
  pdf     Reads PDF files, mine.

.claude/skills (project)
  broken  Broken
  review  Do it well.

of several skills with one name, only the first is used:
  pdf is ~/.claude/skills/pdf/SKILL.md, which hides
    .claude/skills/pdf/SKILL.md
      ~/.claude/skills (user) takes precedence over .claude/skills (project)

the same file, found again through a link:
  .claude/skills/same/SKILL.md
    is .claude/skills/review/SKILL.md
""")


def test_json_is_one_object(host: CommandSandbox) -> None:
    found = host.json_output("discover", "--agent", "claude-code")
    assert nested_keys(found) == [
        "agent",
        {"roots": ["path", "scope", "layout", "exists", "off"]},
        {"skills": ["name", "path", "scope", "description"]},
        {"shadowed": ["name", "path", "winner", "why"]},
        "warnings",
        {"again": ["name", "path", "winner"]},
    ]
    assert found["agent"] == "claude-code"
    assert found["roots"][1] == {
        "path": "HOME/.claude/skills",
        "scope": "user",
        "layout": "dir",
        "exists": True,
        "off": "",
    }
    assert [(skill["name"], skill["path"], skill["scope"]) for skill in found["skills"]] == [
        ("broken", "WORK/.claude/skills/broken/SKILL.md", "project"),
        ("deploy", "HOME/.claude/skills/deploy/SKILL.md", "user"),
        ("pdf", "HOME/.claude/skills/pdf/SKILL.md", "user"),
        ("review", "WORK/.claude/skills/review/SKILL.md", "project"),
    ]
    assert found["shadowed"] == [
        {
            "name": "pdf",
            "path": "WORK/.claude/skills/pdf/SKILL.md",
            "winner": "HOME/.claude/skills/pdf/SKILL.md",
            "why": "~/.claude/skills (user) takes precedence over .claude/skills (project)",
        }
    ]
    assert found["warnings"] == []


def test_user_scope_and_another_folder_can_be_selected(host: CommandSandbox) -> None:
    def seen(*arguments: str) -> list[str]:
        return [skill["name"] for skill in host.json_output("discover", "--agent", "claude-code", *arguments)["skills"]]

    host.write_files(prefix_paths("drafts/idea", make_skill("idea")))
    assert seen("-g") == ["deploy", "pdf"]
    assert seen("--project", "..") == ["deploy", "pdf"]
    assert seen("--path", "drafts", "-g") == ["deploy", "idea", "pdf"]


def test_finding_nothing_is_not_an_error(scene: CommandSandbox) -> None:
    assert scene.output("discover", "--agent", "omega") == expected_output("""\
omega sees 0 skills from WORK
(omega: one user folder, one level deep; links that point outside it are
refused)
     missing: ~/.omega/skills
""")


def test_a_host_that_shows_both_skills_of_a_name(scene: CommandSandbox) -> None:
    for place in (".agents/skills/pdf", "../home/.agents/skills/pdf"):
        scene.write_files(prefix_paths(place, make_skill("pdf", "Reads.")))
    assert scene.output("discover", "--agent", "codex") == expected_output("""\
codex sees 2 skills from WORK
(Codex: from the working directory up to the repository root, then the user's,
bundled and system folders; keeps all skills with the same name)

it searches these folders; it shows all skills with one name:
   1 project  .agents/skills    1 skill
   2 user     ~/.agents/skills  1 skill
     missing: .codex/skills, ~/.codex/skills, ~/.codex/skills/.system,
     /etc/codex/skills

.agents/skills (project)
  pdf  Reads.

~/.agents/skills (user)
  pdf  Reads.
! warning: ~/.agents/skills/pdf/SKILL.md: duplicate name `pdf`; codex shows both, the other is \
WORK/.agents/skills/pdf/SKILL.md
""")


def test_disabled_folders_are_reported(host: CommandSandbox) -> None:
    output = host.output("discover", "--agent", "brutus", env={"SKILLPM_DISABLE_CLAUDE_PATHS": "1"})
    assert output == expected_output("""\
brutus sees 0 skills from WORK
(BRUTUS: Claude's folders, then OpenCode's, each in the working directory before
the user's)

it searches these folders; the first skill with a name is used:
   1 project  .claude/skills    disabled by SKILLPM_DISABLE_CLAUDE_PATHS
   2 user     ~/.claude/skills  disabled by SKILLPM_DISABLE_CLAUDE_PATHS
     missing: .opencode/skill, .opencode/skills, ~/.config/opencode/skill
""")


def test_the_configuration_of_a_host_applies_to_what_is_served(scene: CommandSandbox) -> None:
    """BRUTUS's `.opencode/config.yaml`; a folder outside the project is reported and not served."""
    scene.write_files(prefix_paths("team/pdf", make_skill("pdf", "Reads.")))
    scene.write_files(prefix_paths(".claude/skills/docx", make_skill("docx", "Writes.")))
    scene.write_files(prefix_paths("../shared/secret", make_skill("secret", "Knows.")))
    paths = f"[team, {scene.root}/shared]"
    scene.write(".opencode/config.yaml", f"skill:\n  disable_claude_paths: true\n  additional_paths: {paths}\n")

    assert scene.output("discover", "--agent", "brutus") == expected_output("""\
brutus sees 1 skill from WORK
(BRUTUS: Claude's folders, then OpenCode's, each in the working directory before
the user's)

it searches these folders; the first skill with a name is used:
   1 explicit team            1 skill
   2 project  .claude/skills  disabled by .opencode/config.yaml
     missing: ~/.claude/skills, .opencode/skill, .opencode/skills,
     ~/.config/opencode/skill

team (explicit)
  pdf  Reads.
! warning: .opencode/config.yaml: skill.additional_paths.1: ROOT/shared is outside the project; to search it, add it \
to `additional-paths` in config.toml
""")
    assert scene.output("load", "pdf", "--agent", "brutus", "--style", "brutus").startswith("## Skill: pdf\n")
    for name in ("docx", "secret"):
        assert scene.run("load", name, "--agent", "brutus").code == 1


def test_errors_have_a_hint(host: CommandSandbox) -> None:
    assert host.output("discover", "--agent", "claude") == expected_output("""\
! error: unknown agent `claude`
!   hint: did you mean `claude-code`?
[1]
""")
    assert host.output("discover", "--project", "nowhere") == expected_output("""\
! error: the folder WORK/nowhere does not exist
[1]
""")
    host.write("../home/.config/skillpm/config.toml", "[discovery]\ndisable-claude-paths = 'yes'\n")
    assert host.output("discover") == expected_output("""\
! error: expected true or false, got "yes"
!   where: HOME/.config/skillpm/config.toml:2:1: discovery.disable-claude-paths
!   hint: fix the file by hand, or restore it from version control
[1]
""")


def test_control_characters_of_a_skill_are_escaped(scene: CommandSandbox) -> None:
    evil = "\x1b[2J\u202e\u200bx"
    scene.write(f".agents/skills/{evil}/SKILL.md", '---\nname: "\\e[31mred"\ndescription: "\\e]0;t\\a"\n---\n')
    scene.write(f".agents/skills/{evil}2/SKILL.md", f"---{evil}\n---\n")
    result = scene.run("discover", "--agent", "agentskills", check=True)
    as_json = scene.run("discover", "--agent", "agentskills", "--json", check=True)
    for output in (result.stdout + result.stderr, as_json.stdout):
        assert not {*output} & {"\x1b", "\u202e", "\u200b", "\x07"}
    assert "\\x1b[31mred" in result.stdout
    assert as_json.json["skills"][0]["name"] == "\x1b[31mred"


def test_only_long_paths_exceed_the_width_of_the_terminal(tmp_path: Path) -> None:
    """The report of every host over the folders of tests/serving."""
    world = create_full_workspace(tmp_path)
    scene = CommandSandbox(tmp_path)
    for agent in ("skillpm", "claude-code", "opencode", "glm", "omega", "supercode", "brutus", "codex", "agentskills"):
        result = scene.run("discover", "--agent", agent, cwd=world.app, check=True)
        for line in result.stdout.splitlines():
            assert len(line) <= 80 or str(tmp_path) in line or "bundled" in line, line
