"""Replay the history of repositories with local edits: is each merge that of git, and is any edit lost?

    .venv/bin/python bench/replay_edits.py REPOSITORY... [--since '2 years ago'] [--seed 1]

As `bench/replay.py`, with an installed project. Before each commit, one line of a text file of each skill that the
commit changes is replaced, or one is added or removed (seeded). `update NAME --merge` must then write byte for byte
what `git merge -s resolve` makes of the same three trees, or change nothing and name the same files in conflict, in
which case the new content is taken with `--force`. Edits that were merged stay, and ride along. Exits with 1 on the
first difference.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from replay import Consumer, History

from skillpm.change.change import ChangeOptions
from skillpm.errors import BlockedError
from skillpm.formats.edit_policy import EditPolicy
from skillpm.installer.actions import InstallOptions
from skillpm.installer.merge_versions import merge_folder
from skillpm.operations.install.sync import sync
from skillpm.operations.install.update import update

IDENTITY = {f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
LINK = "120000"


class Oracle:
    """A repository beside the served one, in which git merges."""

    def __init__(self, folder: Path, served: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.links: set[str] = set()
        self.git("init", "-q")
        (folder / ".git/objects/info/alternates").write_text(f"{served}/objects\n")
        self.code = 0

    def git(self, *words: str, data: bytes = b"") -> bytes:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **IDENTITY}
        command = ["git", "-c", "core.autocrlf=false", *words]
        done = subprocess.run(command, cwd=self.folder, input=data, capture_output=True, env=environment, check=False)
        self.code = done.returncode
        return done.stdout

    def read(self, tree: str) -> dict[str, tuple[str, bytes]]:
        """Return mode and content of all files of a tree by path, without links."""
        files = {}
        for line in self.git("ls-tree", "-r", "-z", tree).split(b"\0")[:-1]:
            meta, path = line.split(b"\t", 1)
            mode, kind, oid = meta.decode().split()
            if mode == LINK:
                self.links.add(path.decode())  # which is installed as a copy
            elif kind == "blob":
                files[path.decode()] = (mode, self.git("cat-file", "blob", oid))
        return files

    def commit(self, tree: str, *parents: str) -> str:
        words = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", tree, *words, "-m", "x").decode().strip()

    def write(self, base: str, folder: Path) -> str:
        """Return the tree of a folder whose files were those of another tree."""
        known = self.read(base)
        self.git("read-tree", base)
        for path, (mode, data) in known.items():
            now = (folder / path).read_bytes() if (folder / path).is_file() else None
            if now is None:
                self.git("update-index", "--force-remove", path)
            elif now != data:
                blob = self.git("hash-object", "-w", "--stdin", "--no-filters", data=now).decode().strip()
                self.git("update-index", "--cacheinfo", f"{mode},{blob},{path}")
        return self.git("write-tree").decode().strip()

    def merge(self, base: str, yours: str, theirs: str) -> tuple[dict[str, bytes], set[str]]:
        """Return the files of the merge of three trees, and the paths in conflict."""
        old = self.commit(base)
        first, second = self.commit(yours, old), self.commit(theirs, old)
        self.git("checkout", "-q", "-f", "--detach", first)
        self.git("clean", "-q", "-fdx")
        self.git("merge", "-q", "--no-edit", "-s", "resolve", second)
        conflicts = {
            path for path in self.git("diff", "--name-only", "--diff-filter=U", "-z").decode().split("\0") if path
        }
        files = {} if conflicts else {path: data for path, (_, data) in self.read("HEAD").items()}
        return files, conflicts


def edit(folder: Path, chance: random.Random) -> str:
    """Change one line of a text file; return what was written, empty for a removed line or if there is no text."""
    texts = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    path = chance.choice([path for path in texts if path.suffix in {".md", ".txt", ".py", ".sh"}] or texts[:1])
    lines = path.read_bytes().split(b"\n")
    first = lines.index(b"---", 1) + 1 if path.name == "SKILL.md" and b"---" in lines[1:] else 0
    number = chance.randrange(first, len(lines)) if first < len(lines) else len(lines) - 1
    mark = f"An edit {chance.randrange(10**9)}."
    kind = chance.choice(["replace", "replace", "insert", "remove"])
    if kind == "remove" and len(lines) > first + 1:
        del lines[number]
        mark = ""
    else:
        lines[number : number + (kind == "replace")] = [mark.encode()]
    path.write_bytes(b"\n".join(lines))
    return mark


class Replay:
    """An installed project, and what was edited in it."""

    def __init__(self, project: Consumer, oracle: Oracle, seed: int) -> None:
        self.project, self.oracle, self.chance = project, oracle, random.Random(seed)  # noqa: S311
        self.counts: Counter[str] = Counter()
        self.marks: dict[str, set[str]] = {}

    def step(self, trees: Mapping[str, str]) -> None:
        """Edit and update each skill that has another tree now."""
        locked = self.project.read_lock()
        for name, path in self.project.paths.items():
            if path in trees and trees[path] != locked[name]["source"]["tree"]:
                self.update(name, locked[name]["source"]["tree"], trees[path])

    def update(self, name: str, base: str, theirs: str) -> None:
        folder = self.project.folder / ".agent-skills" / name
        if mark := edit(folder, self.chance):
            self.marks.setdefault(name, set()).add(mark)
        yours = self.oracle.write(base, folder)
        files, conflicts = self.oracle.merge(base, yours, theirs)
        before = read_folder(folder)
        merge = ChangeOptions(install=InstallOptions(edits=EditPolicy(default="merge")))
        project = self.project.open()
        try:
            result = update(project, [name], merge)
        except BlockedError as error:
            laid_out = Path(merge_folder(project.layout, name)) / "yours"
            theirs_too = Path(merge_folder(project.layout, name)) / "new"
            named = {
                path.relative_to(side).as_posix()
                for side in (laid_out, theirs_too)
                for path in side.rglob("*")
                if path.is_file()
            }
            if named != conflicts or read_folder(folder) != before:
                sys.exit(f"{name} {base} {theirs}: git has conflicts in {sorted(conflicts)}, {sorted(named)}: {error}")
            self.counts["conflicts"] += 1
            self.marks.pop(name, None)
            update(self.project.open(), [name], ChangeOptions(install=InstallOptions(force=True)))
            return
        if result.failures:
            self.counts["refused"] += 1
            return
        after = read_folder(folder)
        if (
            conflicts
            or {path: after.get(path) for path in files} != files
            or not {*after} <= {*files} | {*before} | self.oracle.links
        ):
            sys.exit(f"{name} {base} {theirs}: the merge is not git's, whose conflicts are {sorted(conflicts)}")
        text = b"\n".join(after.values())
        # A line that upstream removed with its file, or that a later edit replaced, is in git's merge neither.
        if any(
            mark.encode() in b"\n".join(files.values()) and mark.encode() not in text
            for mark in self.marks.get(name, ())
        ):
            sys.exit(f"{name} {base} {theirs}: an edit was lost")
        self.counts["merges"] += 1


def read_folder(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def replay(repository: Path, since: str, seed: int) -> Counter[str]:
    with tempfile.TemporaryDirectory() as temporary:
        history = History(repository, Path(temporary), since, every=False)
        history.show(history.steps[0])
        project = Consumer(Path(temporary), history.served.as_uri(), history.branch)
        project.require(history.trees[history.steps[0]])
        run = Replay(project, Oracle(Path(temporary) / "oracle", history.served), seed)
        for commit in history.steps:
            history.show(commit)
            sync(project.open(), ChangeOptions(install=InstallOptions(edits=EditPolicy(default="merge"))))
            run.step(history.trees[commit])
            for name, path in project.paths.items():
                if path not in history.trees[commit]:  # removing an edited skill takes `--force`
                    shutil.rmtree(project.folder / ".agent-skills" / name, ignore_errors=True)
            project.require(history.trees[commit])
            run.counts["steps"] += 1
        return run.counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--since", default="2 years ago")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for repository in options.repositories:
        start = time.monotonic()
        counts = replay(repository, options.since, options.seed)
        figures = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
        print(f"{repository}: {figures}, {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
