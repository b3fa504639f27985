"""Commands suggest the next step: one line with a command."""

import json

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import git, make_skill, prefix_paths

FLAT = "---\nname: old\ndescription: Old.\n---\n# Old\n"
MIGRATE = "`skillpm migrate -g --dry-run` shows which can become some"


def test_list_mentions_flat_files_once_and_not_in_json(scene: CommandSandbox) -> None:
    scene.write("../home/.agent-skills/old.md", FLAT)
    assert scene.output("list") == expected_output(f"""\
! no skills in HOME/.agent-skills; try `skillpm install code-review`
! 1 flat file may be meant as skills: {MIGRATE}
""")
    scene.write("../home/.agent-skills/tools/other.md", FLAT)
    scene.write("../home/.agent-skills/README.md", "# Skills\n")
    scene.write("../home/.agent-skills/mine/notes.md", "Mine.\n")
    scene.write_files(prefix_paths("../home/.agent-skills/mine", make_skill("mine", "By hand.")))
    assert scene.output("list") == expected_output(f"""\
mine   [unmanaged] By hand.
! 2 flat files may be meant as skills: {MIGRATE}
""")
    assert scene.run("list", "-q").stderr == ""
    assert [row["name"] for row in scene.json_output("list")["skills"]] == ["mine"]


def test_load_suggests_a_similar_skill_and_loads_none(project: CommandSandbox) -> None:
    project.run("install", "code-review", check=True)

    for name in ("code-revie", "code-reviewer", "code-review-security"):
        assert project.output("load", name) == expected_output(f"""\
! error: skill `{name}` not found
!   hint: did you mean `code-review`?
[1]
""")
    assert project.run("load", "Code-Review").stderr == ""
    assert project.run("load", "code-revie", "--style", "supercode").stderr == (
        "no skill named `code-revie`; loaded `code-review`\n"
    )


def test_discover_says_that_bundled_skills_are_only_offered(project: CommandSandbox) -> None:
    output = project.run("discover").stdout

    assert output.endswith(
        "\nBundled skills can be installed (`skillpm install NAME`); until then, `load` and\n"
        "`prompt` do not serve them.\n"
    )
    assert project.run("load", "code-review").code == 1


def test_link_without_an_agent_names_those_that_are_here(project: CommandSandbox) -> None:
    assert project.output("link") == expected_output("""\
! error: no agent host given, and none found on this machine
!   hint: `skillpm agents --all` lists all supported hosts
[2]
""")
    (project.home / ".codex").mkdir()
    (project.home / ".claude").mkdir()
    assert project.output("link") == expected_output("""\
! error: no agent host given; this machine has several, and this project uses none yet: claude-code, codex
!   hint: name those to link: `skillpm link claude-code codex`; `skillpm agents --all` lists all supported hosts
[2]
""")
    assert project.read_json("skills.json") == {"skills": {}}


def test_link_without_an_agent_links_the_hosts_of_the_project(project: CommandSandbox) -> None:
    for host in (".codex", ".claude", ".glm"):
        (project.home / host).mkdir()
    (project.work / ".claude").mkdir()
    project.run("install", "testing", check=True)

    assert project.output("link") == expected_output("""\
 → testing 1.0.0  (linked in .claude/skills)
linked 1; total: 1 skill in WORK/.agent-skills
""")
    assert project.read_json("skills.json")["agents"] == ["claude-code"]


def test_link_without_an_agent_links_the_only_host_of_the_machine(project: CommandSandbox) -> None:
    (project.home / ".codex").mkdir()

    project.run("link", check=True)

    assert project.read_json("skills.json")["agents"] == ["codex"]


def test_link_without_an_agent_links_all_hosts_in_user_scope(project: CommandSandbox) -> None:
    for host in (".codex", ".claude"):
        (project.home / host).mkdir()

    project.run("link", "-g", check=True)

    assert project.read_json("../home/.config/skillpm/skills.json")["agents"] == ["claude-code", "codex"]


def test_link_without_skills_says_so(project: CommandSandbox) -> None:
    assert project.output("link", "claude-code") == expected_output("""\
agents of skills.json brought up to date: 0 skills in WORK/.agent-skills
! no skills to link yet; skills that you install or create later are linked at once
""")
    done = project.json_output("install", "code-review")
    assert done["links"] == {"made": [".claude/skills/code-review"], "removed": []}
    assert project.json_output("unlink", "claude-code")["links"] == {
        "made": [],
        "removed": [".claude/skills/code-review"],
    }
    assert "links" not in project.json_output("sync")


@pytest.mark.parametrize("agent", [[], ["-a", "claude-code"]], ids=["", "-a"])
def test_install_says_where_it_writes_unless_that_is_clear(scene: CommandSandbox, agent: list[str]) -> None:
    user = "! user scope: no skills.json found here or above"
    project = "! no skills.json in this git repository: starting a project in WORK"
    scene.write("a/here", "")

    assert user in scene.output("install", "testing", *agent).splitlines()
    assert "user scope:" not in scene.output("install", "-g", "api-design", *agent)
    git("init", "-q", cwd=scene.work)
    assert project in scene.output("install", "testing", *agent, "--dry-run", cwd="a").splitlines()
    assert not scene.exists("skills.json")
    assert project in scene.output("install", "testing", *agent, cwd="a").splitlines()
    assert scene.exists("skills.json")
    assert "starting" not in scene.output("install", "api-design", *agent, cwd="a")


def test_installing_a_folder_of_flat_files_names_migrate(project: CommandSandbox) -> None:
    project.write("old skills/one.md", FLAT)

    assert project.output("install", "./old skills", "--all") == expected_output("""\
! error: ./old skills has no SKILL.md
!   hint: its flat files can become skills: run `skillpm migrate './old skills' --dry-run`, then install them from there
[1]
""")


def test_migrate_names_the_folder_you_are_in(scene: CommandSandbox) -> None:
    scene.write("one.md", FLAT)

    assert scene.output("migrate", "-g", "--dry-run") == expected_output("""\
nothing to convert: 0 skills in HOME/.agent-skills
! warning: HOME/.agent-skills does not exist; run `skillpm migrate .` for the 1 flat file in the current folder
""")


def test_migrate_warns_of_frontmatter_that_had_to_be_guessed(scene: CommandSandbox) -> None:
    scene.write("old/odd.md", "---\nname: odd\ndescription: has: a colon\n---\n# Odd\n")

    assert scene.output("migrate", "./old").splitlines()[-2:] == [
        "! warning: odd.md, line 3: this value was read as plain text, since YAML does not allow it without quotes"
        "; to repair: `skillpm validate --fix WORK/old`",
        "! next: `SKILLPM_HOME=WORK/old skillpm list -g` lists them",
    ]
    assert scene.read("old/odd/SKILL.md").startswith("---\nname: odd\ndescription: has: a colon\n")


def test_one_skill_is_one_skill(project: CommandSandbox) -> None:
    project.run("install", "code-review", check=True)
    assert project.output("verify") == "! 1 of 1 skill matches the lockfile\n"
    assert json.loads(project.run("verify", "--json").stdout)["ok"] is True
