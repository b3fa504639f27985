"""Every command that changes a skills directory, with a world of ten skills in which it has something to do."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from kit import Repository, Sandbox, make_skill, prefix_paths
from kit.sandbox import Environment

HERE = ".agent-skills"
RED = [f"red-{number}" for number in range(5)]
BLUE = [f"blue-{number}" for number in range(5)]
TEN = [*RED, *BLUE]
COPIES = {"SKILLPM_LINK_MODE": "copy"}


class World(Sandbox):
    """A sandbox beside the repositories it installs from; copies of it share these."""

    extra: Environment = MappingProxyType({})

    def environment(self, changes: Environment | None = None) -> dict[str, str]:
        """Build the environment: what a story sets holds for all its commands."""
        return super().environment({"PYTHONDONTWRITEBYTECODE": "1", **self.extra, **(changes or {})})


@dataclass(frozen=True, kw_only=True)
class Story:
    """A command to be killed: what is there before it, and how the change is finished or left.

    `is_settled`: after the command, and without it, `sync` and `verify` have nothing to object to. Where somebody's
    edit is to be seen afterwards they do, and then they have to say the same as if nobody had been killed.
    """

    words: tuple[str, ...]
    prepare: Callable[[World, "Upstream"], None]
    is_settled: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)


class Upstream:
    """Two repositories of five skills each, in which time can pass."""

    def __init__(self, folder: Path) -> None:
        self.repositories = [Repository.create(folder / "red"), Repository.create(folder / "blue")]
        self.urls = [repository.file_url for repository in self.repositories]
        self.publish("first")

    def publish(self, word: str) -> None:
        """Publish a state in which every skill says `word`; of the second on, files come and go."""
        for repository, names in zip(self.repositories, (RED, BLUE), strict=True):
            for name in names:
                files = make_skill(name, f"Says {word}.", body=f"{word}\n" * 40) | {
                    "scripts/run.sh": f"echo {word}\n",
                    f"notes/{word}.md": f"{name} {word}\n",
                }
                repository.remove([f"skills/{name}"] if word != "first" else [])
                repository.write(prefix_paths(f"skills/{name}", files), executable=[f"skills/{name}/scripts/run.sh"])
            repository.commit(word)


def _empty(world: World, upstream: Upstream) -> None:
    """A project that has nothing but what somebody made by hand."""
    world.git_config("[safe]\n\tdirectory = *\n")
    world.write("skills.json", json.dumps({"skills": {}, "agents": ["claude-code"]}) + "\n")
    world.write_files(prefix_paths(f"{HERE}/mine", make_skill("mine", "By hand.", body="my own words\n")))
    world.write_files(prefix_paths(".claude/skills/own", make_skill("own", "Not yours.", body="mine too\n")))
    world.run("registry", "build", check=True)


def _installed(world: World, upstream: Upstream) -> None:
    _empty(world, upstream)
    world.run("install", *upstream.urls, "--all", check=True)


def _outdated(world: World, upstream: Upstream) -> None:
    _installed(world, upstream)
    upstream.publish("second")


def _unlinked(world: World, upstream: Upstream) -> None:
    _installed(world, upstream)
    world.run("unlink", "claude-code", check=True)


def _edited(world: World, upstream: Upstream) -> None:
    """Edits in three skills, and a folder of the user's where one is to be linked."""
    _installed(world, upstream)
    world.write(f"{HERE}/red-0/SKILL.md", "my edit\n")
    world.write(f"{HERE}/blue-1/more.md", "my page\n")
    (world.work / f"{HERE}/blue-2/SKILL.md").unlink()
    (world.work / ".claude/skills/red-3").unlink()
    world.write_files(
        prefix_paths(".claude/skills/red-3", make_skill("red-3", "Mine.", body="a name that I had first\n"))
    )


def _flat(world: World, upstream: Upstream) -> None:
    """Ten flat files in three places, every third without frontmatter, and what an old registry says of them."""
    world.run("init", check=True)
    entries = []
    for number in range(10):
        head = "" if number % 3 == 0 else f"---\nname: flat-{number}\ndescription: Skill {number}.\n---\n"
        path = f"{('', 'tools/', 'words/')[number % 3]}flat-{number}.md"
        world.write(f"{HERE}/{path}", f"{head}# Skill {number}\n\nWords of skill {number}.\n")
        entries.append({"name": f"flat-{number}", "triggers": [f"do {number}"], "filePath": path})
    world.write(f"{HERE}/tools/README.md", "# Tools\n")
    world.write(f"{HERE}/skills.json", json.dumps({"version": "1", "skills": entries}))


def _set_aside(world: World, upstream: Upstream) -> None:
    """A skill made by hand that `--force` set aside, and that lies nowhere now."""
    _installed(world, upstream)
    world.write_files(
        prefix_paths(f"{HERE}/testing", make_skill("testing", "Mine.", body="my own tests\n") | {"a/b.md": "deep\n"})
    )
    world.run("install", "testing", "--force", check=True)
    world.run("uninstall", "testing", check=True)


def _set_aside_edited_again(world: World, upstream: Upstream) -> None:
    _installed(world, upstream)
    world.write(f"{HERE}/red-0/SKILL.md", "---\nname: red-0\ndescription: Mine.\n---\nfirst edit\n")
    world.run("sync", "--force", check=True)
    world.write(f"{HERE}/red-0/SKILL.md", "---\nname: red-0\ndescription: Mine.\n---\nsecond edit\n")


def _set_aside_at_agent(world: World, upstream: Upstream) -> None:
    """A folder of the user's in an agent's folder that was set aside for a link; the agent is linked no more."""
    _linked_over(world, upstream)
    world.run("unlink", "claude-code", check=True)


def _linked_over(world: World, upstream: Upstream) -> None:
    _empty(world, upstream)
    world.write_files(
        prefix_paths(".claude/skills/red-3", make_skill("red-3", "Mine.", body="a name that I had first\n"))
    )
    world.run("install", *upstream.urls, "--all", "--force", check=True)


def _copied(world: World, upstream: Upstream) -> None:
    _installed(world, upstream)


def _copied_outdated(world: World, upstream: Upstream) -> None:
    _outdated(world, upstream)


STORIES = {
    "install": Story(words=("install", "RED", "BLUE", "--all"), prepare=_empty),
    "update": Story(words=("update",), prepare=_outdated),
    "uninstall": Story(words=("uninstall", *TEN), prepare=_installed),
    "link": Story(words=("link", "claude-code", "codex"), prepare=_unlinked),
    "unlink": Story(words=("unlink", "claude-code"), prepare=_installed),
    "link by copies": Story(words=("link", "claude-code"), prepare=_unlinked, environment=COPIES),
    "update copies": Story(words=("update",), prepare=_copied_outdated, environment=COPIES),
    "unlink copies": Story(words=("unlink", "claude-code"), prepare=_copied, environment=COPIES),
    "migrate": Story(words=("migrate",), prepare=_flat),
    "sync over edits": Story(words=("sync", "--force"), prepare=_edited, is_settled=False),
    "restore": Story(words=("backup", "restore", "testing-1"), prepare=_set_aside),
    "restore over an edit": Story(
        words=("backup", "restore", "red-0-1", "--force"), prepare=_set_aside_edited_again, is_settled=False
    ),
    "restore into an agent's folder": Story(words=("backup", "restore", "red-3-1"), prepare=_set_aside_at_agent),
    "restore in a link's place": Story(words=("backup", "restore", "red-3-1"), prepare=_linked_over, is_settled=False),
}
