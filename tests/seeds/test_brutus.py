"""BRUTUS, "Testing Strategy": parser, discovery and tool tests, integration, and its four fixtures."""

import pytest
from kit import make_skill, prefix_paths
from seeds.world import SeedWorkspace

from skillpm import Rules
from skillpm.serving.permissions import build_ordered_rules
from skillpm.skillmd.body_references import find_file_references, find_shell_commands
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

# Its fixtures, testdata/skills/*
VALID = make_skill("valid-skill", "A valid skill", "Body.\n")
COLON = {"SKILL.md": "---\nname: colon-in-value\ndescription: Use when: the value has a colon\n---\nBody.\n"}
NAMELESS = {"SKILL.md": "---\ndescription: A skill without a name\n---\nBody.\n"}
NESTED = make_skill("deep", "A nested skill", "Body.\n")
FIXTURES = (
    prefix_paths("valid-skill", VALID)
    | prefix_paths("colon-in-value", COLON)
    | prefix_paths("missing-name", NAMELESS)
    | prefix_paths("nested/deep", NESTED)
)


def read(text: str) -> tuple[str, str, str]:
    found = read_skill(text.encode())
    return found.declared, found.description, found.body.strip()


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("---\nname: a\ndescription: b\n---\nBody\n", ("a", "b", "Body")),
        ("---\r\nname: a\r\ndescription: b\r\n---\r\nBody\r\n", ("a", "b", "Body")),
        ("---\nname: a\ndescription: foo: bar\n---\n", ("a", "foo: bar", "")),
        ('---\nname: a\ndescription: "foo: bar"\n---\n', ("a", "foo: bar", "")),
        ("---\nname: a\ndescription: 'foo: bar'\n---\n", ("a", "foo: bar", "")),
        ("---\nname: a\ndescription: >\n  folded\n  text: here\n---\n", ("a", "folded text: here", "")),
        ("---\nname: a\ndescription: |\n  kept: here\n---\n", ("a", "kept: here", "")),
        ("---\n# a: comment\n\nname: a\ndescription: $1 in $HOME: both\n---\n", ("a", "$1 in $HOME: both", "")),
        ("---\nname: a\nargument-hint: x: y\ndescription: b\n---\nBody", ("a", "b", "Body")),
        ("---\nname: a\nmetadata:\n  audience: all\n  name: nested\ndescription: b\n---\n", ("a", "b", "")),
        ("---\nname: a\n---", ("a", "", "")),
    ],
)
def test_parser_formats_and_edge_cases(text: str, parsed: tuple[str, str, str]) -> None:
    assert read(text) == parsed


@pytest.mark.parametrize(
    ("text", "code"),
    [("no frontmatter", "no-frontmatter"), ("---\nname: a\n", "unclosed"), ("---\n[\n---\n", "bad-yaml")],
)
def test_parser_errors(text: str, code: str) -> None:
    with pytest.raises(NotLoadable) as caught:
        read(text)

    assert caught.value.finding.code == code


def test_discovery_multiple_directories(world: SeedWorkspace) -> None:
    for folder in ("project/.claude/skills", ".claude/skills", "project/.opencode/skill", ".config/opencode/skill"):
        name = folder.replace("/", "-").replace(".", "")
        world.write_files(prefix_paths(f"{folder}/{name}", make_skill(name)))

    assert world.discover("brutus").names == (
        "claude-skills",
        "config-opencode-skill",
        "project-claude-skills",
        "project-opencode-skill",
    )


def test_discovery_duplicates(world: SeedWorkspace) -> None:
    world.write_files(prefix_paths("project/.claude/skills/one", make_skill("one", "The project's.")))
    world.write_files(prefix_paths(".claude/skills/one", make_skill("one", "The user's.")))

    seen = world.discover("brutus")

    assert [(found.name, found.description) for found in seen.skills] == [("one", "The project's.")]
    assert [(lost.path, lost.winner) for lost in seen.shadowed] == [
        (f"{world.home}/.claude/skills/one/SKILL.md", f"{world.project}/.claude/skills/one/SKILL.md")
    ]


