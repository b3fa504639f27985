"""One world with skills under every host's folders: what each host sees of it, as its specification says."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_hosts.world import HostWorkspace, create_full_workspace

from skillpm import Discovery, discover


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> HostWorkspace:
    return create_full_workspace(tmp_path_factory.mktemp("full"))


SEEN = {
    # The nearest skills directory first, then the user's; what ships with the tool is looked at below.
    "skillpm": """\
        APP/.agent-skills/shared
        APP/.agent-skills/skillpm-app
        ~/.agent-skills/skillpm-home
        REPO/.agent-skills/skillpm-repo
        hidden:
        REPO/.agent-skills/shared: of a project's folders, the nearest one counts
        ~/.agent-skills/shared: .agent-skills (project) comes before ~/.agent-skills (user)
        """,
    # One level deep; what is yours comes before the project's.
    "claude-code": """\
        APP/.claude/skills/agents-repo
        APP/.claude/skills/claude-app
        ~/.claude/skills/claude-home
        REPO/.claude/skills/claude-repo
        ~/.claude/skills/shared
        hidden:
        APP/.claude/skills/shared: ~/.claude/skills (user) comes before .claude/skills (project)
        REPO/.claude/skills/shared: ~/.claude/skills (user) comes before .claude/skills (project)
        warned:
        REPO/.claude/skills/broken/SKILL.md: line 1: the frontmatter is not closed by a `---` line
        REPO/.claude/skills/self: the link leads nowhere
        """,
    # Its own folders before all others, the outermost one of a project before the nearer ones; any depth, skills in
    # skills; hidden folders in .claude and .agents, but not in .opencode.
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
        APP/.claude/skills/claude-app/inner: .agents/skills (project) comes before .claude/skills (project)
        APP/.opencode/skill/shared: of a project's folders, the outermost one counts
        ~/.config/opencode/skill/shared: .opencode/skills (project) comes before ~/.config/opencode/skill (user)
        REPO/.agents/skills/shared: .opencode/skills (project) comes before .agents/skills (project)
        REPO/.claude/skills/shared: .opencode/skills (project) comes before .claude/skills (project)
        APP/.agents/skills/shared: .opencode/skills (project) comes before .agents/skills (project)
        APP/.claude/skills/shared: .opencode/skills (project) comes before .claude/skills (project)
        ~/.agents/skills/shared: .opencode/skills (project) comes before ~/.agents/skills (user)
        ~/.claude/skills/shared: .opencode/skills (project) comes before ~/.claude/skills (user)
        again:
        APP/.claude/skills/agents-repo: REPO/.agents/skills/agents-repo
        warned:
        REPO/.claude/skills/self: the link leads nowhere
        REPO/.claude/skills/broken/SKILL.md: line 1: the frontmatter is not closed by a `---` line
        """,
    # .glm before .claude, the project before the home folder; no skill that is for another host.
    "glm": """\
        ~/.claude/skills/.hidden
        APP/.claude/skills/agents-repo
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
        REPO/.glm/skills/shared: of a project's folders, the nearest one counts
        APP/.claude/skills/shared: .glm/skills (project) comes before .claude/skills (project)
        REPO/.claude/skills/shared: .glm/skills (project) comes before .claude/skills (project)
        ~/.glm/skills/shared: .glm/skills (project) comes before ~/.glm/skills (user)
        ~/.claude/skills/shared: .glm/skills (project) comes before ~/.claude/skills (user)
        warned:
        REPO/.claude/skills/self: the link leads nowhere
        REPO/.claude/skills/broken/SKILL.md: line 1: the frontmatter is not closed by a `---` line
        APP/.glm/skills/for-others/SKILL.md: it is for `claude`, so glm leaves it out
        """,
    # One folder, one level, no link that leads out.
    "omega": """\
        ~/.omega/skills/omega-home
        ~/.omega/skills/shared
        warned:
        ~/.omega/skills/claude-home: the link leads out of its folder, so it is not followed
        """,
    # What a skills.json lists, with frontmatter or without, as far as it is there and inside.
    "supercode": """\
        ~/.agent-skills/coding/review.md
        ~/.agent-skills/skillpm-home
        warned:
        ~/.agent-skills/skills.json: skills.2: the filePath of `secret` has an empty, `.` or `..` part, \
so it is refused: ../.ssh/id
        ~/.agent-skills/skills.json: skills.3: the file of `gone` is not there: coding/gone.md
        """,
    # Only the working directory and the home folder; .claude before .opencode.
    "brutus": """\
        ~/.claude/skills/.hidden
        APP/.claude/skills/agents-repo
        APP/.claude/skills/claude-app
        ~/.claude/skills/claude-home
        ~/.claude/skills/nested/deep
        APP/.claude/skills/claude-app/inner
        APP/.opencode/skill/opencode-app
        ~/.config/opencode/skill/opencode-home
        APP/.claude/skills/shared
        hidden:
        ~/.claude/skills/shared: .claude/skills (project) comes before ~/.claude/skills (user)
        APP/.opencode/skill/shared: .claude/skills (project) comes before .opencode/skill (project)
        ~/.config/opencode/skill/shared: .claude/skills (project) comes before ~/.config/opencode/skill (user)
        """,
    # Skills of one name side by side; a SKILL.md that is a link is none, and neither is what is hidden.
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
        REPO/.agents/skills/shared/SKILL.md: `shared` is there twice, and codex shows both: \
