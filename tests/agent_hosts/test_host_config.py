"""What a host reads of a project's own configuration: BRUTUS's `.opencode/config.yaml`, which is not trusted."""

import os

import pytest
from agent_hosts.world import HostWorkspace

from skillpm import discover

FILE = "home/code/repo/app/.opencode/config.yaml"


def see(world: HostWorkspace, agent: str = "brutus", **environ: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the names that a host sees, and its warnings."""
    found = discover(agent, settings=world.settings(**environ))
    return found.names, [world.shorten_paths(str(warning)) for warning in found.warnings]


def test_additional_paths_of_the_project_come_first(world: HostWorkspace) -> None:
    """Relative ones start at the working directory; all must be in the project's repository."""
    world.write_skill("home/code/repo/team/pdf", description="The team's.")
    world.write_skill("home/code/repo/app/more/docx")
    world.write_skill("home/code/repo/app/.claude/skills/pdf", description="Ours.")
    world.write(FILE, f"# ours\nskill:\n  additional_paths:\n    - {world.repo}/team\n    - more\n    - missing\n")

    found = discover("brutus", settings=world.settings())

    assert [(skill.name, skill.description, skill.scope) for skill in found.skills] == [
        ("docx", "docx.", "explicit"),
        ("pdf", "The team's.", "explicit"),
    ]
    assert [world.shorten_paths(root.path) for root in found.roots[:3]] == ["REPO/team", "APP/more", "APP/missing"]
    assert found.warnings == ()
    assert see(world, "opencode") == (("pdf",), [])


def test_paths_of_the_user_come_before_those_of_the_project(world: HostWorkspace) -> None:
    world.write("home/.config/skillpm/config.toml", f'[discovery]\nadditional-paths = ["{world.root}/shared"]\n')
    world.write(FILE, "skill: {additional_paths: [more]}\n")

    found = discover("brutus", settings=world.settings())

    assert [world.shorten_paths(root.path) for root in found.roots[:2]] == ["ROOT/shared", "APP/more"]


@pytest.mark.parametrize("path", ["ROOT/shared", "~/shared", "../../../../shared", "$TEAM", "link"])
def test_a_project_cannot_name_a_folder_outside_of_it(world: HostWorkspace, path: str) -> None:
    """A checkout could otherwise give an agent skills from anywhere on the machine; the user can permit the folder."""
    for folder in ("shared", "home/shared"):
        world.write_skill(f"{folder}/secret")
    world.create_link("home/code/repo/app/link", "../../../../shared")
    text = path.replace("ROOT", str(world.root))
    world.write(FILE, f"skill:\n  additional_paths: ['{text}']\n")

    names, warnings = see(world, TEAM=str(world.root / "shared"))

    assert names == ()
    assert warnings == [
        f"APP/.opencode/config.yaml: skill.additional_paths.0: {world.shorten_paths(text)} is outside the project; "
        "to search it, add it to `additional-paths` in config.toml"
    ]


def test_a_folder_that_the_user_permits_is_no_warning(world: HostWorkspace) -> None:
    world.write_skill("shared/pdf")
    world.write("home/.config/skillpm/config.toml", f'[discovery]\nadditional-paths = ["{world.root}/shared"]\n')
    world.write(FILE, f"skill:\n  additional_paths: ['{world.root}/shared']\n")

    assert see(world) == (("pdf",), [])


@pytest.mark.parametrize(
    ("word", "environ", "switch"),
    [
        ("true", {}, ".opencode/config.yaml"),
        ("false", {}, ""),
        ("", {}, ""),
        ("true", {"SKILLPM_DISABLE_CLAUDE_PATHS": "0"}, ""),
        ("false", {"OPENCODE_DISABLE_CLAUDE_CODE_SKILLS": "1"}, "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS"),
    ],
)
def test_claude_folders_are_switched_off_by_the_project(
    world: HostWorkspace, word: str, environ: dict[str, str], switch: str
) -> None:
    """The environment takes precedence."""
    world.write_skill("home/.claude/skills/pdf")
    world.write_skill("home/code/repo/app/.opencode/skill/docx")
    world.write(FILE, f"skill:\n  disable_claude_paths: {word} # a comment\n")

    found = discover("brutus", settings=world.settings(**environ))

    assert found.names == (("docx",) if switch else ("docx", "pdf"))
    assert {root.disabled_by for root in found.roots if ".claude" in root.path} == {switch}
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("skill: [\n", "line 2: did not find expected node content"),
        ("- skill\n", "expected an object, got an array"),
        ("skill: true\n", 'skill: expected an object, got "true"'),
        ("skill:\n  additional_paths: /a\n", 'skill.additional_paths: expected an array, got "/a"'),
        ("skill:\n  additional_paths: [[]]\n", "skill.additional_paths.0: expected a string, got an array"),
        ("skill:\n  disable_claude_paths: maybe\n", 'skill.disable_claude_paths: expected true or false, got "maybe"'),
        (b"\xff", "this document is not UTF-8"),
    ],
)
def test_an_invalid_configuration_is_ignored_with_a_warning(
    world: HostWorkspace, text: str | bytes, message: str
) -> None:
    world.write_skill("home/.claude/skills/pdf")
    world.write(FILE, text)

    assert see(world) == (("pdf",), [f"APP/.opencode/config.yaml: {message}; the file is ignored"])


def test_a_pipe_is_not_read(world: HostWorkspace) -> None:
    path = world.root / FILE
    path.parent.mkdir(parents=True)
    os.mkfifo(path)

    assert see(world) == ((), ["APP/.opencode/config.yaml: cannot read: not a regular file; the file is ignored"])


@pytest.mark.parametrize("text", ["", "# nothing\n", "theme: dark\n", "skill:\n"])
def test_a_configuration_without_settings_for_skills(world: HostWorkspace, text: str) -> None:
    world.write_skill("home/.claude/skills/pdf")
    world.write(FILE, text)

    assert see(world) == (("pdf",), [])


def test_the_configuration_of_a_project_does_not_apply_to_user_folders_alone(world: HostWorkspace) -> None:
    world.write_skill("home/.claude/skills/pdf")
    world.write_skill("home/code/repo/app/more/docx")
    world.write(FILE, "skill: {additional_paths: [more], disable_claude_paths: true}\n")

    assert discover("brutus", user_only=True, settings=world.settings()).names == ("pdf",)
