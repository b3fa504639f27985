"""Every command that changes a skills directory, with a world of ten skills in which it has something to do."""

import json
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from kit import Entry, Repository, Sandbox, make_skill, prefix_paths, snapshot
from kit.sandbox import Environment

import skillpm

HERE = ".agent-skills"
RED = [f"red-{number}" for number in range(5)]
BLUE = [f"blue-{number}" for number in range(5)]
TEN = [*RED, *BLUE]
COPIES = {"SKILLPM_LINK_MODE": "copy"}
CONFIG = "~/.config/skillpm/config.toml"
PUBLIC = "public"
TREE = Path(skillpm.__file__).parent.parent
RUN = "import sys; sys.path.insert(0, {!r}); from skillpm.cli.entry_point import main; sys.exit(main())"
AT_ONCE = {"SOURCE_DATE_EPOCH": "0"}  # an index says when a version was published


class World(Sandbox):
    """A sandbox beside the repositories it installs from; copies of it share these."""

    extra: Environment = MappingProxyType({})

    def environment(self, changes: Environment | None = None) -> dict[str, str]:
        """Build the environment: what a story sets holds for all its commands."""
        return super().environment({"PYTHONDONTWRITEBYTECODE": "1", **self.extra, **(changes or {})})

    def snapshot(self, path: str = ".", *, ignore: Collection[str] = ()) -> dict[str, Entry]:
        """Record everything below a folder; with the whole working directory, the user's config.toml, too."""
        found = super().snapshot(path, ignore=ignore)
        config = self.home / ".config/skillpm"
        if path == "." and (config / "config.toml").exists():
            found[CONFIG] = snapshot(config)["config.toml"]
        return found


@dataclass(frozen=True, kw_only=True)
class Story:
    """A command to be killed: what is there before it, and how the change is finished or left.

    `is_settled`: after the command, and without it, `sync` and `verify` have nothing to report. If an
    edit must be reported afterwards, their output must equal that of a run without a kill.
    `publishes`: it writes an index, which `sync` does not look at; the same command finishes it. `repeats`: only the
    same command removes what is left of it, since no other uses that.
    """

    words: tuple[str, ...]
    prepare: Callable[[World, "Upstream"], None]
    is_settled: bool = True
    publishes: bool = False
    repeats: bool = False
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
    """A project that has only local skills."""
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
    """Ten flat files in three places, one of them deep, every third without frontmatter, and an old registry."""
    world.run("init", check=True)
    entries = []
    for number in range(10):
        head = "" if number % 3 == 0 else f"---\nname: flat-{number}\ndescription: Skill {number}.\n---\n"
        path = f"{('', 'tools/', 'words/in/depth/')[number % 3]}flat-{number}.md"
        world.write(f"{HERE}/{path}", f"{head}# Skill {number}\n\nWords of skill {number}.\n")
        entries.append({"name": f"flat-{number}", "triggers": [f"do {number}"], "filePath": path})
    world.write(f"{HERE}/tools/README.md", "# Tools\n")
    world.write(f"{HERE}/skills.json", json.dumps({"version": "1", "skills": entries}))


def _set_aside(world: World, upstream: Upstream) -> None:
    """A local skill that `--force` backed up, and that is not installed now."""
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


def _locked_elsewhere(world: World, upstream: Upstream) -> None:
    """A project that another tool has locked the skills of."""
    _empty(world, upstream)
    entries = {
        name: {"source": url, "sourceType": "git", "skillPath": f"skills/{name}/SKILL.md", "computedHash": ""}
        for url, names in zip(upstream.urls, (RED, BLUE), strict=True)
        for name in names
    }
    world.write("skills-lock.json", json.dumps({"version": 1, "skills": entries}))


def _disabled(world: World, upstream: Upstream) -> None:
    _installed(world, upstream)
    world.run("disable", *RED, check=True)


def _not_locked(world: World, upstream: Upstream) -> None:
    """A checkout in which only the manifest is there."""
    _installed(world, upstream)
    (world.work / "skills.lock").unlink()
    shutil.rmtree(world.work / HERE)
    shutil.rmtree(world.work / ".claude")


def _handmade(world: World, upstream: Upstream) -> None:
    """Skills that the registry does not know yet, and one that it knows otherwise."""
    _installed(world, upstream)
    world.write_files(prefix_paths(f"{HERE}/later", make_skill("later", "By hand, later.")))
    world.write_files(prefix_paths(f"{HERE}/mine", make_skill("mine", "By hand, written anew.")))


