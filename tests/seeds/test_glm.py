"""GLM-CLI, "Success Criteria": discovery in all paths, a tool, permissions, a command, its two example skills."""

import pytest
from kit import Sandbox, prefix_paths
from seeds.world import SeedWorkspace

from skillpm import Rules
from skillpm.core.json_text.decoder import JsonNode
from skillpm.serving.host_rules.glm import parse_glm_layers

# Its example skills, as they stand in "Create Example Skills".
CODE_REVIEW = """\
---
name: code-review
description: Perform thorough code reviews focusing on code quality, security, and best practices
license: MIT
compatibility: glm-cli
metadata:
  audience: developers
---

## What I do

- Review code for potential bugs and edge cases
"""
GIT_RELEASE = """\
---
name: git-release
description: Create consistent releases and changelogs
license: MIT
compatibility: glm-cli
---

## What I do

- Analyze git history since last release
"""
CONFIGURED = {"git-release": "allow", "code-review": "allow", "experimental-*": "ask", "*": "allow"}


def rules_of(**config: object) -> Rules:
    """Return the rules of GLM's configuration."""
    return Rules(layers=parse_glm_layers(JsonNode(config, "config.toml")))


@pytest.fixture
def glm(world: SeedWorkspace) -> SeedWorkspace:
    """Return a project with the two example skills."""
    world.write_files({"project/.glm/skills/code-review/SKILL.md": CODE_REVIEW})
    world.write_files({"project/.glm/skills/git-release/SKILL.md": GIT_RELEASE})
    return world


def test_skill_model_and_registry_discover_skills_from_all_paths(glm: SeedWorkspace) -> None:
    for folder in ("project/.claude/skills", ".glm/skills", ".claude/skills"):
        name = folder.replace("/", "-").replace(".", "")
        glm.write_files({f"{folder}/{name}/SKILL.md": f"---\nname: {name}\ndescription: x\n---\n"})
        glm.write_files({f"{folder}/git-release/SKILL.md": f"---\nname: git-release\ndescription: of {folder}\n---\n"})

    seen = glm.discover("glm")

    assert seen.names == ("claude-skills", "code-review", "git-release", "glm-skills", "project-claude-skills")
    found = seen.get("git-release")
    assert found is not None
    assert found.description == "Create consistent releases and changelogs"
    assert len(seen.shadowed) == 3


def test_both_example_skills_are_discovered(glm: SeedWorkspace) -> None:
    assert glm.discover("glm").names == ("code-review", "git-release")


def test_skill_tool_available_to_agents_at_runtime(glm: SeedWorkspace) -> None:
    service = glm.create_service("glm")

    assert (
        service.call({"list_available": True}).text
        == """
**Available Skills:**

• **code-review**: Perform thorough code reviews focusing on code quality, security, and best practices \
(audience:developers)
• **git-release**: Create consistent releases and changelogs

To load a skill, call: skill({ name: "skill-name" })
"""
    )
    assert (
        service.call({"name": "git-release"}).text
        == f"""
**Loaded Skill: git-release**

## What I do

- Analyze git history since last release

---
*Skill loaded from: {glm.project}/.glm/skills/git-release/SKILL.md*
"""
    )
    assert list(service.loaded) == ["git-release"]
    assert service.call({"name": "x"}).text == (
        "Error: Skill 'x' not found. Use list_available=true to see available skills."
    )
    assert service.call({"name": ""}).text == "Error: 'name' parameter is required"


def test_no_skills(world: SeedWorkspace) -> None:
    assert world.create_service("glm").call({"list_available": True}).text == (
        "No skills found. Create .glm/skills/<name>/SKILL.md files to define skills."
    )


def test_permission_system_controls_skill_access(glm: SeedWorkspace) -> None:
    rules = rules_of(skill_permissions=CONFIGURED)
    words = [rules.decide(name).action for name in ("git-release", "experimental-x", "other")]
    assert words == ["allow", "ask", "allow"]

    denied = glm.create_service("glm", rules=rules_of(deniedSkills=["git-release"]))
    assert denied.call({"name": "git-release"}).text == "Error: Skill 'git-release' is not allowed by permissions"
    only = glm.create_service("glm", rules=rules_of(allowedSkills=["git-release"]))
    assert list(only.visible) == ["git-release"]


def test_compatibility_is_a_filter_of_this_host_alone(glm: SeedWorkspace) -> None:
    for word in ("opencode", "all", "other-cli"):
        glm.write_files(
            {f".glm/skills/{word}/SKILL.md": f"---\nname: {word}\ndescription: x\ncompatibility: {word}\n---\n"}
        )

    assert glm.discover("glm").names == ("all", "code-review", "git-release", "opencode")


def test_skill_cli_command_works(world: SeedWorkspace) -> None:
    sandbox = Sandbox(world.home.parent / "shell")
    sandbox.write("skills.json", '{"skills": {}}')
    sandbox.write_files(prefix_paths(".agent-skills/git-release", {"SKILL.md": GIT_RELEASE}))

    assert "git-release" in sandbox.run("list", check=True).stdout
    shown = sandbox.run("show", "git-release", check=True).stdout
    assert "Create consistent releases and changelogs" in shown
    assert f"{sandbox.work}/.agent-skills/git-release" in shown
    assert sandbox.run("show", "nothing").code == 1


def test_what_the_host_itself_would_serve(glm: SeedWorkspace) -> None:
    glm.write_files({".glm/config.toml": '[skill_permissions]\n"code-*" = "deny"\n"*" = "allow"\n'})
    sandbox = Sandbox(glm.home.parent / "shell")
    place = {"HOME": str(glm.home)}

    listed = sandbox.run("prompt", "--host", "glm", "--style", "glm", cwd=glm.project, env=place, check=True).stdout

    assert "**git-release**" in listed
    assert "code-review" not in listed
    assert sandbox.run("load", "code-review", "--host", "glm", cwd=glm.project, env=place).code == 1


def test_example_skills_created_and_functional(world: SeedWorkspace) -> None:
    sandbox = Sandbox(world.home.parent / "shell")

    sandbox.run("install", "-g", "code-review", "git-release", check=True)

    for name in ("code-review", "git-release"):
        loaded = sandbox.run("load", "-g", name, "--style", "glm", check=True).stdout
        assert loaded.startswith(f"\n**Loaded Skill: {name}**\n")
