"""Git objects: read from a repository, or written in ways that git itself would not."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

from .changes import SUBMODULE
from .git import git_bytes
from .skills import to_bytes

_NEW_YEAR_2026 = 1767225600


class ObjectDatabase:
    """The object database in the `.git` folder of a path, and the clock of its commits."""

    def __init__(self, path: Path) -> None:
        """Refer to the repository at a path, which need not exist yet."""
        self.path = path
        self._timestamp = _NEW_YEAR_2026

    @property
    def git_dir(self) -> Path:
        """The folder that a server serves."""
        return self.path / ".git"

    def resolve(self, name: str = "HEAD") -> str:
        """Return the object id of a revision."""
        return self._git("rev-parse", "--verify", "--end-of-options", name)

    def read_blob(self, path: str, revision: str = "HEAD") -> bytes:
        """Return the content of a file, or the target of a symlink."""
        return self._git_bytes("cat-file", "blob", f"{revision}:{path}")

    def tree_id(self, path: str = ".", revision: str = "HEAD") -> str:
        """Return the id of a folder's tree; `.` is the root."""
        return self.resolve(f"{revision}:{'' if path == '.' else path}")

    def read_files(self, path: str = ".", revision: str = "HEAD") -> dict[str, tuple[str, bytes]]:
        """Return mode and content of all files below a folder, by relative path.

        Modes are git's: `100644`, `100755`, `120000` for a link (its content is the target),
        `160000` for a submodule (its content is the commit's id).
        """
        listing = self._git_bytes("ls-tree", "-r", "-z", self.tree_id(path, revision))
        rows = [row.partition(b"\t") for row in listing.split(b"\0")[:-1]]
        names = [name.decode(errors="surrogateescape") for _, _, name in rows]
        details = [about.decode().split() for about, _, _ in rows]
        stored = self._read_objects(object_id for mode, _, object_id in details if mode != SUBMODULE)
        return {
            name: (mode, object_id.encode() if mode == SUBMODULE else next(stored))
            for name, (mode, _, object_id) in zip(names, details, strict=True)
        }

    def hash_object(self, content: str | bytes, kind: str = "blob") -> str:
        """Store an object without checking it and return its id."""
        options = ("-t", kind, "-w", "--stdin", "--literally")
        return self._git("hash-object", *options, stdin=to_bytes(content))

    def store_tree(self, entries: Iterable[tuple[str, str | bytes, str]]) -> str:
        """Store a tree of `(mode, name, id)` in the given order, without checking it.

        A folder's mode is `40000`, a submodule's `160000`.
        """
        rows = (
            b"%s %s\0%s" % (mode.encode(), to_bytes(name), bytes.fromhex(object_id))
            for mode, name, object_id in entries
        )
        return self.hash_object(b"".join(rows), "tree")

    def _read_objects(self, object_ids: Iterable[str]) -> Iterator[bytes]:
        """Read many objects in one process."""
        request = "".join(f"{object_id}\n" for object_id in object_ids)
        response = BytesIO(self._git_bytes("cat-file", "--batch", stdin=request.encode()))
        while heading := response.readline():
            _, _, size = heading.split()
            yield response.read(int(size))
            response.readline()

    def _git(self, *arguments: str, stdin: bytes = b"") -> str:
        return self._git_bytes(*arguments, stdin=stdin).decode().rstrip("\n")

    def _git_bytes(self, *arguments: str, stdin: bytes = b"") -> bytes:
        now = f"{self._timestamp} +0000"
        times = {"GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now}
        return git_bytes(f"--git-dir={self.git_dir}", *arguments, stdin=stdin, environment=times)
