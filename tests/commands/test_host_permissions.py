"""What an agent host's own files deny is not served with `--agent`, wherever the host reads rules."""

import json
import os

import pytest
from commands.scene import CommandSandbox, expected_output
from kit import git, make_skill, prefix_paths, wait_for

from skillpm import open_service
from skillpm.installer.disk.stat_cache import is_recent, read_file_stat

DENIED = '{"permission": {"skill": {"x": "deny"}}}'
AGENT = "---\ndescription: Use when: asked\npermission:\n  skill:\n    x: deny\n---\nYou help.\n"


@pytest.fixture
def repository(scene: CommandSandbox) -> CommandSandbox:
    """Return a repository with the skill `x` for several hosts; the folder `app` in it is where commands run."""
    git("init", "-q", cwd=scene.work)
    for folder in (".opencode", ".claude", ".glm"):
        scene.write_files(prefix_paths(f"{folder}/skills/x", make_skill("x", "Does x.")))
    scene.write("app/notes.md", "")
    return scene


def load(scene: CommandSandbox, host: str, *more: str, **variables: str) -> str:
    return scene.output("load", "x", "--agent", host, *more, cwd="app", env={"XDG_CONFIG_HOME": None, **variables})


def denied_by(where: str) -> str:
    """Return the output for a skill that the rule at this place denies."""
    hint = "the owner of that rule can change it"
    return f"! error: `x` is not allowed by permissions\n!   where: {where}\n!   hint: {hint}\n[1]\n"


@pytest.mark.parametrize(
    ("file", "text", "where"),
    [
        ("opencode.json", DENIED, "WORK/opencode.json: permission.skill.x"),
        ("opencode.jsonc", f"// ours\n{DENIED[:-3]},}}/**/,}}}}", "WORK/opencode.jsonc: permission.skill.x"),
        ("app/opencode.json", DENIED, "WORK/app/opencode.json: permission.skill.x"),
        (".opencode/opencode.json", DENIED, "WORK/.opencode/opencode.json: permission.skill.x"),
        ("app/.opencode/opencode.jsonc", DENIED, "WORK/app/.opencode/opencode.jsonc: permission.skill.x"),
        ("../home/.opencode/opencode.json", DENIED, "HOME/.opencode/opencode.json: permission.skill.x"),
        ("../home/.config/opencode/config.json", DENIED, "HOME/.config/opencode/config.json: permission.skill.x"),
        ("../home/.config/opencode/opencode.jsonc", DENIED, "HOME/.config/opencode/opencode.jsonc: permission.skill.x"),
        ("opencode.json", '{"permission": "deny"}', "WORK/opencode.json: permission"),
        ("opencode.json", '{"permission": {"*": "deny"}}', "WORK/opencode.json: permission.*"),
        ("opencode.json", '{"permission": {"skill": "{env:REFUSE}"}}', "WORK/opencode.json: permission.skill"),
        ("opencode.json", '{"tools": {"skill": false}}', "WORK/opencode.json: tools.skill"),
        ("opencode.json", '{"agent": {"build": %s}}' % DENIED, "WORK/opencode.json: agent.build.permission.skill.x"),
        (".opencode/agent/build.md", AGENT, "WORK/.opencode/agent/build.md: permission.skill.x"),
        (".opencode/modes/build.md", AGENT, "WORK/.opencode/modes/build.md: permission.skill.x"),
        (
            ".opencode/agents/any.md",
            f"---\nname: build\n{AGENT[4:]}",
            "WORK/.opencode/agents/any.md: permission.skill.x",
        ),
        ("../home/.config/opencode/agent/build.md", AGENT, "HOME/.config/opencode/agent/build.md: permission.skill.x"),
    ],
)
def test_a_skill_that_opencode_denies_is_not_served(
    repository: CommandSandbox, file: str, text: str, where: str
) -> None:
    assert load(repository, "opencode").startswith('<skill_content name="x">')

    repository.write(file, text)

    assert load(repository, "opencode", REFUSE="deny") == denied_by(where)


