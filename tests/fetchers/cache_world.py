"""A project whose cache has every kind of file, and the faults that such a file may have."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from fetchers.world import Project
from indexes.world import IndexPublisher, serve_index
from kit import OciRegistry, Repository, Result, make_skill, prefix_paths
from kit.sandbox import without_rights
from oci.world import publish

OTHER = 12345
SKILLS = ("pdf", "cards", "maps", "testing")
ABSENT = "not cached, and"
# Texts that blame a server, the network, an author, or the lockfile.
BLAME = (
    "report it to", "check the URL", "network connection", "could not be reached", "more data than", "no access to",
    "no git repository", "check the spelling", "does not match", "the server failed", "try again later", "was lost",
    "did not answer", "did not respond", "has no commit", "has no branch", "has no tag", "is empty", "no longer has",
    "invalid JSON", ABSENT, "who changed", "the history of", "git rejected", "cannot prove", "internal error",
    "Traceback",
)  # fmt: skip


class OrdinaryProject(Project):
    """A project whose commands run with the rights of an ordinary user."""

    command = without_rights(Project.command, "fowner", "chown")


def flip(path: Path) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    _rewrite(path, data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :] if data else b"?")


def _rewrite(path: Path, data: bytes) -> None:
    """Replace the content of a file: what is bound to its inode stays so."""
    path.chmod(0o644)
    path.write_bytes(data)


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _close(path: Path) -> None:
    path.chmod(0)


def _give_away(path: Path) -> None:
    os.chown(path, OTHER, OTHER, follow_symlinks=False)
    path.chmod(0o700 if path.is_dir() else 0o600)


FAULTS: Mapping[str, Callable[[Path], None]] = {
    "0 bytes": lambda path: _rewrite(path, b""),
    "40 bytes": lambda path: _rewrite(path, path.read_bytes()[:40]),
    "flipped": flip,
    "missing": _remove,
    "mode 0000": _close,
    "another uid": _give_away,
}
CONTENT_FAULTS = ("0 bytes", "40 bytes", "flipped")
# Each kind of file, with the pattern of its paths below `v1`; folders end with a slash.
KINDS: Mapping[str, str] = {
    "tag": "CACHEDIR.TAG",
    "store entry": "store/??/*",
    "store folder": "store/??/",
    "store": "store/",
    "pack": "git/*.git/objects/pack/*.pack",
    "pack index": "git/*.git/objects/pack/*.idx",
    "promisor": "git/*.git/objects/pack/*.promisor",
    "HEAD": "git/*.git/HEAD",
    "config": "git/*.git/config",
    "shallow": "git/*.git/shallow",
    "ref": "git/*.git/refs/skillpm/*",
    "refs": "git/*.git/refs/",
    "objects": "git/*.git/objects/",
    "pack folder": "git/*.git/objects/pack/",
    "repository": "git/*.git/",
    "repository lock": "git/*.git.lock",
    "lock holder": "git/*.git.lock.pid",
    "global config": "git/config-*",
    "empty folder": "git/empty/",
    "git": "git/",
    "proof": "proofs/*",
    "proofs": "proofs/",
    "index document": "indexes/*",
    "indexes": "indexes/",
    "catalog header": "search/*.json",
    "catalog": "search/*.sqlite",
    "verdict": "verdicts/*",
    "verdicts": "verdicts/",
    "answer": "answers/*",
    "answers": "answers/",
    "unpacked skill": "unpacked/*/*/SKILL.md",
    "use": "used/*",
}
# What else is taken away, so that commands have to read what is spoilt.
GIT_KINDS = {"pack", "pack index", "promisor", "HEAD", "config", "shallow", "ref", "refs", "objects", "pack folder",
             "repository", "repository lock", "lock holder", "global config", "empty folder", "git"}  # fmt: skip


class Run(NamedTuple):
    """A command on a copy of the world with one fault, and what came of it."""

    kind: str
    fault: str
    command: str
    outcome: str
    text: str


class CacheWorld:
    """A project with skills of git, an index, a registry and skillpm itself, and a newer version of each."""

    def __init__(self, folder: Path, server: OciRegistry, *, is_local: bool = False) -> None:
        """Create everything; with `is_local`, git fetches from a path, and so without a connection of ours."""
        folder.mkdir()
        self.folder, self.server = folder, server
        self.upstream = Repository.create(folder / "upstream")
        self.publisher = IndexPublisher(folder / "publisher")
        self._publish("1.0.0")
        self.git_url = self.upstream.file_url if is_local else server.serve("acme/skills", self.upstream)
        self.template = Project(folder / "template")
        index = {"name": "acme", "url": f"{server.address}/"}
        self.template.write("skills.json", json.dumps({"skills": {}, "indexes": [index]}) + "\n")
        self.template.run("install", *self.specs("pdf"), "testing", check=True)
        self.template.run("search", "cards", check=True)
        self.template.run("load", "pdf", check=True)
        self.template.run("load", f"{self.git_url}@pdf", check=True)
        self._publish("1.1.0")

    def specs(self, name: str) -> Sequence[str]:
        """Return the SPECs of the skills that are not bundled."""
        return f"{self.git_url}@{name}", "cards", f"oci://{self.server.host}/acme/maps"

    def _publish(self, version: str) -> None:
        for name in ("pdf", "ocr"):
            files = make_skill(name, body=f"{name} {version}\n" * 200) | {"data.bin": os.urandom(3_000)}
            self.upstream.write(prefix_paths(f"skills/{name}", files))
        self.upstream.commit(version)
        self.publisher.write_draft("cards", version, body=f"cards {version}\n" * 20)
        self.publisher.build()
        serve_index(self.server, self.publisher.index_folder)
        body = f"maps {version}\n" * 20
        publish(self.server, "acme/maps", version, make_skill("maps", body=body, metadata={"version": version}))

    def commands(self) -> Mapping[str, Sequence[str]]:
        """Return the commands that are run, by a short name."""
        return {
            "install": ("install", *self.specs("ocr")),
            "sync": ("sync", "--frozen"),
            "update": ("update",),
            "outdated": ("outdated",),
            "offline": ("sync", "--frozen", "--offline"),
        }

    @contextmanager
    def copy(self, *, ordinary: bool = False) -> Iterator[Project]:
        """Yield a copy of the project, whose bound files are bound again: another inode is another file."""
        target = self.folder / f"copy-{os.getpid()}"
        subprocess.run(["cp", "-a", str(self.template.root), str(target)], check=True)
        project = (OrdinaryProject if ordinary else Project).__new__(OrdinaryProject if ordinary else Project)
        project.root, project.home, project.work, project.cache = (
            target,
            *(target / name for name in ("home", "work", "cache")),
        )
        for path in (target / "cache/v1/verdicts").iterdir():
            state, text = path.stat(), path.read_text()
            path.write_text(re.sub(r'"inode": \d+', f'"inode": {state.st_ino}', text))
        try:
            yield project
        finally:
            for folder, _, _ in os.walk(target, topdown=True):
                os.chmod(folder, 0o700)
            shutil.rmtree(target)

    def try_fault(self, kind: str, fault: str, command: str) -> Run | None:
        """Run a command on a copy with one fault; None if that kind of file cannot have it."""
        is_folder = KINDS[kind].endswith("/")
        if is_folder and fault in CONTENT_FAULTS:
            return None
        with self.copy(ordinary=fault not in CONTENT_FAULTS) as project:
            words = self.commands()[command]
            self._prepare(project, kind, command)
            found = sorted((project.cache / "v1").glob(KINDS[kind].rstrip("/")))
            assert found, kind
            for path in found:
                FAULTS[fault](path)
            result = project.run(*words)
            return Run(
                kind, fault, command, self._judge(project, kind, fault, words, result), result.stdout + result.stderr
            )

    def _prepare(self, project: Project, kind: str, command: str) -> None:
        if kind in {"answer", "answers"}:
            for words in (("sync", "--frozen"), ("sync", "--frozen"), ("list",), ("list",)):
                Project.run(project, *words, check=True)
            return
        if command in {"sync", "offline", "update"} and kind not in {"verdict", "verdicts"}:
            shutil.rmtree(project.work / ".agent-skills")
        if kind in GIT_KINDS and command != "install":
            for path in (project.cache / "v1/store").rglob("*"):
                if path.is_file() and b"name: pdf" in path.read_bytes():
                    path.unlink()

    def _judge(self, project: Project, kind: str, fault: str, words: Sequence[str], result: Result) -> str:
        """Return what came of a command: `healed`, `named`, or what is wrong."""
        # Without it, no one can know that there was a copy, or a proof that counts.
        is_known = fault == "missing" or kind in {"proof", "proofs"} or "doctor --fix" in result.stderr
        is_absent = "--offline" in words and is_known
        blamed = [
            text for text in BLAME if text in result.stdout + result.stderr and not (is_absent and text == ABSENT)
        ]
        if blamed:
            return f"blames: {blamed}"
        if result.code == 0:
            names = ("ocr", "cards", "maps") if words[0] == "install" else SKILLS if words[0] != "outdated" else ()
            lost = [name for name in names if not (project.work / f".agent-skills/{name}/SKILL.md").is_file()]
            return f"lacks {lost}" if lost else "healed"
        if result.code != 1:
            return f"exit code {result.code}"
        if "cache" not in result.stderr:
            return "names no cache"
        if "--offline" in words:
            return "named"
        if "skillpm doctor --fix" not in result.stderr:
            return "does not name doctor --fix"
        fixed = project.run("doctor", "--fix")
        if fault == "another uid" and "cannot remove" in fixed.stderr + fixed.stdout:
            return "named"  # only that user can
        again = project.run(*words)
        return "named" if again.code == 0 else f"doctor --fix does not help: {fixed.stdout}{fixed.stderr}{again.stderr}"
