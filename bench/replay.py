"""Replay the history of repositories: is a skill outdated exactly if its content changed?

    .venv/bin/python bench/replay.py REPOSITORY... [--since '2 years ago'] [--every]

Each REPOSITORY is a bare one, which is only read. A project requires all its skills, and follows a branch that goes on
by one commit at a time: those that touch a skill, or with `--every` all. After each step, `outdated` must name exactly
the skills of which git says that the tree of the folder changed, `lock --upgrade` must change exactly their lines, and
both must name exactly the skills whose folder is gone. Then what is gone is removed from the project, and what is new
is added. Exits with 1 on the first difference.
"""

import argparse
import json
import posixpath
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillpm.core.names import is_skill_name
from skillpm.errors import NotFoundError, RefusedError
from skillpm.operations.inspect.outdated import find_outdated
from skillpm.operations.install.lock import lock
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import find_scope
from skillpm.settings import read_settings


def run_git(repository: Path, *words: str) -> str:
    """Run git and return what it prints."""
    command = ["git", f"--git-dir={repository}", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class History:
    """The commits of a repository that touch skills, oldest first, served one at a time as a branch of a clone."""

    def __init__(self, repository: Path, folder: Path, since: str, *, every: bool) -> None:
        self.served = folder / "upstream.git"
        subprocess.run(["git", "clone", "--quiet", "--bare", "--shared", repository, self.served], check=True)
        for setting in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
            run_git(self.served, "config", setting, "true")
        self.branch = run_git(self.served, "symbolic-ref", "HEAD").strip()
        commits = run_git(self.served, "rev-list", "--reverse", "--topo-order", f"--since={since}", "HEAD").split()
        self.trees = {commit: self._read_trees(commit) for commit in commits}
        before: Mapping[str, str] = {}
        self.steps = []
        for commit in commits:
            if every or self.trees[commit] != before:
                self.steps.append(commit)
            before = self.trees[commit]

    def _read_trees(self, commit: str) -> dict[str, str]:
        """Return the tree ids of the skills of a commit by folder."""
        lines = run_git(self.served, "ls-tree", "-r", "-t", "-z", commit).split("\0")[:-1]
        entries = [(line.split("\t", 1)[0].split(), line.split("\t", 1)[1]) for line in lines]
        folders = {path: oid for (_, kind, oid), path in entries if kind == "tree"}
        skills = [posixpath.dirname(path) for _, path in entries if posixpath.basename(path) == "SKILL.md"]
        inner = {path for path in skills if any(path.startswith(f"{other}/") for other in skills)}
        return {path: folders[path] for path in skills if path and path not in inner}

    def show(self, commit: str) -> None:
        """Move the branch to a commit."""
        run_git(self.served, "update-ref", self.branch, commit)


def name_of(path: str, taken: Mapping[str, str]) -> str:
    """Return a name for the skill in a folder that no other has."""
    base = posixpath.basename(path).lower()
    base = base if is_skill_name(base) else "skill"
    return next(name for name in (base, *(f"{base[:58]}-{number}" for number in range(2, 10_000))) if name not in taken)


class Consumer:
    """A project that requires all skills of the served repository."""

    def __init__(self, folder: Path, url: str, branch: str) -> None:
        self.folder, self.url, self.branch = folder / "project", url, branch.removeprefix("refs/heads/")
        self.folder.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        self.paths: dict[str, str] = {}

    def open(self) -> Project:
        """Return the project of a new command."""
        environ = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "SKILLPM_FSYNC": "0"}
        settings = read_settings(environ)
        return Project(find_scope(settings, user=False, project=str(self.folder)), Session(settings=settings))

    def require(self, trees: Mapping[str, str]) -> None:
        """Require exactly these folders, and lock them. What cannot be locked is left out."""
        self.paths = {name: path for name, path in self.paths.items() if path in trees}
        for path in sorted({*trees} - {*self.paths.values()}):
            self.paths[name_of(path, self.paths)] = path
        while not self._try_lock():
            pass

    def _try_lock(self) -> bool:
        """Write the manifest and lock it; return whether all could be locked, and require no more what could not."""
        source = {"git": self.url, "branch": self.branch}
        skills = {name: {**source, "path": path} for name, path in sorted(self.paths.items())}
        (self.folder / "skills.json").write_text(json.dumps({"skills": skills}))
        try:
            lock(self.open())
        except (NotFoundError, RefusedError) as error:
            if not error.skills:
                raise
            self.paths = {name: path for name, path in self.paths.items() if name not in error.skills}
            return False
        return True

    def read_lock(self) -> dict[str, Any]:
        """Return the entries of the lockfile."""
        skills: dict[str, Any] = json.loads((self.folder / "skills.lock").read_text())["skills"]
        return skills


def replay(repository: Path, since: str, *, every: bool) -> Counter[str]:
    """Replay one repository; return what was counted."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        history = History(repository, Path(temporary), since, every=every)
        history.show(history.steps[0])
        project = Consumer(Path(temporary), history.served.as_uri(), history.branch)
        project.require(history.trees[history.steps[0]])
        for commit in history.steps[1:]:
            history.show(commit)
            check_step(project, commit, history.trees[commit], counts)
            project.require(history.trees[commit])
            counts.update({"steps": 1, "skills asked for": len(project.paths)})
    return counts


def check_step(project: Consumer, commit: str, trees: Mapping[str, str], counts: Counter[str]) -> None:
    """Compare what the commands say with what git says. Exits on a difference."""
    before = project.read_lock()
    gone = {name for name, path in project.paths.items() if path not in trees}
    changed = {name for name in {*before} - gone if trees[project.paths[name]] != before[name]["source"]["tree"]}
    rows = find_outdated(project.open())
    failed = {row.name for row in rows if row.error}
    named = {row.name for row in rows} - failed
    result = lock(project.open(), upgrade=())
    after = project.read_lock()
    lines = {name for name in before if before[name] != after[name]}
    refused = failed - gone  # a skill that cannot be loaded any more
    said = {name for failure in result.failures for name in failure.names}
    if (named, failed & gone, said) != (changed - refused, gone, failed) or lines != named or not refused <= changed:
        sys.exit(
            f"{commit}: changed {sorted(changed)}, gone {sorted(gone)}\n  outdated names {sorted(named)}, failed "
            f"{sorted(failed)}\n  lock changes {sorted(lines)}, failed {sorted(said)}"
        )
    moved = sum("the same content is in" in failure.message for failure in result.failures)
    counts.update({"updates": len(named), "gone": len(gone), "moved": moved, "refused": len(refused)})
    counts["steps without an update"] += not (named or failed)


def main() -> None:
    """Replay each repository and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--since", default="2 years ago")
    parser.add_argument("--every", action="store_true", help="Also step through commits that touch no skill.")
    options = parser.parse_args()
    for repository in options.repositories:
        start = time.monotonic()
        counts = replay(repository, options.since, every=options.every)
        figures = ", ".join(f"{count:,} {what}" for what, count in counts.items())
        print(f"{repository}: {figures}, {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