@pytest.mark.parametrize(
    ("variable", "value", "where"),
    [
        ("OPENCODE_CONFIG", "../rules.json", "WORK/rules.json: permission.skill.x"),
        ("OPENCODE_CONFIG_DIR", "ROOT/extra", "ROOT/extra/opencode.json: permission.skill.x"),
        ("OPENCODE_TEST_MANAGED_CONFIG_DIR", "ROOT/extra", "ROOT/extra/opencode.json: permission.skill.x"),
        ("OPENCODE_CONFIG_CONTENT", DENIED, "OPENCODE_CONFIG_CONTENT: permission.skill.x"),
        ("OPENCODE_PERMISSION", '{"skill": {"x": "deny"}}', "OPENCODE_PERMISSION: skill.x"),
    ],
)
def test_rules_that_a_variable_names(repository: CommandSandbox, variable: str, value: str, where: str) -> None:
    repository.write_files({"rules.json": DENIED, "../extra/opencode.json": DENIED})

    assert load(repository, "opencode").startswith("<skill_content")
    assert load(repository, "opencode", **{variable: value.replace("ROOT", str(repository.root))}) == denied_by(where)


def test_rules_above_the_repository_do_not_apply(repository: CommandSandbox) -> None:
    repository.write_files({"../opencode.json": DENIED, "opencode.json": '{"permission": {"skill": "allow"}}'})

    assert load(repository, "opencode").startswith("<skill_content")


def test_outside_of_git_rules_apply_up_to_the_root_of_the_file_system(scene: CommandSandbox) -> None:
    scene.write_files(prefix_paths("app/.opencode/skills/x", make_skill("x", "Does x.")))
    scene.write("../opencode.json", DENIED)

    assert load(scene, "opencode") == denied_by("ROOT/opencode.json: permission.skill.x")


def test_a_profile_may_be_an_agent_of_the_host(repository: CommandSandbox) -> None:
    repository.write(".opencode/agents/team/lead.md", AGENT)

    assert load(repository, "opencode").startswith("<skill_content")
    assert load(repository, "opencode", "--profile", "team/lead") == denied_by(
        "WORK/.opencode/agents/team/lead.md: permission.skill.x"
    )
    assert load(repository, "opencode", "--profile", "team/boss") == expected_output("""\
! error: unknown profile `team/boss`
!   where: HOME/.config/skillpm/config.toml
!   hint: define it as a table `[permissions-for.NAME]`; known profiles: build, plan, general, explore, compaction, \
title, summary, team/lead
[1]
""")
    repository.write("../home/.config/skillpm/config.toml", '[permissions-for."team/boss"]\nx = "ask"\n')
    assert load(repository, "opencode", "--profile", "team/boss").startswith(
        "! error: `x` requires a person's approval"
    )


@pytest.mark.parametrize(
    ("host", "file", "text", "message", "where"),
    [
        (
            "opencode",
            "opencode.json",
            '{\n "permission": {',
            "invalid JSON: Expecting property name",
            "opencode.json:2:",
        ),
        ("opencode", ".opencode/opencode.jsonc", b"\xff", "this document is not UTF-8", ".opencode/opencode.jsonc\n"),
        ("opencode", "opencode.json/x", "", "cannot read: Is a directory", "opencode.json\n"),
        (
            "opencode",
            ".opencode/agent/y.md",
            "---\n*: deny\n---\n",
            "invalid YAML: did not find",
            ".opencode/agent/y.md:2\n",
        ),
        (
            "claude-code",
            "app/.claude/settings.json",
            "{\n}}",
            "invalid JSON: Extra data",
            "app/.claude/settings.json:2:2\n",
        ),
        (
            "claude-code",
            "app/.claude/settings.local.json/x",
            "",
            "cannot read: Is a directory",
            "settings.local.json\n",
        ),
        ("glm", "../home/.glm/config.toml", "a = 1\nb\n", "invalid TOML: ", "/.glm/config.toml:2:2\n"),
        ("glm", "../home/.glm/config.toml", "deniedSkills = 'y'", "expected an array, got ", ": deniedSkills\n"),
        (
            "glm",
            "../home/.glm/config.toml",
            "agents.plan.allowedSkills = [1]\nagents.build = 1",
            "expected an object, got 1",
            ": agents.build\n",
        ),
        (
            "glm",
            "../home/.glm/config.toml",
            "skills.skill_permissions.y = 'maybe'",
            'expected allow, ask or deny, got "maybe"',
            ": skills.skill_permissions.y\n",
        ),
    ],
)
def test_a_rule_file_that_cannot_be_read_denies_everything(
    repository: CommandSandbox, host: str, file: str, text: str | bytes, message: str, where: str
) -> None:
    repository.write(file, text)

    output = load(repository, host)

    assert output.startswith(f"! error: {message}")
    assert where in output
    assert repository.run("prompt", "--agent", host, cwd="app").stdout == ""


