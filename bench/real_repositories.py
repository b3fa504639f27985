"""Whether collections of skills install as they are: `install URL --all`, restored from the lockfile, equal to git.

    python bench/real_repositories.py FOLDER [--only OWNER/REPO …] [--reasons]

FOLDER has bare repositories, as `OWNER/REPO.git` or `OWNER+REPO`, also with the git directory as `repo` in it; they
are only read. Each is served over HTTP on this machine. In a new project with an empty home, `install --all -y` must
succeed at the first try; on an empty machine with nothing but `skills.json` and `skills.lock`, `sync --frozen` and
`verify` must. The bytes and modes of each file must be those that git names for the locked commit, with what its links
lead to. `--list` must work, and for up to five of the names that several folders have, it, `--all` and `URL@NAME` must
choose the same one. A folder with a SKILL.md must be installed, left out with a reason, or a copy of an installed one.

Prints a line for each repository, with `--reasons` also what was left out and why, and ends with 1 if one failed. Of a
repository that lacks files, as a snapshot without large ones does, a commit without them is served.
"""

import argparse
import hashlib
import json
import os
import posixpath
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kit import GitServer

TIMEOUT, MAX_NAMES, MAX_LINKS, SHA1_LENGTH = 1800, 5, 10, 40
MODES = {"100644": 0o644, "100664": 0o644, "100755": 0o755}


class Failure(Exception):
    """Something is not as it must be."""


class File(NamedTuple):
    mode: str
    oid: str


def find_repositories(folder: Path) -> dict[str, Path]:
    """Return the git directories below a folder by OWNER/REPO."""
    found = {f"{path.parent.name}/{path.stem}": path for path in folder.glob("*/*.git") if (path / "HEAD").is_file()}
    for path in folder.glob("*+*"):
        inner = (path, path / "repo", path / "repo/.git")
        found |= {path.name.replace("+", "/", 1): git for git in inner if (git / "HEAD").is_file()}
    return dict(sorted(found.items()))


class Upstream:
    """A repository that is served: a clone that shares the objects, so that the original stays as it is."""

    def __init__(self, server: GitServer, name: str, original: Path, folder: Path) -> None:
        self.git = folder / "upstream.git"
        settings = ("-c", "uploadpack.allowFilter=true", "-c", "uploadpack.allowAnySHA1InWant=true")
        subprocess.run(["git", "clone", "-q", "--bare", "--shared", *settings, original, self.git], check=True)
        self.url = server.serve(name, self.git)
        self.trees: dict[str, Mapping[str, File]] = {}
        self.lacking = self.drop_missing_files()

    def run(self, *words: str, text: str = "") -> str:
        """Run git and return what it prints."""
        command = ("git", f"--git-dir={self.git}", *words)
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout

    def drop_missing_files(self) -> int:
        """Put a commit without the files that the repository lacks onto the branch; return how many it lacks."""
        listed = self.run("rev-list", "--objects", "--missing=print", "--no-walk", "HEAD").splitlines()
        if missing := {line[1:] for line in listed if line.startswith("?")}:
            entries = (f"{file.mode} {file.oid}\t{path}\0" for path, file in self.read_tree("HEAD").items())
            kept = "".join(entry for entry in entries if entry.split()[1] not in missing)
            self.run("update-index", "-z", "--index-info", text=kept)
            who = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
            commit = self.run(*who, "commit-tree", self.run("write-tree").strip(), "-m", "Without large files")
            self.run("update-ref", "HEAD", commit.strip())
            self.trees.clear()
        return len(missing)

    def read_tree(self, commit: str) -> Mapping[str, File]:
        """Return all files, links and submodules of a commit by path."""
        if commit not in self.trees:
            lines = self.run("ls-tree", "-r", "-z", commit).split("\0")[:-1]
            entries = [line.split("\t", 1) for line in lines]
            self.trees[commit] = {path: File(*head.split()[::2]) for head, path in entries}
        return self.trees[commit]

    def find_skills(self) -> list[str]:
        """Return the folders with a SKILL.md that are not inside of another one, except at the top."""
        paths = self.read_tree("HEAD")
        folders = sorted(posixpath.dirname(path) or "." for path in paths if posixpath.basename(path) == "SKILL.md")
        return [path for path in folders if not any(path.startswith(f"{other}/") for other in folders)]

    def read_files(self, commit: str, folder: str) -> Iterator[tuple[str, File]]:
        """Yield the files of a folder by their paths in it, those that links lead to where the links are."""
        tree = self.read_tree(commit)
        pending = [(path, path, 0) for path in _below(tree, folder)]
        for path, origin, links in pending:
            file = tree[origin]
            if file.mode == "120000" and links < MAX_LINKS:
                text = self.run("cat-file", "blob", file.oid)
                target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), text))
                inside = [target] if target in tree else _below(tree, target)
                if origin not in inside:  # a repository that is one skill may have links to itself: they are left out
                    pending += [(path + each.removeprefix(target), each, links + 1) for each in inside]
            elif file.mode != "160000":
                yield posixpath.relpath(path, folder), file


def _below(tree: Mapping[str, File], folder: str) -> list[str]:
    return [path for path in tree if folder == "." or path.startswith(f"{folder}/")]


