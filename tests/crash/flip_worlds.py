"""Worlds in which a byte can be spoilt: one that is well, one that was interrupted, and what was published."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from crash.stories import HERE, World
from indexes.world import IndexPublisher, serve_index
from kit import GitServer, Repository, make_skill, prefix_paths
from kit.journals import bind_journal

from skillpm.installer.disk.journal import read_inode

OURS = f"{HERE}/.skillpm"
JOURNAL = f"{OURS}/journal.json"
MINE = prefix_paths(f"{HERE}/mine", make_skill("mine", "By hand.", body="my own words\n"))
EDITED = "testing"
GIT = ("red-0", "red-1", "blue-0", "blue-1")
WANTED = (*GIT, EDITED, "cards")
KILLED = (
    "import os, sys\nfrom skillpm.installer import transaction\n"
    "transaction.finish = lambda *_: os._exit(9)\n"
    "from skillpm.cli.main import main\nmain(sys.argv[1:])\n"
)
Content = Mapping[str, bytes]


class Worlds:
    """A world that is well, one that was interrupted, and what was published under each name."""

    def __init__(self, folder: Path, server: GitServer) -> None:
        self.folder = folder
        self.published: dict[str, list[Content]] = {}
        self.repositories = {colour: Repository.create(folder / colour) for colour in ("red", "blue")}
        self.desk, self.server = IndexPublisher(folder / "desk"), server
        self.publish("first")
        self.well = self._installed(folder / "well")
        shutil.copytree(self.well.root, folder / "interrupted", symlinks=True)
        self.publish("second")
        self.interrupted = World(folder / "interrupted")
        words = [sys.executable, "-c", KILLED, "update"]
        world = self.interrupted
        done = subprocess.run(words, cwd=world.work, env=world.environment(), capture_output=True, check=False)
        assert done.returncode == 9, done.stderr

    def publish(self, word: str) -> None:
        """Publish a state of all skills."""
        for name in GIT:
            files = make_skill(name, f"Says {word}.", body=f"{name} {word}\n" * 40) | {
                "notes/a.md": f"{word} {name}\n".encode()
            }
            repository = self.repositories[name.partition("-")[0]]
            repository.write(prefix_paths(f"skills/{name}", files))
            self.published.setdefault(name, []).append(files)
        for repository in self.repositories.values():
            repository.commit(word)
        self.desk.write_draft("cards", {"first": "1.0.0", "second": "1.1.0"}[word], body=f"cards {word}\n" * 20)
        self.desk.build()
        self.published.setdefault("cards", []).append(
            {"SKILL.md": (self.desk.work / "skills/cards/SKILL.md").read_bytes()}
        )
        serve_index(self.server, self.desk.index_folder)

    def _installed(self, folder: Path) -> World:
        world = World(folder)
        world.git_config("[safe]\n\tdirectory = *\n")
        index = {"name": "acme", "url": f"{self.server.address}/"}
        world.write("skills.json", json.dumps({"skills": {}, "agents": ["claude-code"], "indexes": [index]}) + "\n")
        urls = [repository.file_url for repository in self.repositories.values()]
        world.run("install", *urls, "--all", check=True)
        world.run("install", "testing", "cards", check=True)
        world.write_files(MINE)
        world.run("registry", "build", check=True)
        world.run("search", "says", check=True)
        files = {path.name: path.read_bytes() for path in (world.work / HERE / EDITED).iterdir() if path.is_file()}
        files |= {
            f"{path.parent.name}/{path.name}": path.read_bytes() for path in (world.work / HERE / EDITED).glob("*/*")
        }
        self.published[EDITED] = [files]
        return world

    @contextmanager
    def copy(self, world: World) -> Iterator[World]:
        """Yield a temporary copy of a world."""
        target = self.folder / f"spoilt-{os.getpid()}"
        subprocess.run(["cp", "-a", "--reflink=auto", str(world.root), str(target)], check=True)
        copy = World(target)
        if (copy.work / JOURNAL).exists():
            _renumber(copy)
        try:
            yield copy
        finally:
            shutil.rmtree(target)


def _renumber(world: World) -> None:
    """Let the journal of a copy speak of the copy's folders."""
    journal = json.loads(world.read(JOURNAL))
    for name, row in journal["puts"].items():
        row[:2] = [read_inode(str(world.work / OURS / "staging" / name)), read_inode(str(world.work / HERE / name))]
    bind_journal(world.work / HERE, journal)