def test_folders_of_agents_that_never_end_are_refused(repository: CommandSandbox) -> None:
    (repository.work / ".opencode").mkdir(exist_ok=True)
    os.symlink("/", repository.work / ".opencode/agents")

    assert load(repository, "opencode") == expected_output("""\
! error: more than 1000 folders
!   where: WORK/.opencode/agents
[1]
""")


@pytest.mark.parametrize(
    ("host", "file", "text", "where"),
    [
        ("claude-code", "app/.claude/settings.json", '{"permissions": {"deny": ["Skill(x)"]}}', "permissions.deny.0"),
        ("claude-code", "app/.claude/settings.local.json", '{"skillOverrides": {"x": "off"}}', "skillOverrides.x"),
        ("claude-code", ".claude/settings.local.json", '{"skillOverrides": {"x": "off"}}', "skillOverrides.x"),
        (
            "claude-code",
            "../home/.claude/settings.json",
            '// a\n{"permissions": {"deny": ["Skill"]}}',
            "permissions.deny.0",
        ),
        ("glm", "../home/.glm/config.toml", '[skill_permissions]\nx = "deny"\n', "skill_permissions.x"),
        ("glm", "../home/.glm/config.toml", '[skills.skill_permissions]\n"?" = "deny"\n', "skills.skill_permissions.?"),
        ("glm", "../home/.glm/config.toml", '[behavior.skill_permissions]\nx="deny"\n', "behavior.skill_permissions.x"),
        ("glm", "../home/.glm/config.toml", 'deniedSkills = ["y", "x"]\n', "deniedSkills.1"),
        ("glm", "../home/.glm/config.toml", 'allowedSkills = ["y"]\n', "allowedSkills"),
        ("glm", "../home/.glm/config.toml", '[skillPermissions]\nx = "deny"\n', "skillPermissions.x"),
        ("glm", "../home/.glm/config.toml", '[agents.build]\ndeniedSkills = ["x"]\n', "agents.build.deniedSkills.0"),
        ("glm", "../home/.glm/config.toml", "[skills]\nenabled = false\n", "skills.enabled"),
    ],
)
def test_a_skill_that_another_host_denies_is_not_served(
    repository: CommandSandbox, host: str, file: str, text: str, where: str
) -> None:
    repository.write(file, text)

    place = f"HOME/{file[8:]}" if file.startswith("../") else f"WORK/{file}"
    assert load(repository, host) == denied_by(f"{place}: {where}")
    assert repository.run("prompt", "--agent", host, cwd="app").stdout == ""
    found = repository.json_output("discover", "--agent", host, cwd="app")
    assert [skill["name"] for skill in found["skills"]] == ["x"]  # what the host lists


def test_the_local_settings_of_a_repository_of_claude_code_come_last(repository: CommandSandbox) -> None:
    repository.write(".claude/settings.json", '{"skillOverrides": {"x": "off"}}')
    repository.write("app/.claude/settings.local.json", '{"skillOverrides": {"x": "off"}}')
    repository.write(".claude/settings.local.json", '{"skillOverrides": {"x": "on"}}')

    assert repository.run("prompt", "--agent", "claude-code", cwd="app", check=True).stdout != ""
    repository.write(".claude/settings.local.json", '{"skillOverrides": {"y": "on"}}')
    assert load(repository, "claude-code") == denied_by("WORK/app/.claude/settings.local.json: skillOverrides.x")


