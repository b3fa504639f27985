"""`skillpm discover`: what a host sees, told to a person in eighty columns and to a program as one object."""

from pathlib import Path

import pytest
from agent_hosts.world import create_full_workspace
from commands.scene import CommandSandbox, expected_output, nested_keys
from kit import make_skill, prefix_paths


@pytest.fixture
def host(scene: CommandSandbox) -> CommandSandbox:
    """Give a project with skills for Claude Code, some of them in each other's way."""
    (scene.work / ".git").mkdir()
    scene.write_files(prefix_paths("../home/.claude/skills/pdf", make_skill("pdf", "Reads PDF files, mine.")))
    scene.write_files(prefix_paths("../home/.claude/skills/deploy", make_skill("deploy", "Ships it. " * 20)))
    scene.write_files(prefix_paths(".claude/skills/pdf", make_skill("pdf", "Reads PDF files, the project's.")))
    scene.write_files(prefix_paths(".claude/skills/review", make_skill("review", "")))
    scene.write(".claude/skills/broken/SKILL.md", "# Broken\n")
    (scene.work / ".claude/skills/same").symlink_to("review")
    return scene


def test_a_person_reads_where_a_host_looks_what_it_sees_and_what_hides_what(host: CommandSandbox) -> None:
    assert host.output("discover", "--agent", "claude-code") == expected_output("""\
claude-code sees 3 skills from WORK
(Claude Code: what the organisation manages before what is yours, and yours
before the project's)

it looks into these folders, and the first that has a name counts:
   1 user     ~/.claude/skills  2 skills
   2 project  .claude/skills    1 skill
     not there: /etc/claude-code/.claude/skills

~/.claude/skills (user)
  deploy  Ships it. Ships it. Ships it. Ships it. Ships it. Ships it. Ships it.…
  pdf     Reads PDF files, mine.

.claude/skills (project)
  review  (no description)

of skills with the same name, only the first counts:
  pdf is ~/.claude/skills/pdf/SKILL.md, and hidden are
    .claude/skills/pdf/SKILL.md
      ~/.claude/skills (user) comes before .claude/skills (project)

one file, met again through a link and counted once:
  .claude/skills/same/SKILL.md
    is .claude/skills/review/SKILL.md
! warning: .claude/skills/broken/SKILL.md: line 1: the file does not begin with a `---` line
""")


def test_a_program_gets_one_object(host: CommandSandbox) -> None:
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
        ("deploy", "HOME/.claude/skills/deploy/SKILL.md", "user"),
        ("pdf", "HOME/.claude/skills/pdf/SKILL.md", "user"),
        ("review", "WORK/.claude/skills/review/SKILL.md", "project"),
    ]
    assert found["shadowed"] == [
        {
            "name": "pdf",
            "path": "WORK/.claude/skills/pdf/SKILL.md",
            "winner": "HOME/.claude/skills/pdf/SKILL.md",
            "why": "~/.claude/skills (user) comes before .claude/skills (project)",
        }
    ]
    assert found["warnings"] == [
        "WORK/.claude/skills/broken/SKILL.md: line 1: the file does not begin with a `---` line"
    ]


def test_the_users_own_and_another_place_can_be_asked_for(host: CommandSandbox) -> None:
    def seen(*arguments: str) -> list[str]:
        return [skill["name"] for skill in host.json_output("discover", "--agent", "claude-code", *arguments)["skills"]]

    host.write_files(prefix_paths("drafts/idea", make_skill("idea")))
    assert seen("-g") == ["deploy", "pdf"]
    assert seen("--project", "..") == ["deploy", "pdf"]
    assert seen("--path", "drafts", "-g") == ["deploy", "idea", "pdf"]


def test_nothing_found_is_no_error(scene: CommandSandbox) -> None:
    assert scene.output("discover", "--agent", "omega") == expected_output("""\
omega sees 0 skills from WORK
(omega: one folder of the user, one level deep; links that lead out of it are
refused)
     not there: ~/.omega/skills
""")


