"""One workspace with skills in every host's folders: each host sees what its specification says."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_hosts.world import HostWorkspace, create_full_workspace

from skillpm import Discovery, discover


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> HostWorkspace:
    return create_full_workspace(tmp_path_factory.mktemp("full"))


SEEN = {
    # The nearest skills directory, then the user's; bundled skills have a test of their own below.
    "skillpm": """\
        APP/.agent-skills/shared
        APP/.agent-skills/skillpm-app
        ~/.agent-skills/skillpm-home
        REPO/.agent-skills/skillpm-repo
        hidden:
        REPO/.agent-skills/shared: the nearest of a project's folders wins
        ~/.agent-skills/shared: .agent-skills (project) takes precedence over ~/.agent-skills (user)
        """,
    # One level deep; the user's take precedence over the project's; also without frontmatter.
    "claude-code": """\
        APP/.claude/skills/agents-repo
        REPO/.claude/skills/broken
        APP/.claude/skills/claude-app
        ~/.claude/skills/claude-home
        REPO/.claude/skills/claude-repo
        ~/.claude/skills/shared
        hidden:
        APP/.claude/skills/shared: ~/.claude/skills (user) takes precedence over .claude/skills (project)
        REPO/.claude/skills/shared: ~/.claude/skills (user) takes precedence over .claude/skills (project)
        warned:
        REPO/.claude/skills/broken/SKILL.md: line 1: the frontmatter has no closing `---` line
        REPO/.claude/skills/self: broken link
        """,
    # Its own folders before all others, the outermost folder of a project first; any depth, nested skills; hidden
    # folders in .claude and .agents, but not in .opencode.
    "opencode": """\
        ~/.claude/skills/.hidden
        APP/.agents/skills/agents-app
        ~/.agents/skills/agents-home
        REPO/.agents/skills/agents-repo
        APP/.claude/skills/claude-app
        ~/.claude/skills/claude-home
        REPO/.claude/skills/claude-repo
        ~/.claude/skills/nested/deep
        APP/.agents/skills/agents-app/inner
        APP/.agents/skills/linked-file
        APP/.opencode/skill/opencode-app
        ~/.opencode/skills/opencode-dot-home
        ~/.config/opencode/skill/opencode-home
        ~/.config/opencode/skills/opencode-home-plural
        REPO/.opencode/skills/opencode-repo
        REPO/.opencode/skills/shared
        hidden:
        APP/.claude/skills/claude-app/inner: .agents/skills (project) takes precedence over .claude/skills (project)
        APP/.opencode/skill/shared: the outermost of a project's folders wins
        ~/.config/opencode/skill/shared: .opencode/skills (project) takes precedence over \
~/.config/opencode/skill (user)
        REPO/.agents/skills/shared: .opencode/skills (project) takes precedence over .agents/skills (project)
        REPO/.claude/skills/shared: .opencode/skills (project) takes precedence over .claude/skills (project)
        APP/.agents/skills/shared: .opencode/skills (project) takes precedence over .agents/skills (project)
        APP/.claude/skills/shared: .opencode/skills (project) takes precedence over .claude/skills (project)
        ~/.agents/skills/shared: .opencode/skills (project) takes precedence over ~/.agents/skills (user)
        ~/.claude/skills/shared: .opencode/skills (project) takes precedence over ~/.claude/skills (user)
        again:
        APP/.claude/skills/agents-repo: REPO/.agents/skills/agents-repo
        warned:
        REPO/.claude/skills/self: broken link
        REPO/.claude/skills/broken/SKILL.md: line 1: the frontmatter has no closing `---` line
        """,
    # .glm before .claude, the project before the home folder; no skills for other hosts, and none behind links.
    "glm": """\
        ~/.claude/skills/.hidden
        APP/.claude/skills/claude-app
        ~/.claude/skills/claude-home
        REPO/.claude/skills/claude-repo
        ~/.claude/skills/nested/deep
        APP/.glm/skills/glm-app
        ~/.glm/skills/glm-home
        REPO/.glm/skills/glm-repo
        APP/.claude/skills/claude-app/inner
        APP/.glm/skills/shared
        hidden:
        REPO/.glm/skills/shared: the nearest of a project's folders wins
        APP/.claude/skills/shared: .glm/skills (project) takes precedence over .claude/skills (project)
        REPO/.claude/skills/shared: .glm/skills (project) takes precedence over .claude/skills (project)
        ~/.glm/skills/shared: .glm/skills (project) takes precedence over ~/.glm/skills (user)
        ~/.claude/skills/shared: .glm/skills (project) takes precedence over ~/.claude/skills (user)
        warned:
        REPO/.claude/skills/broken/SKILL.md: line 1: the frontmatter has no closing `---` line
        APP/.glm/skills/for-others/SKILL.md: only compatible with `claude`, so glm ignores it
        """,
    # One folder, one level, no links to outside.
    "omega": """\
        ~/.omega/skills/omega-home
        ~/.omega/skills/shared
        warned:
        ~/.omega/skills/claude-home: the link points outside its folder, so it is not followed
        """,
    # The files that a skills.json lists, with or without frontmatter, if they exist inside the folder.
    "supercode": """\
        ~/.agent-skills/coding/review.md
        ~/.agent-skills/skillpm-home
        warned:
        ~/.agent-skills/skills.json: skills.2: the filePath of `secret` has an empty, `.` or `..` part, \