def test_claude_code_moved_its_settings(repository: CommandSandbox) -> None:
    repository.write("../elsewhere/settings.json", '{"permissions": {"deny": ["Skill(x)"]}}')

    assert load(repository, "claude-code", CLAUDE_CONFIG_DIR=f"{repository.root}/elsewhere") == denied_by(
        "ROOT/elsewhere/settings.json: permissions.deny.0"
    )


def test_a_profile_may_be_an_agent_of_glm(repository: CommandSandbox) -> None:
    """Without one, the lists of its default agent, `build`, apply."""
    repository.write("../home/.glm/config.toml", '[agents.plan]\nallowedSkills = ["y"]\n[agents.build]\n')

    assert "\nDo it well." in load(repository, "glm")
    assert load(repository, "glm", "--profile", "plan") == denied_by("HOME/.glm/config.toml: agents.plan.allowedSkills")
    assert load(repository, "glm", "--profile", "paln").startswith("! error: unknown profile `paln`\n")


def test_a_new_rule_file_applies_at_once(repository: CommandSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(repository.home))
    monkeypatch.chdir(repository.work / "app")
    service = open_service(host="opencode")
    assert [*service.visible] == ["x"]

    repository.write(".opencode/agents/team/any.md", f"---\nname: build\n{AGENT[4:]}")
    assert [*service.visible] == []
    rules = repository.work / ".opencode/agents/team/any.md"
    # Rules are kept as soon as another change of their files would leave other stats.
    wait_for(lambda: not is_recent(read_file_stat(str(rules))))
    assert [*service.visible] == []
    repository.write(".opencode/agents/team/any.md", "---\nname: build\n---\n")
    assert [*service.visible] == ["x"]
    repository.write("opencode.json", DENIED)
    assert [*service.visible] == []


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["list"], "! permissions hide 1 more; `skillpm list --all` shows them\n"),
        (["prompt"], ""),
        (["search", "--triggers", "x"], "! no trigger matches that message\n"),
        (["search", "--installed", "x"], "! no results for `x`\n! searched 0 installed\n"),
        (["load", "x"], denied_by("HOME/.config/skillpm/config.toml: skills.enabled")),
        (["show", "x"], denied_by("HOME/.config/skillpm/config.toml: skills.enabled")),
        (["diff", "x"], denied_by("HOME/.config/skillpm/config.toml: skills.enabled")),
        (["diff", "x", "--update"], denied_by("HOME/.config/skillpm/config.toml: skills.enabled")),
        (["load", "x", "--agent", "opencode"], denied_by("HOME/.config/skillpm/config.toml: skills.enabled")),
    ],
)
def test_skills_that_are_turned_off_are_hidden_everywhere(
    repository: CommandSandbox, command: list[str], output: str
) -> None:
    skill = make_skill("x", "Does x.", metadata={"triggers": "x"})
    repository.create_project().write_files(prefix_paths(".agent-skills/x", skill))
    repository.write("../home/.config/skillpm/config.toml", "[skills]\nenabled = false\n")

    assert repository.output(*command) == output


def test_tool_does_not_offer_skills_that_are_turned_off(
    repository: CommandSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.create_project().write_files(prefix_paths(".agent-skills/x", make_skill("x", "Does x.")))
    monkeypatch.setenv("HOME", str(repository.home))
    service = open_service(repository.work)
    assert service.call({"name": "x"}).ok

    repository.write("../home/.config/skillpm/config.toml", "[skills]\nenabled = false\n")

    assert service.call({"name": "x"}).text == "Error: Skill 'x' is not allowed by permissions"
    assert "Does x" not in service.description + json.dumps(service.call({}).text)