def test_a_host_that_shows_both_says_so(scene: CommandSandbox) -> None:
    for place in (".agents/skills/pdf", "../home/.agents/skills/pdf"):
        scene.write_files(prefix_paths(place, make_skill("pdf", "Reads.")))
    assert scene.output("discover", "--agent", "codex") == expected_output("""\
codex sees 2 skills from WORK
(Codex: from the working directory up to the repository's root, then the user's,
its own, the machine's; skills of one name are all kept)

it looks into these folders, and skills of one name are all shown:
   1 project  .agents/skills    1 skill
   2 user     ~/.agents/skills  1 skill
     not there: ~/.codex/skills, ~/.codex/skills/.system, /etc/codex/skills

.agents/skills (project)
  pdf  Reads.

~/.agents/skills (user)
  pdf  Reads.
! warning: ~/.agents/skills/pdf/SKILL.md: `pdf` is there twice, and codex shows both: WORK/.agents/skills/pdf/SKILL.md
""")


def test_folders_that_are_switched_off_are_told(host: CommandSandbox) -> None:
    said = host.output("discover", "--agent", "brutus", env={"SKILLPM_DISABLE_CLAUDE_PATHS": "1"})
    assert said == expected_output("""\
brutus sees 0 skills from WORK
(BRUTUS: Claude's folders, then OpenCode's, of the working directory and of the
user in turn)

it looks into these folders, and the first that has a name counts:
   1 project  .claude/skills    switched off by SKILLPM_DISABLE_CLAUDE_PATHS
   2 user     ~/.claude/skills  switched off by SKILLPM_DISABLE_CLAUDE_PATHS
     not there: .opencode/skill, .opencode/skills, ~/.config/opencode/skill
""")


def test_mistakes_are_told_with_a_way_out(host: CommandSandbox) -> None:
    assert host.output("discover", "--agent", "claude") == expected_output("""\
! error: there is no agent `claude`
!   try: did you mean claude-code?
[1]
""")
    assert host.output("discover", "--project", "nowhere") == expected_output("""\
! error: there is no folder WORK/nowhere
[1]
""")
    host.write("../home/.config/skillpm/config.toml", "[discovery]\ndisable-claude-paths = 'yes'\n")
    assert host.output("discover") == expected_output("""\
! error: expected true or false, got "yes"
!   where: HOME/.config/skillpm/config.toml:2:1: discovery.disable-claude-paths
!   try: mend that place by hand, or take the file from version control
[1]
""")


def test_nothing_in_a_skill_reaches_the_terminal_as_it_is(scene: CommandSandbox) -> None:
    evil = "\x1b[2J\u202e\u200bx"
    scene.write(f".agents/skills/{evil}/SKILL.md", '---\nname: "\\e[31mred"\ndescription: "\\e]0;t\\a"\n---\n')
    scene.write(f".agents/skills/{evil}2/SKILL.md", f"---{evil}\n---\n")
    result = scene.run("discover", "--agent", "agentskills", check=True)
    as_json = scene.run("discover", "--agent", "agentskills", "--json", check=True)
    for said in (result.stdout + result.stderr, as_json.stdout):
        assert not {*said} & {"\x1b", "\u202e", "\u200b", "\x07"}
    assert "\\x1b[31mred" in result.stdout
    assert as_json.json["skills"][0]["name"] == "\x1b[31mred"


def test_no_line_is_wider_than_the_terminal_but_for_long_paths(tmp_path: Path) -> None:
    """Every host over the world of tests/serving: a report that a person can read."""
    world = create_full_workspace(tmp_path)
    scene = CommandSandbox(tmp_path)
    for agent in ("skillpm", "claude-code", "opencode", "glm", "omega", "supercode", "brutus", "codex", "agentskills"):
        said = scene.run("discover", "--agent", agent, cwd=world.app, check=True)
        for line in said.stdout.splitlines():
            assert len(line) <= 80 or str(tmp_path) in line or "bundled" in line, line