APP/.agents/skills/shared/SKILL.md
        ~/.agents/skills/shared/SKILL.md: `shared` is there twice, and codex shows both: \
REPO/.agents/skills/shared/SKILL.md
        """,
    # A skill ends the search below it, so `inner` is a part of `agents-app`.
    "agentskills": """\
        APP/.agents/skills/agents-app
        ~/.agents/skills/agents-home
        REPO/.agents/skills/agents-repo
        APP/.agents/skills/linked-file
        APP/.agents/skills/shared
        hidden:
        REPO/.agents/skills/shared: of a project's folders, the nearest one counts
        ~/.agents/skills/shared: .agents/skills (project) comes before ~/.agents/skills (user)
        """,
    # A host in simple form: its folder in the project, then the user's.
    "cursor": """\
        APP/.agents/skills/agents-app
        REPO/.agents/skills/agents-repo
        ~/.cursor/skills/cursor-home
        APP/.agents/skills/linked-file
        APP/.agents/skills/shared
        hidden:
        REPO/.agents/skills/shared: of a project's folders, the nearest one counts
        ~/.cursor/skills/shared: .agents/skills (project) comes before ~/.cursor/skills (user)
        """,
}


def told(found: Discovery) -> Iterator[str]:
    """Write down what was found, each skill by its folder."""
    own = [skill for skill in found.skills if skill.scope != "bundled" or found.agent != "skillpm"]
    yield from (skill.path for skill in own)
    yield from ["hidden:"] * bool(found.shadowed)
    yield from (f"{skill.path}: {skill.why}" for skill in found.shadowed)
    yield from ["again:"] * bool(found.again)
    yield from (f"{skill.path}: {skill.winner}" for skill in found.again)


@pytest.mark.parametrize("agent", SEEN)
def test_every_host_sees_what_its_specification_says(full: HostWorkspace, agent: str) -> None:
    found = discover(agent, settings=full.settings())
    text = "".join(f"{line}\n" for line in told(found)).replace("/SKILL.md", "")
    text += "".join(f"{line}\n" for line in ["warned:" * bool(found.warnings), *map(str, found.warnings)] if line)
    expected = "".join(f"{line.strip()}\n" for line in SEEN[agent].splitlines() if line.strip())
    assert full.shorten_paths(text) == expected


@pytest.mark.parametrize("agent", SEEN)
def test_the_winner_of_what_is_hidden_is_the_skill_that_is_seen(full: HostWorkspace, agent: str) -> None:
    found = discover(agent, settings=full.settings())
    assert {hidden.winner for hidden in found.shadowed} <= {skill.path for skill in found.skills}
    assert all(found.get(hidden.name) for hidden in found.shadowed)
    assert len({skill.path for skill in found.skills}) == len(found.skills)


def test_looking_changes_nothing_and_says_the_same_twice(full: HostWorkspace) -> None:
    before = sorted((path, path.lstat().st_mtime_ns) for path in Path(full.root).rglob("*"))
    first = [discover(agent, settings=full.settings()) for agent in SEEN]
    assert [discover(agent, settings=full.settings()) for agent in SEEN] == first
    assert sorted((path, path.lstat().st_mtime_ns) for path in Path(full.root).rglob("*")) == before


def test_skillpm_sees_what_ships_with_it_last_of_all(tmp_path: Path) -> None:
    full = create_full_workspace(tmp_path)
    full.write_skill("home/code/repo/app/.agent-skills/testing", description="My own.")
    found = discover(settings=full.settings())
    assert [place.profile_root.scope for place in found.roots] == ["project", "project", "user", "system", "bundled"]
    assert {skill.name for skill in found.skills if skill.scope == "bundled"} >= {"code-review", "skill-creator"}
    mine = found.get("testing")
    assert mine is not None
    assert (mine.description, mine.scope) == ("My own.", "project")
    hidden = next(skill for skill in found.shadowed if skill.name == "testing")
    assert hidden.why.startswith(".agent-skills (project) comes before ")
    assert hidden.why.endswith(" (bundled)")