so it is refused: ../.ssh/id
        ~/.agent-skills/skills.json: skills.3: the file of `gone` is missing: coding/gone.md
        """,
    # Only the working directory and the home folder; .claude before .opencode; no skills behind links.
    "brutus": """\
        ~/.claude/skills/.hidden
        APP/.claude/skills/claude-app
        ~/.claude/skills/claude-home
        ~/.claude/skills/nested/deep
        APP/.claude/skills/claude-app/inner
        APP/.opencode/skill/opencode-app
        ~/.config/opencode/skill/opencode-home
        APP/.claude/skills/shared
        hidden:
        ~/.claude/skills/shared: .claude/skills (project) takes precedence over ~/.claude/skills (user)
        APP/.opencode/skill/shared: .claude/skills (project) takes precedence over .opencode/skill (project)
        ~/.config/opencode/skill/shared: .claude/skills (project) takes precedence over ~/.config/opencode/skill (user)
        """,
    # Skills with the same name side by side; a SKILL.md that is a link is ignored, and so are hidden folders.
    "codex": """\
        APP/.agents/skills/agents-app
        ~/.agents/skills/agents-home
        REPO/.agents/skills/agents-repo
        ~/.codex/skills/codex-home
        ~/.codex/skills/.system/codex-own
        APP/.agents/skills/agents-app/inner
        APP/.agents/skills/shared
        REPO/.agents/skills/shared
        ~/.agents/skills/shared
        warned:
        REPO/.agents/skills/shared/SKILL.md: duplicate name `shared`; codex shows both, the other is \
APP/.agents/skills/shared/SKILL.md
        ~/.agents/skills/shared/SKILL.md: duplicate name `shared`; codex shows both, the other is \
REPO/.agents/skills/shared/SKILL.md
        """,
    # Skills are not searched for nested ones, so `inner` is part of `agents-app`.
    "agentskills": """\
        APP/.agents/skills/agents-app
        ~/.agents/skills/agents-home
        REPO/.agents/skills/agents-repo
        APP/.agents/skills/linked-file
        APP/.agents/skills/shared
        hidden:
        REPO/.agents/skills/shared: the nearest of a project's folders wins
        ~/.agents/skills/shared: .agents/skills (project) takes precedence over ~/.agents/skills (user)
        """,
    # A host without a profile: its folder in the project, then the user's.
    "cursor": """\
        APP/.agents/skills/agents-app
        REPO/.agents/skills/agents-repo
        ~/.cursor/skills/cursor-home
        APP/.agents/skills/linked-file
        APP/.agents/skills/shared
        hidden:
        REPO/.agents/skills/shared: the nearest of a project's folders wins
        ~/.cursor/skills/shared: .agents/skills (project) takes precedence over ~/.cursor/skills (user)
        """,
}


def render(found: Discovery) -> Iterator[str]:
    """Yield the result as lines of text, each skill by its folder."""
    own = [skill for skill in found.skills if skill.scope != "bundled" or found.agent != "skillpm"]
    yield from (skill.path for skill in own)
    yield from ["hidden:"] * bool(found.shadowed)
    yield from (f"{skill.path}: {skill.why}" for skill in found.shadowed)
    yield from ["again:"] * bool(found.again)
    yield from (f"{skill.path}: {skill.winner}" for skill in found.again)


@pytest.mark.parametrize("agent", SEEN)
def test_every_host_sees_what_its_specification_says(full: HostWorkspace, agent: str) -> None:
    found = discover(agent, settings=full.settings())
    text = "".join(f"{line}\n" for line in render(found)).replace("/SKILL.md", "")
    text += "".join(f"{line}\n" for line in ["warned:" * bool(found.warnings), *map(str, found.warnings)] if line)
    expected = "".join(f"{line.strip()}\n" for line in SEEN[agent].splitlines() if line.strip())
    assert full.shorten_paths(text) == expected


@pytest.mark.parametrize("agent", SEEN)
def test_winner_of_a_hidden_skill_is_visible(full: HostWorkspace, agent: str) -> None:
    found = discover(agent, settings=full.settings())
    assert {hidden.winner for hidden in found.shadowed} <= {skill.path for skill in found.skills}
    assert all(found.get(hidden.name) for hidden in found.shadowed)
    assert len({skill.path for skill in found.skills}) == len(found.skills)


def test_discovery_changes_nothing_and_is_repeatable(full: HostWorkspace) -> None:
    before = sorted((path, path.lstat().st_mtime_ns) for path in Path(full.root).rglob("*"))
    first = [discover(agent, settings=full.settings()) for agent in SEEN]
    assert [discover(agent, settings=full.settings()) for agent in SEEN] == first
    assert sorted((path, path.lstat().st_mtime_ns) for path in Path(full.root).rglob("*")) == before


def test_skillpm_sees_bundled_skills_last(tmp_path: Path) -> None:
    full = create_full_workspace(tmp_path)
    full.write_skill("home/code/repo/app/.agent-skills/testing", description="My own.")
    found = discover(settings=full.settings())
    assert [place.profile_root.scope for place in found.roots] == ["project", "project", "user", "system", "bundled"]
    assert {skill.name for skill in found.skills if skill.scope == "bundled"} >= {"code-review", "skill-creator"}
    mine = found.get("testing")
    assert mine is not None
    assert (mine.description, mine.scope) == ("My own.", "project")
    hidden = next(skill for skill in found.shadowed if skill.name == "testing")
    assert hidden.why.startswith(".agent-skills (project) takes precedence over ")
    assert hidden.why.endswith(" (bundled)")
