"""The folders a host searches: templates, parent folders, switches, additional folders."""

from pathlib import Path

import pytest
from agent_hosts.world import HostWorkspace

from skillpm import discover


def roots(world: HostWorkspace, agent: str, directory: str = "", **environ: str) -> list[str]:
    """Return the folders of a host in order, each with the switch that disables it."""
    found = discover(agent, settings=world.settings(directory, **environ))
    return [
        world.shorten_paths(place.path) + (f" off by {place.disabled_by}" if place.disabled_by else "")
        for place in found.roots
    ]


def names(world: HostWorkspace, agent: str, **environ: str) -> tuple[str, ...]:
    return discover(agent, settings=world.settings(**environ)).names


def config(world: HostWorkspace, text: str) -> None:
    world.write("home/.config/skillpm/config.toml", text)


def test_a_folder_may_be_a_root_in_several_layouts(world: HostWorkspace) -> None:
    root = '[[profiles.mine.roots]]\nscope = "user"\npaths = ["~/s"]\nlayout = "{}"\n'
    config(world, "".join(map(root.format, ("flat", "dir", "flat"))))
    world.write("home/s/a.md", "---\nname: a\n---\n")
    world.write_skill("home/s/b")

    assert (roots(world, "mine"), names(world, "mine")) == (["~/s", "~/s"], ("a", "b"))


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        pytest.param(
            "brutus",
            ["APP/.claude/skills", "~/.claude/skills", "APP/.opencode/skill", "APP/.opencode/skills",
             "~/.config/opencode/skill"],
            id="brutus-in-its-order-of-priority",
        ),
        pytest.param(
            "opencode",
            ["~/.opencode/skills", "~/.opencode/skill",
             "REPO/.opencode/skills", "REPO/.opencode/skill", "APP/.opencode/skills", "APP/.opencode/skill",
             "~/.config/opencode/skills", "~/.config/opencode/skill",
             "REPO/.agents/skills", "REPO/.claude/skills", "APP/.agents/skills", "APP/.claude/skills",
             "~/.agents/skills", "~/.claude/skills"],
            id="opencode-walks-up-to-the-worktree",
        ),
        pytest.param(
            "glm",
            ["APP/.glm/skills", "REPO/.glm/skills", "APP/.claude/skills", "REPO/.claude/skills",
             "~/.glm/skills", "~/.claude/skills"],
            id="glm-by-its-table",
        ),
        pytest.param("omega", ["~/.omega/skills"], id="omega"),
        pytest.param("supercode", ["~/.agent-skills"], id="supercode"),
        pytest.param(
            "claude-code",
            ["/etc/claude-code/.claude/skills", "~/.claude/skills", "APP/.claude/skills", "REPO/.claude/skills"],
            id="X3-claude-code-takes-the-user-before-the-project",
        ),
        pytest.param(
            "codex",
            ["APP/.agents/skills", "APP/.codex/skills", "REPO/.agents/skills", "REPO/.codex/skills",
             "~/.agents/skills", "~/.codex/skills", "~/.codex/skills/.system", "/etc/codex/skills"],
            id="X3-codex",
        ),
        pytest.param(
            "agentskills", ["APP/.agents/skills", "REPO/.agents/skills", "~/.agents/skills"], id="X3-agentskills"
        ),
        pytest.param("cursor", ["APP/.agents/skills", "REPO/.agents/skills", "~/.cursor/skills"], id="simple-cursor"),
        pytest.param("eve", ["APP/agent/skills", "REPO/agent/skills"], id="simple-project-only"),
    ],
)  # fmt: skip
def test_host_folders_are_in_order(world: HostWorkspace, agent: str, expected: list[str]) -> None:
    """The project's before the user's, unless the host does otherwise."""
    assert roots(world, agent) == expected


def test_missing_folder_is_listed_and_does_not_fail(world: HostWorkspace) -> None:
    """A missing folder is like an empty one."""
    world.write_skill("home/.claude/skills/pdf")
    found = discover("brutus", settings=world.settings())
    assert [world.shorten_paths(place.path) for place in found.roots if place.exists] == ["~/.claude/skills"]
    assert (found.names, found.warnings) == (("pdf",), ())
    assert names(world, "omega") == ()


