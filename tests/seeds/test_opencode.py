"""OpenCode's specification names no tests; these cover its sections one by one."""

import pytest
from kit import make_skill, prefix_paths
from seeds.world import SeedWorkspace

from skillpm import Rules
from skillpm.serving.permissions import build_ordered_rules


@pytest.fixture
def two(world: SeedWorkspace) -> SeedWorkspace:
    """Return a project with two OpenCode skills."""
    world.write_files(
        prefix_paths("project/.opencode/skill/code-review", make_skill("code-review", "Reviews code.", "Look.\n"))
    )
    world.write_files(
        prefix_paths("project/.opencode/skills/deploy-prod", make_skill("deploy-prod", "Ships.", "Ship.\n"))
    )
    return world


def test_dynamic_description(two: SeedWorkspace) -> None:
    assert two.create_service("opencode").description == (
        "Load a skill to get detailed instructions for a specific task."
        " Skills provide specialized knowledge and step-by-step guidance."
        " Use this when a task matches an available skill's description."
        " <available_skills>"
        "   <skill>     <name>code-review</name>     <description>Reviews code.</description>   </skill>"
        "   <skill>     <name>deploy-prod</name>     <description>Ships.</description>   </skill>"
        " </available_skills>"
    )


def test_dynamic_description_without_skills(world: SeedWorkspace) -> None:
    assert world.create_service("opencode").description == (
        "Load a skill to get detailed instructions for a specific task. No skills are currently available."
    )


def test_permission_filtering(two: SeedWorkspace) -> None:
    service = two.create_service(
        "opencode", rules=Rules(layers=(build_ordered_rules({"code-review": "allow", "deploy-*": "deny"}),))
    )

    assert "deploy-prod" not in service.description
    assert not service.call({"name": "deploy-prod"}).ok


def test_execution_flow(two: SeedWorkspace) -> None:
    folder = f"{two.project}/.opencode/skill/code-review"

    assert two.create_service("opencode").call({"name": "code-review"}).value == {
        "title": "Loaded skill: code-review",
        "output": f"## Skill: code-review\n\n**Base directory**: {folder}\n\nLook.",
        "metadata": {"name": "code-review", "dir": folder},
    }


def test_missing_skills(two: SeedWorkspace) -> None:
    assert two.create_service("opencode").call({"name": "x"}).value == {
        "error": 'Skill "x" not found. Available skills: code-review, deploy-prod'
    }


def test_missing_skills_where_there_are_none(world: SeedWorkspace) -> None:
    assert world.create_service("opencode").call({"name": "x"}).text == 'Skill "x" not found. Available skills: none'


def test_claude_and_opencode_directories_with_links(two: SeedWorkspace) -> None:
    two.write_files(
        prefix_paths("elsewhere/linked", make_skill("linked"))
        | prefix_paths(".claude/skills/users", make_skill("users"))
    )
    (two.project / ".claude/skills").mkdir(parents=True)
    (two.project / ".claude/skills/linked").symlink_to(two.home / "elsewhere/linked")

    assert two.discover("opencode").names == ("code-review", "deploy-prod", "linked", "users")


def test_feature_flag(two: SeedWorkspace) -> None:
    two.write_files(prefix_paths(".claude/skills/users", make_skill("users")))

    assert two.discover("opencode", OPENCODE_DISABLE_CLAUDE_CODE_SKILLS="1").names == ("code-review", "deploy-prod")


def test_parse_failures_do_not_stop_the_scan(two: SeedWorkspace) -> None:
    two.write_files({"project/.opencode/skill/broken/SKILL.md": "---\nname: [\n---\n"})

    seen = two.discover("opencode")

    assert seen.names == ("code-review", "deploy-prod")
    assert [str(remark) for remark in seen.warnings] == [
        f"{two.project}/.opencode/skill/broken/SKILL.md: no name; opencode ignores skills without one "
        "(its frontmatter is not valid YAML: line 2: did not find expected node content)"
    ]


def test_frontmatter_preprocessing(world: SeedWorkspace) -> None:
    world.write_files(
        {"project/.opencode/skill/a/SKILL.md": "---\nname: a\ndescription: foo:bar and baz: qux\n---\nBody"}
    )

    assert world.discover("opencode").skills[0].description == "foo:bar and baz: qux"