def _broken(world: World, upstream: Upstream) -> None:
    """An installation of which the registry, the stat cache and a link are gone."""
    _installed(world, upstream)
    for path in (f"{HERE}/skills.json", f"{HERE}/.skillpm/scan.json", ".claude/skills/blue-1"):
        (world.work / path).unlink()


def _bundled(world: World, upstream: Upstream) -> None:
    """Bundled skills that are locked, and copied, by a skillpm with older ones; that of the others is as it is."""
    _empty(world, upstream)
    tree = world.root / "older"
    for name in ("skillpm", "bundled"):
        shutil.copytree(TREE / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (tree / "bundled").glob("*/SKILL.md"):
        file.write_text(file.read_text().replace('version: "1.0.0"', 'version: "0.9.0"'))
    older = World(world.root)
    older.command = (sys.executable, "-c", RUN.format(str(tree)))  # type: ignore[misc]
    older.run("install", "code-review", "testing", check=True)
    shutil.rmtree(tree)


def _unused(world: World, upstream: Upstream) -> None:
    """A cache with skills that nothing here needs any more."""
    _installed(world, upstream)
    world.run("uninstall", *BLUE, check=True)


def _drafts(world: World, version: str) -> None:
    for name in RED:
        files = make_skill(name, f"Version {version}.", body=f"{version}\n" * 40, metadata={"version": version})
        world.write_files(prefix_paths(f"drafts/{name}", files))


def _published(world: World, upstream: Upstream) -> None:
    """An index of five skills, and the next version of each."""
    _empty(world, upstream)
    _drafts(world, "1.0.0")
    world.run("index", "build", "drafts", "--out", PUBLIC, "--name", "acme", env=AT_ONCE, check=True)
    _drafts(world, "1.1.0")


def _published_with_more(world: World, upstream: Upstream) -> None:
    """An index with archives that no version names."""
    _published(world, upstream)
    for name in RED:
        archive = world.work / PUBLIC / f"archives/{name}-1.0.0.tar.gz"
        (archive.parent / f"{name}-0.9.0.tar.gz").write_bytes(archive.read_bytes())


def _mirrored_in_part(world: World, upstream: Upstream) -> None:
    """A mirror in one file that has half of the skills."""
    _installed(world, upstream)
    lock = json.loads(world.read("skills.lock"))
    world.write("red.lock", json.dumps({**lock, "skills": {name: lock["skills"][name] for name in RED}}))
    world.run("mirror", "red.lock", f"{PUBLIC}/bundle.tar", check=True)


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
    "import": Story(words=("import",), prepare=_locked_elsewhere),
    "disable": Story(words=("disable", *RED), prepare=_installed),
    "enable": Story(words=("enable", *RED), prepare=_disabled),
    "lock": Story(words=("lock",), prepare=_not_locked),
    "install bundled": Story(words=("install", "code-review", "testing"), prepare=_empty),
    "update bundled": Story(words=("update",), prepare=_bundled),
    "uninstall bundled": Story(words=("uninstall", "code-review", "testing"), prepare=_bundled),
    "lock bundled": Story(words=("lock", "--upgrade"), prepare=_bundled),
    "registry build": Story(words=("registry", "build"), prepare=_handmade),
    "doctor": Story(words=("doctor", "--fix"), prepare=_broken),
    "config set": Story(words=("config", "set", "agents", "codex", "claude-code"), prepare=_installed),
    "cache prune": Story(words=("cache", "prune", "--unused-for", "0"), prepare=_unused, repeats=True),
    "index build": Story(
        words=("index", "build", "drafts", "--out", PUBLIC), prepare=_published, publishes=True, environment=AT_ONCE
    ),
    "index yank": Story(words=("index", "yank", "red-0@1.0.0", PUBLIC), prepare=_published, publishes=True),
    "index prune": Story(words=("index", "prune", PUBLIC), prepare=_published_with_more, publishes=True),
    "mirror": Story(words=("mirror", "skills.lock", PUBLIC), prepare=_installed, publishes=True),
    "mirror in one file": Story(
        words=("mirror", "skills.lock", f"{PUBLIC}/bundle.tar"), prepare=_mirrored_in_part, publishes=True
    ),
    "restore in a link's place": Story(words=("backup", "restore", "red-3-1"), prepare=_linked_over, is_settled=False),
}