@pytest.mark.parametrize("agent", ["brutus", "opencode"])
def test_only_skills_folders_are_searched_at_any_depth(world: HostWorkspace, agent: str) -> None:
    """`skills/**` of .claude, `{skill,skills}/**` of .opencode, and nothing beside them."""
    world.write_skill("home/.claude/skills/nested/deep")
    world.write_skill("home/.claude/plugins/no-skill")
    world.write_skill("home/code/repo/app/.opencode/skill/one/two/three/four/five/singular")
    world.write_skill("home/code/repo/app/.opencode/skills/plural")
    world.write_skill("home/code/repo/app/.opencode/agents/no-skill-either")
    world.write("home/code/repo/app/.opencode/skills/SKILL.md", "---\nname: at-the-top\ndescription: d\n---\n")
    assert names(world, agent) == ("at-the-top", "deep", "plural", "singular")


def test_paths_are_absolute_and_name_files_only(world: HostWorkspace) -> None:
    """Absolute paths, files only, hidden folders in .claude but not in .opencode."""
    world.write_skill("home/code/repo/app/.claude/skills/.seen")
    world.write_skill("home/code/repo/app/.opencode/skills/.unseen")
    (world.app / ".opencode/skills/folder/SKILL.md").mkdir(parents=True)
    found = discover("opencode", settings=world.settings())
    assert [(skill.name, skill.path) for skill in found.skills] == [
        (".seen", f"{world.app}/.claude/skills/.seen/SKILL.md")
    ]
    assert [str(warning) for warning in found.warnings] == [
        f"{world.app}/.opencode/skills/folder/SKILL.md: not a regular file"
    ]


@pytest.mark.parametrize(
    ("git", "directory", "expected"),
    [
        (".git", "home/code/repo/app", ["APP/.glm/skills", "REPO/.glm/skills"]),
        ("", "home/code/repo/app", ["APP/.glm/skills", "REPO/.glm/skills", "~/code/.glm/skills"]),
        ("", "elsewhere", ["ROOT/elsewhere/.glm/skills"]),
        ("", "home", []),
    ],
    ids=["the-git-root", "else-the-home-folder", "outside-of-both", "the-home-folder-is-no-project"],
)
def test_search_upward_ends_at_git_root_or_home(
    world: HostWorkspace, git: str, directory: str, expected: list[str]
) -> None:
    """Skills in the home folder itself belong to the user."""
    if not git:
        (world.repo / ".git").rmdir()
    (world.root / "elsewhere").mkdir()
    project = [path for path in roots(world, "glm", directory) if ".glm" in path and path != "~/.glm/skills"]
    assert project == expected
    assert roots(world, "glm", directory)[-2:] == ["~/.glm/skills", "~/.claude/skills"]


def test_most_hosts_search_only_the_working_directory_without_git(world: HostWorkspace) -> None:
    """`walk: git` ends right there without a repository."""
    (world.repo / ".git").rmdir()
    assert roots(world, "agentskills") == ["APP/.agents/skills", "~/.agents/skills"]


def test_tilde_is_the_home_folder(world: HostWorkspace) -> None:
    """But not in `~ada` and `a~`, which are names."""
    config(world, '[discovery]\nadditional-paths = ["~/team", "~ada", "a~/b"]\n')
    assert roots(world, "brutus")[:3] == ["~/team", "APP/~ada", "APP/a~/b"]


def test_additional_folders_come_first_in_hosts_that_support_them(world: HostWorkspace) -> None:
    """`additional-paths` of config.toml; ignored by hosts without such a setting."""
    world.write_skill("shared/pdf", description="The team's.")
    world.write_skill("home/.claude/skills/pdf", description="Mine.")
    config(world, f'[discovery]\nadditional-paths = ["{world.root}/shared"]\n')
    for agent in ("brutus", "opencode"):
        found = discover(agent, settings=world.settings())
        assert [(skill.description, skill.scope) for skill in found.skills] == [("The team's.", "explicit")]
        assert [world.shorten_paths(hidden.why) for hidden in found.shadowed] == [
            "ROOT/shared (explicit) takes precedence over ~/.claude/skills (user)"
        ]
    found = discover("claude-code", settings=world.settings())
    assert [skill.description for skill in found.skills] == ["Mine."]


