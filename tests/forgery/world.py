"""A project that has something in every file below `.skillpm`, and copies of it as a checkout would bring them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from kit import Repository, Sandbox, make_skill, prefix_paths
from kit.sandbox import Environment

HERE = ".agent-skills"
OURS = f"{HERE}/.skillpm"
DOCUMENTS = ("skills.json", "skills.lock")
# Folders in which a command may write; everything else in the sandbox is watched.
OWN = (HERE, ".claude/skills", ".agents/skills")
KILLED = (
    "import os, sys\nfrom skillpm.installer import transaction\n"
    "transaction.finish = lambda *_: os._exit(9)\n"
    "from skillpm.cli.main import main\nmain(sys.argv[1:])\n"
)
Content = Mapping[str, bytes]


class World(Sandbox):
    """A sandbox that shares its cache with its copies."""

    def __init__(self, root: Path, shared_cache: Path) -> None:
        super().__init__(root)
        self.shared_cache = shared_cache

    def environment(self, changes: Environment | None = None) -> dict[str, str]:
        """Build the environment: flushing and the place of the cache are not what is tried here."""
        ours = {"SKILLPM_CACHE_DIR": str(self.shared_cache), "SKILLPM_FSYNC": "0"}
        return super().environment({**ours, **(changes or {})})

    def documents(self) -> dict[str, str]:
        """Return manifest and lockfile."""
        return {name: self.read(name) for name in DOCUMENTS}

    def kill(self, *words: str) -> None:
        """Run a command that dies as soon as its journal is written."""
        command = [sys.executable, "-c", KILLED, *words]
        done = subprocess.run(command, cwd=self.work, env=self.environment(), capture_output=True, check=False)
        assert done.returncode == 9, done.stderr

    def skill_files(self, name: str) -> Content | None:
        """Return the files of a skill, read without skillpm; None if its folder is missing or a link."""
        folder = self.work / HERE / name
        if folder.is_symlink() or not folder.is_dir():
            return None
        return {
            str(path.relative_to(folder)): os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            for path in folder.rglob("*")
            if path.is_symlink() or path.is_file()
        }

    def watched(self) -> dict[str, tuple[object, ...]]:
        """Return mode, inode, time and content of everything that no command may touch."""
        return {
            path: entry for path, entry in self.all_files() if not path.startswith(tuple(f"work/{own}/" for own in OWN))
        }

    def all_files(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        """Yield everything in the sandbox but manifest, lockfile, the state folder and what skillpm may create."""
        created = {f"work/{own}" for own in (*OWN, ".claude", ".agents")} | {f"work/{name}" for name in DOCUMENTS}
        for folder, folders, files in os.walk(self.root):
            for name in (*folders, *files):
                path = Path(folder, name)
                relative = str(path.relative_to(self.root))
                if relative in created or relative == "work" or relative.startswith("home/.local"):
                    continue
                state = path.lstat()
                is_file = path.is_file() and not path.is_symlink()
                content = path.read_bytes() if is_file else os.readlink(path) if path.is_symlink() else ""
                yield relative, (state.st_mode, state.st_ino, state.st_mtime_ns if is_file else 0, content)


class Worlds:
    """A project, its upstream, and the project of somebody else with other content under the same names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.upstream = Repository.create(folder / "upstream")
        self.publish("good")
        self.upstream.tag("v1.0.0")
        self.well = self._installed(folder / "well")
        self.other = self._installed_by_another(folder / "other")
        self.publish("newer")
        self.interrupted = self._copy(self.well, folder / "interrupted")
        self.interrupted.kill("update")
        self._add_remains(self.interrupted)

    def publish(self, word: str, branch: str = "main") -> None:
        """Publish a state of all skills."""
        for name in ("pdf", "docx", "xlsx"):
            files = make_skill(name, f"Says {word}.", body=f"{word} {name}\n") | {
                "scripts/run.sh": f"echo {word}\n".encode()
            }
            self.upstream.write(
                prefix_paths(f"skills/{name}", files),
                executable=[f"skills/{name}/scripts/run.sh"],
                symlinks={f"skills/{name}/again.md": "SKILL.md"},
            )
        self.upstream.commit(word, branch=branch)

    def _installed(self, root: Path) -> World:
        world = World(root, self.folder / "cache")
        world.git_config("[safe]\n\tdirectory = *\n")
        world.write("skills.json", json.dumps({"skills": {}, "agents": ["claude-code"]}) + "\n")
        for name in ("style", "live"):
            world.write_files(prefix_paths(f"mine/{name}", make_skill(name, body=f"good {name}\n")))
        world.write_files(prefix_paths(f"{HERE}/mine", make_skill("mine", body="good mine\n")))
        _write_outside(world)
        # A flat file whose old registry says more of it than it says itself: `inherited` in the receipt.
        world.write(f"{HERE}/old.md", "# Old\n\nDo it the old way.\n")
        entry = {"name": "old", "description": "Old.", "triggers": ["do old"], "category": "past", "filePath": "old.md"}
        world.write(f"{HERE}/skills.json", json.dumps({"skills": [entry]}))
        world.run("migrate", check=True)
        url = self.upstream.file_url
        world.write_files(prefix_paths(".claude/skills/docx", make_skill("docx", body="mine before\n")))
        world.run("install", f"{url}@pdf", f"{url}@docx", "--force", check=True)
        world.run("install", f"{url}#v1.0.0@xlsx", "testing", "./mine/style", check=True)
        world.run("install", "./mine/live", "--link", check=True)
        world.run("link", "codex", env={"SKILLPM_LINK_MODE": "copy"}, check=True)
        world.write(f"{HERE}/pdf/SKILL.md", "my edit\n")
        world.run("sync", "--force", check=True)
        world.run("sync", check=True)
        assert world.run("verify").code == 0
        return world

    def _installed_by_another(self, root: Path) -> World:
        """Return a project in which the same names are other skills, interrupted on another machine."""
        self.publish("evil", branch="pull/7")
        world = World(root, self.folder / "cache-of-another")
        world.git_config("[safe]\n\tdirectory = *\n")
        world.write("skills.json", json.dumps({"skills": {}, "agents": ["claude-code"]}) + "\n")
        world.run("install", f"{self.upstream.file_url}#pull/7", "--all", check=True)
        world.run("sync", check=True)
        self.publish("evil again", branch="pull/7")
        world.kill("update")
        return world

    def _add_remains(self, world: World) -> None:
        """Add what an older interruption may leave: trash, undeletable files, rejected journals."""
        world.write_files(prefix_paths(f"{OURS}/trash/docx-1", make_skill("docx", body="trash\n")))
        world.write(f"{OURS}/left/1/x", "left")
        world.write(f"{OURS}/rejected/journal-1.json", world.read(f"{OURS}/journal.json"))
        world.write_files(prefix_paths(".claude/skills/.pdf.skillpm-new", make_skill("pdf", body="half\n")))

    def _copy(self, world: World, root: Path) -> World:
        subprocess.run(["cp", "-a", str(world.root), str(root)], check=True)
        return World(root, self.folder / "cache")

    @contextmanager
    def copy(self, world: World) -> Iterator[World]:
        """Yield a temporary copy of a world."""
        copy = self._copy(world, self.folder / f"copy-{os.getpid()}")
        try:
            yield copy
        finally:
            shutil.rmtree(copy.root)

    def locked_files(self, world: World) -> dict[str, Content | None]:
        """Return the files that the lockfile means, from git and the folders themselves; None for a live link."""
        locked = json.loads(world.read("skills.lock"))["skills"]
        return {name: self._source_files(world, skill["source"]) for name, skill in locked.items()}

    def _source_files(self, world: World, source: dict[str, str]) -> Content | None:
        if "git" in source:
            return _git_files(self.upstream, source["path"], source["commit"])
        if "bundled" in source:
            return _folder_files(Path(__file__).parents[2] / "bundled" / source["bundled"])
        return None if source.get("link") else _folder_files(world.work / source["path"])


@cache
def _git_files(repository: Repository, path: str, commit: str) -> Content:
    files = repository.read_files(path, commit)
    return {name: files[data.decode()][1] if mode == "120000" else data for name, (mode, data) in files.items()}


def _folder_files(folder: Path) -> Content:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _write_outside(world: World) -> None:
    """Write what an attacker would like to change: files of the user, of the project, and of a project beside it."""
    for path in ("../outside/victim.txt", "../outside/folder/file", "../home/.ssh/id_rsa", "../home/.bashrc"):
        world.write(path, "precious\n")
    for path in ("src/main.py", ".git/hooks/pre-commit.sample", ".git/HEAD", ".claude/settings.json"):
        world.write(path, "precious\n")
    world.write_files(prefix_paths("../home/.claude/skills/own", make_skill("own")))
    world.write_files(prefix_paths("../outside/.agent-skills/pdf", make_skill("pdf", body="beside\n")))
