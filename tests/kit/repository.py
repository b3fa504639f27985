"""An upstream: a real git repository that a test writes, tags, rewrites and spoils.

The same calls give the same commit ids, on every machine and in every year.
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
    """A repository without a work tree, in the `.git` folder of a path."""

    def __init__(self, path: Path) -> None:
        """Stand for the repository at a path; `create` makes one."""
        super().__init__(path)
        self._changes: list[Change] = []

    @classmethod
    def create(cls, path: Path, *, partial_clone: bool = True) -> Self:
        """Make an empty repository, its branch `main`.

        With `partial_clone=False` it is an old server's: it knows no filters, and over
        protocol v0 it gives out only the tips of refs. (Over v2 git gives out any object that
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
        """The address of the repository on this disk, as `file:///...`."""
        return self.path.absolute().as_uri()

    def write(
        self,
        files: Files | None = None,
        *,
        executable: Collection[str] = (),
        symlinks: Mapping[str, str] | None = None,
    ) -> Self:
        """Set files and links for the next commit; `executable` names some of the files."""
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
        """Take files or whole folders away with the next commit."""
        self._changes += [Change(path=path) for path in paths]
        return self

    def commit(self, message: str = "Change something", *, branch: str = "main") -> str:
        """Commit what was written and removed since the last one; give the commit's id."""
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
        """Commit a stored tree as the next state of a branch; give the commit's id."""
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
        """Tag a commit, else the tip of `main`; `force` moves a tag that is there."""
        kind = ["-a", "-m", f"Tag {name}"] if annotated else []
        self._git("tag", *(["-f"] if force else []), *kind, name, revision or "HEAD")

    def branch(self, name: str, revision: str | None = None) -> None:
        """Begin a branch at a commit, else at the tip of `main`."""
        self._git("branch", "--no-track", name, revision or "HEAD")

    def delete_branch(self, name: str) -> None:
        """Delete a branch, merged or not."""
        self._git("branch", "-q", "-D", name)

    def reset(self, commit: str, *, branch: str = "main") -> None:
        """Rewrite history: the branch points at this commit from now on."""
        self._git("update-ref", f"refs/heads/{branch}", self.resolve(f"{commit}^{{commit}}"))

    def prune_unreachable(self) -> None:
        """Delete for good what no branch and no tag leads to."""
        self._git("reflog", "expire", "--expire=now", "--all")
        self._git("gc", "--quiet", "--prune=now")

    def _find_tip(self, branch: str) -> str | None:
        try:
            return self.resolve(f"refs/heads/{branch}")
        except GitError:
            return None

    def _advance_clock(self) -> None:
        """Let a second pass, so that no two commits are of one time."""
        self._timestamp += 1
