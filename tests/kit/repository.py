"""Upstream repositories: real git repositories that tests write, tag, rewrite and damage.

The same calls create the same commit ids on every machine.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Self

from .changes import EXECUTABLE, LINK, REGULAR, Change, build_import_stream
from .git import GitError, git
from .objects import ObjectDatabase
from .skills import Files, to_bytes

_PARTIAL_CLONE_CONFIG = "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n"


class Repository(ObjectDatabase):
    """A bare repository in the `.git` folder of a path."""

    def __init__(self, path: Path) -> None:
        """Refer to the repository at a path; `create` creates one."""
        super().__init__(path)
        self._changes: list[Change] = []

    @classmethod
    def create(cls, path: Path, *, partial_clone: bool = True) -> Self:
        """Create an empty repository with the branch `main`.

        With `partial_clone=False` it behaves like an old server: it does not support filters, and
        over protocol v0 it serves only the tips of refs. (Over v2, git serves any object that
        exists, whatever `allowAnySHA1InWant` says.)
        """
        repository = cls(path)
        git("init", "-q", "--bare", "-b", "main", "--template=", str(repository.git_dir))
        if partial_clone:
            with (repository.git_dir / "config").open("a") as config:
                config.write(_PARTIAL_CLONE_CONFIG)
        return repository

    @property
    def file_url(self) -> str:
        """The `file://` URL of the repository."""
        return self.path.absolute().as_uri()

    def write(
        self,
        files: Files | None = None,
        *,
        executable: Collection[str] = (),
        symlinks: Mapping[str, str] | None = None,
    ) -> Self:
        """Add files and symlinks to the next commit; `executable` lists the executable files."""
        files = files or {}
        if stray := set(executable) - set(files):
            message = f"executable, but not among the files: {sorted(stray)}"
            raise ValueError(message)
        for path, content in files.items():
            mode = EXECUTABLE if path in executable else REGULAR
            self._changes.append(Change(path=path, mode=mode, content=to_bytes(content)))
        for path, target in (symlinks or {}).items():
            self._changes.append(Change(path=path, mode=LINK, content=target.encode()))
        return self

    def remove(self, paths: Iterable[str]) -> Self:
        """Remove files or folders in the next commit."""
        self._changes += [Change(path=path) for path in paths]
        return self

    def commit(self, message: str = "Change something", *, branch: str = "main") -> str:
        """Commit the pending changes and return the commit id."""
        self._advance_clock()
        stream = build_import_stream(
            self._changes,
            branch=branch,
            parent=self._find_tip(branch),
            message=message,
            timestamp=self._timestamp,
        )
        commit = self._git("fast-import", "--quiet", "--done", stdin=stream)
        self._changes.clear()
        return commit

    def commit_tree(self, tree_id: str, branch: str = "main", message: str = "Set a tree") -> str:
        """Commit a stored tree to a branch and return the commit id."""
        self._advance_clock()
        parent = self._find_tip(branch)
        parents = ["-p", parent] if parent else []
        commit = self._git("commit-tree", tree_id, *parents, "-m", message)
        self._git("update-ref", f"refs/heads/{branch}", commit)
        return commit

    def tag(
        self,
        name: str,
        revision: str | None = None,
        *,
        force: bool = False,
        annotated: bool = False,
    ) -> None:
        """Tag a commit, by default the tip of `main`; `force` moves an existing tag."""
        kind = ["-a", "-m", f"Tag {name}"] if annotated else []
        self._git("tag", *(["-f"] if force else []), *kind, name, revision or "HEAD")

    def branch(self, name: str, revision: str | None = None) -> None:
        """Create a branch at a commit, by default at the tip of `main`."""
        self._git("branch", "--no-track", name, revision or "HEAD")

    def delete_branch(self, name: str) -> None:
        """Delete a branch, merged or not."""
        self._git("branch", "-q", "-D", name)

    def reset(self, commit: str, *, branch: str = "main") -> None:
        """Rewrite history: make a branch point at this commit."""
        self._git("update-ref", f"refs/heads/{branch}", self.resolve(f"{commit}^{{commit}}"))

    def prune_unreachable(self) -> None:
        """Delete the objects that no branch or tag reaches."""
        self._git("reflog", "expire", "--expire=now", "--all")
        self._git("gc", "--quiet", "--prune=now")

    def _find_tip(self, branch: str) -> str | None:
        try:
            return self.resolve(f"refs/heads/{branch}")
        except GitError:
            return None

    def _advance_clock(self) -> None:
        """Advance the clock by a second, so that all commits have different times."""
        self._timestamp += 1