def test_discovery_symlinks(world: SeedWorkspace) -> None:
    world.write_files(prefix_paths("elsewhere/linked", make_skill("linked")))
    (world.project / ".claude/skills").mkdir(parents=True)
    (world.project / ".claude/skills/linked").symlink_to(world.home / "elsewhere/linked")
    (world.project / ".claude/skills/circle").symlink_to(world.project / ".claude")
    (world.project / ".claude/skills/file").mkdir()
    (world.project / ".claude/skills/file/SKILL.md").symlink_to(world.home / "elsewhere/linked/SKILL.md")

    # `filepath.WalkDir` enters no folder behind a link, and `os.ReadFile` follows one to a file.
    assert [found.path for found in world.discover("brutus").skills] == [
        f"{world.project}/.claude/skills/file/SKILL.md"
    ]


def test_fixtures(world: SeedWorkspace) -> None:
    world.write_files(prefix_paths("project/.claude/skills", FIXTURES))

    seen = world.discover("brutus")

    assert [(found.name, found.description) for found in seen.skills] == [
        ("colon-in-value", "Use when: the value has a colon"),
        ("deep", "A nested skill"),
        ("valid-skill", "A valid skill"),
    ]
    assert [remark.message for remark in seen.warnings] == ["no name; brutus ignores skills without one"]


def test_tool_missing_skill(world: SeedWorkspace) -> None:
    world.write_files(
        prefix_paths("project/.claude/skills", prefix_paths("a", make_skill("a")) | prefix_paths("b", make_skill("b")))
    )

    answer = world.create_service("brutus").call({"name": "missing"})

    assert answer.value == {"error": 'skill "missing" not found. Available skills: a, b'}


def test_tool_permission_denied(world: SeedWorkspace) -> None:
    world.write_files(
        prefix_paths("project/.claude/skills", prefix_paths("a", make_skill("a")) | prefix_paths("b", make_skill("b")))
    )
    service = world.create_service("brutus", rules=Rules(layers=(build_ordered_rules({"b": "deny"}),)))

    assert service.call({"name": "b"}).value == {"error": "Error: Skill 'b' is not allowed by permissions"}
    assert service.call({"name": "c"}).text == 'skill "c" not found. Available skills: a'


def test_tool_successful_load(world: SeedWorkspace) -> None:
    world.write_files(prefix_paths("project/.claude/skills/valid-skill", VALID))
    folder = f"{world.project}/.claude/skills/valid-skill"

    assert world.create_service("brutus").call({"name": "valid-skill"}).value == {
        "title": "Loaded skill: valid-skill",
        "output": f"## Skill: valid-skill\n\n**Base directory**: {folder}\n\nBody.",
        "metadata": {"name": "valid-skill", "dir": folder},
    }


def test_integration_discovery_finds_them_and_the_tool_returns_their_content(world: SeedWorkspace) -> None:
    world.write_files(prefix_paths("project/.claude/skills", FIXTURES))
    service = world.create_service("brutus")

    assert service.description.endswith(
        " <available_skills>"
        " <skill> <name>colon-in-value</name> <description>Use when: the value has a colon</description> </skill>"
        " <skill> <name>deep</name> <description>A nested skill</description> </skill>"
        " <skill> <name>valid-skill</name> <description>A valid skill</description> </skill>"
        "</available_skills>"
    )
    for name in ("colon-in-value", "deep", "valid-skill"):
        assert service.call({"name": name}).text.endswith("\n\nBody.")


def test_file_references_and_shell_commands() -> None:
    body = "Read @docs/api.md, @./a.b.c and @docs/api.md, mail x@y.z, not `@code`. Run !`git status` and !`ls`."

    assert find_file_references(body) == ("docs/api.md", "./a.b.c")
    assert find_shell_commands(body) == ("git status", "ls")
