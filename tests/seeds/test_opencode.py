"""OpenCode's specification names no tests; these hold what it states, section by section."""

import pytest
from kit import skill, under
from seeds.world import World

from skillpm import Rules
from skillpm.serving.permissions import ordered


@pytest.fixture
def two(world: World) -> World:
    """Give a project with two skills of OpenCode's."""
    world.put(under("project/.opencode/skill/code-review", skill("code-review", "Reviews code.", "Look.\n")))
    world.put(under("project/.opencode/skills/deploy-prod", skill("deploy-prod", "Ships.", "Ship.\n")))
    return world


def test_dynamic_description(two: World) -> None:
    assert two.serve("opencode").description == (
        "Load a skill to get detailed instructions for a specific task."
        " Skills provide specialized knowledge and step-by-step guidance."
        " Use this when a task matches an available skill's description."
        " <available_skills>"
        "   <skill>     <name>code-review</name>     <description>Reviews code.</description>   </skill>"
        "   <skill>     <name>deploy-prod</name>     <description>Ships.</description>   </skill>"
        " </available_skills>"
    )


def test_dynamic_description_without_skills(world: World) -> None:
    assert world.serve("opencode").description == (
        "Load a skill to get detailed instructions for a specific task. No skills are currently available."
    )


def test_permission_filtering(two: World) -> None:
    service = two.serve("opencode", rules=Rules(layers=(ordered({"code-review": "allow", "deploy-*": "deny"}),)))

    assert "deploy-prod" not in service.description
    assert not service.call({"name": "deploy-prod"}).ok


def test_execution_flow(two: World) -> None:
    folder = f"{two.project}/.opencode/skill/code-review"

    assert two.serve("opencode").call({"name": "code-review"}).value == {
        "title": "Loaded skill: code-review",
        "output": f"## Skill: code-review\n\n**Base directory**: {folder}\n\nLook.",
        "metadata": {"name": "code-review", "dir": folder},
    }


def test_missing_skills(two: World) -> None:
    assert two.serve("opencode").call({"name": "x"}).value == {
        "error": 'Skill "x" not found. Available skills: code-review, deploy-prod'
    }


def test_missing_skills_where_there_are_none(world: World) -> None:
    assert world.serve("opencode").call({"name": "x"}).text == 'Skill "x" not found. Available skills: none'


def test_claude_and_opencode_directories_with_links(two: World) -> None:
    two.put(under("elsewhere/linked", skill("linked")) | under(".claude/skills/users", skill("users")))
    (two.project / ".claude/skills").mkdir(parents=True)
    (two.project / ".claude/skills/linked").symlink_to(two.home / "elsewhere/linked")

    assert two.seen("opencode").names == ("code-review", "deploy-prod", "linked", "users")


def test_feature_flag(two: World) -> None:
    two.put(under(".claude/skills/users", skill("users")))

    assert two.seen("opencode", OPENCODE_DISABLE_CLAUDE_CODE_SKILLS="1").names == ("code-review", "deploy-prod")


def test_parse_failures_do_not_stop_the_scan(two: World) -> None:
    two.put({"project/.opencode/skill/broken/SKILL.md": "---\nname: [\n---\n"})

    seen = two.seen("opencode")

    assert seen.names == ("code-review", "deploy-prod")
    assert [remark.path for remark in seen.warnings] == [f"{two.project}/.opencode/skill/broken/SKILL.md"]


def test_frontmatter_preprocessing(world: World) -> None:
    world.put({"project/.opencode/skill/a/SKILL.md": "---\nname: a\ndescription: foo:bar and baz: qux\n---\nBody"})

    assert world.seen("opencode").skills[0].description == "foo:bar and baz: qux"