class Machine:
    """A home and a project, in which commands are run."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir(parents=True)
        self.seconds = 0.0  # of the last command
        subprocess.run(["git", "init", "-q", self.project], check=True)

    def run(self, *words: str) -> dict[str, Any]:
        """Run skillpm and return its JSON document; raise `Failure` if it does not end with 0."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "skillpm", *words, "--json"], cwd=self.project, env=environ, capture_output=True,
            text=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT, check=False,
        )  # fmt: skip
        self.seconds = time.monotonic() - start
        if done.returncode:
            raise Failure(f"`skillpm {' '.join(words)}` ends with {done.returncode}: {done.stdout}{done.stderr}")
        return dict(json.loads(done.stdout))

    def read_lock(self) -> dict[str, Any]:
        """Return the locked sources by name."""
        skills = json.loads((self.project / "skills.lock").read_text())["skills"]
        return {name: skill["source"] for name, skill in skills.items()}

    def compare(self, upstream: Upstream) -> int:
        """Return how many files are installed; raise `Failure` if one is not as git has it."""
        count = 0
        for name, source in self.read_lock().items():
            folder = self.project / ".agent-skills" / name
            expected = dict(upstream.read_files(source["commit"], source["path"]))
            there = [os.path.relpath(f"{path}/{each}", folder) for path, _, names in os.walk(folder) for each in names]
            found = {path: _read_file(folder / path, len(source["commit"])) for path in there}
            wanted = {path: (MODES.get(file.mode, 0), file.oid) for path, file in expected.items()}
            if different := {path for path in {*found, *wanted} if found.get(path) != wanted.get(path)}:
                raise Failure(f"{name}: not as in git: {', '.join(sorted(different)[:5])} ({len(different)})")
            count += len(found)
        return count


def _read_file(path: Path, length: int) -> tuple[int, str]:
    """Return the permissions of a file, and the id that git gives its bytes; those of a link are not read."""
    status = path.lstat()
    data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
    name = "sha1" if length == SHA1_LENGTH else "sha256"
    return stat.S_IMODE(status.st_mode), hashlib.new(name, b"blob %d\0" % len(data) + data).hexdigest()


class Check:
    """What is done with one repository."""

    def __init__(self, upstream: Upstream, folder: Path) -> None:
        self.upstream, self.folder, self.left_out = upstream, folder, list[dict[str, Any]]()

    def run(self) -> str:
        """Install, restore, compare and list; return the figures."""
        first, second = Machine(self.folder / "first"), Machine(self.folder / "second")
        self.left_out = first.run("install", self.upstream.url, "--all", "-y").get("leftOut", [])
        installed = first.seconds
        files = first.compare(self.upstream)
        for name in ("skills.json", "skills.lock"):
            shutil.copy(first.project / name, second.project / name)
        second.run("sync", "--frozen")
        restored = second.seconds
        second.run("verify")
        if second.read_lock() != first.read_lock() or second.compare(self.upstream) != files:
            raise Failure("the restored skills are not those that were installed")
        names, same = self.compare_names(first), self.count_same(first)
        return (
            f"{len(first.read_lock())} skills, {len(self.left_out)} left out, {same} the same as others, install "
            f"{installed:.1f} s, restore {restored:.1f} s, {files:,} files equal, {names} names compared"
        )

    def compare_names(self, machine: Machine) -> int:
        """Compare which folder each way takes for names of several; return how many were compared."""
        listed = {row["name"]: row["path"] for row in machine.run("install", self.upstream.url, "--list")["skills"]}
        locked = machine.read_lock()
        if wrong := {name for name in locked if listed.get(name) != locked[name]["path"]}:
            raise Failure(f"--list and --all take different folders for {', '.join(sorted(wrong))}")
        counts = Counter(posixpath.basename(path) for path in self.upstream.find_skills())
        chosen = [name for name in sorted(locked) if counts[name] > 1][:MAX_NAMES]
        for name in chosen:
            single = Machine(self.folder / f"name-{name}")
            single.run("install", f"{self.upstream.url}@{name}", "-y")
            if single.read_lock()[name]["path"] != locked[name]["path"]:
                raise Failure(f"@{name} takes {single.read_lock()[name]['path']}, not {locked[name]['path']}")
        return len(chosen)

    def count_same(self, machine: Machine) -> int:
        """Return how many folders are the same as an installed one; raise `Failure` for folders that nothing names."""
        locked = {source["path"] for source in machine.read_lock().values()}
        named = {path for each in self.left_out for path in each["paths"]} | locked
        others = [path for path in self.upstream.find_skills() if path not in named]
        content = {frozenset(self.upstream.read_files("HEAD", path)) for path in locked}
        if lost := [path for path in others if frozenset(self.upstream.read_files("HEAD", path)) not in content]:
            raise Failure(f"neither installed nor named: {', '.join(lost[:8])} ({len(lost)})")
        return len(others)


def main() -> None:
    """Check each repository and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="OWNER/REPO")
    parser.add_argument("--reasons", action="store_true", help="Also print what was left out, and why.")
    options = parser.parse_args()
    os.umask(0o022)
    failed = 0
    with GitServer() as server:
        for name, git in find_repositories(options.folder).items():
            if options.only and name not in options.only:
                continue
            with tempfile.TemporaryDirectory(prefix="skillpm-bench-") as temporary:
                upstream = Upstream(server, name, git, Path(temporary))
                check = Check(upstream, Path(temporary))
                try:
                    line = check.run()
                except Failure as error:
                    failed, line = failed + 1, f"FAILED: {error}"
                without = f" (without {upstream.lacking} large files)" if upstream.lacking else ""
                print(f"{name}: {line}{without}", flush=True)
                for each in check.left_out if options.reasons else ():
                    print(f"  left out {each['name']} ({', '.join(each['paths'])}): {each['reason']}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