def test_explicit_folders_take_precedence(world: HostWorkspace) -> None:
    """In every host; a relative path starts at the working directory."""
    world.write_skill("home/code/repo/app/drafts/.new/pdf", description="A draft.")
    world.write_skill("home/.claude/skills/pdf", description="Mine.")
    found = discover("claude-code", paths=["drafts", Path("nowhere")], settings=world.settings())
    assert [skill.description for skill in found.skills] == ["A draft."]
    assert [(world.shorten_paths(place.path), place.exists) for place in found.roots[:2]] == [
        ("APP/drafts", True),
        ("APP/nowhere", False),
    ]


SWITCHED = ["APP/.claude/skills", "~/.claude/skills"]


@pytest.mark.parametrize(
    ("settings", "environ", "switch"),
    [
        ("", {}, ""),
        ("[discovery]\ndisable-claude-paths = true\n", {}, "disable-claude-paths"),
        ("", {"OPENCODE_DISABLE_CLAUDE_CODE_SKILLS": "1"}, "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS"),
        ("", {"SKILLPM_DISABLE_CLAUDE_PATHS": "true"}, "SKILLPM_DISABLE_CLAUDE_PATHS"),
        ("[discovery]\ndisable-claude-paths = true\n", {"SKILLPM_DISABLE_CLAUDE_PATHS": "0"}, ""),
    ],
    ids=["default", "config", "environment-of-opencode", "environment", "environment-before-config"],
)
def test_claude_folders_can_be_switched_off(
    world: HostWorkspace, settings: str, environ: dict[str, str], switch: str
) -> None:
    """By configuration or environment; Claude Code itself always reads them."""
    config(world, settings)
    world.write_skill("home/.claude/skills/pdf")
    world.write_skill("home/code/repo/app/.opencode/skills/docx")
    assert names(world, "brutus", **environ) == (("docx",) if switch else ("docx", "pdf"))
    claude_roots = [path for path in roots(world, "brutus", **environ) if ".claude" in path]
    assert claude_roots == [f"{path} off by {switch}" if switch else path for path in SWITCHED]
    assert names(world, "claude-code", **environ) == ("pdf",)


def test_only_claude_folders_are_switched_off(world: HostWorkspace) -> None:
    """OpenCode's root of `.agents` and `.claude` loses one half."""
    off = [path for path in roots(world, "opencode", OPENCODE_DISABLE_CLAUDE_CODE_SKILLS="1") if " off " in path]
    assert [path.partition(" ")[0] for path in off] == ["REPO/.claude/skills", "APP/.claude/skills", "~/.claude/skills"]


def test_skills_can_be_switched_off_completely(world: HostWorkspace) -> None:
    """`[skills] enabled = false`; true and absent mean on."""
    world.write_skill("home/.claude/skills/pdf")
    for text in ("", "[skills]\nenabled = true\n"):
        config(world, text)
        assert names(world, "claude-code") == ("pdf",)
    config(world, "[skills]\nenabled = false\n")
    found = discover("claude-code", settings=world.settings())
    assert (found.roots, found.skills) == ((), ())
    assert [world.shorten_paths(str(warning)) for warning in found.warnings] == [
        "~/.config/skillpm/config.toml: skills are turned off: `enabled = false` in `[skills]`"
    ]


@pytest.mark.parametrize(
    ("agent", "environ", "expected"),
    [
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/moved"}, "/moved/skills"),
        ("codex", {"CODEX_HOME": "/moved"}, "/moved/skills/.system"),
        ("opencode", {"OPENCODE_CONFIG_DIR": "/moved"}, "/moved/skills"),
        ("opencode", {"XDG_CONFIG_HOME": "/moved"}, "/moved/opencode/skills"),
        ("grok", {"GROK_HOME": "/moved"}, "/moved/skills"),
        ("skillpm", {"SKILLPM_HOME": "/moved"}, "/moved"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_variable_relocates_a_host_folder(
    world: HostWorkspace, agent: str, environ: dict[str, str], expected: str
) -> None:
    assert expected in roots(world, agent, **environ)


def test_only_user_folders_are_searched_without_a_project(world: HostWorkspace) -> None:
    world.write_skill("home/.claude/skills/mine")
    world.write_skill("home/code/repo/app/.claude/skills/ours")
    found = discover("claude-code", user_only=True, settings=world.settings())
    assert found.names == ("mine",)


def test_discovery_from_another_folder(world: HostWorkspace) -> None:
    world.write_skill("home/code/repo/app/.claude/skills/ours")
    for directory in (world.app, "~/code/repo/app", "code/repo/app"):
        found = discover("claude-code", directory=directory, settings=world.settings("home"))
        assert found.names == ("ours",)
