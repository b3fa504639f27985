"""A skill's files as they will be installed, sorted and safe; and what they are made of, not yet checked.

Git trees, archives and local folders are turned into `Entry` values; the gate (`tree_checks.py`) makes a `Tree` of
them.
"""

from typing import Literal

from skillpm.core.digest import Digest, compute_digest, content_hash
from skillpm.core.names import SKILL_FILE, find_skill_file
from skillpm.core.values import Value


class Limits(Value):
    """How big a skill, and a document of an index, may be; each can be raised by a variable `SKILLPM_MAX_<NAME>`."""

    file: int = 25_000_000
    skill: int = 100_000_000
    files: int = 5_000
    download: int = 100_000_000
    index: int = 10_000_000
    catalog: int = 50_000_000


class SourceEntry(Value):
    """Something found in a source, not yet checked: path with `/`, and bytes (of a link: its target)."""

    path: str
    kind: Literal["file", "link"] = "file"
    data: bytes = b""
    executable: bool = False

    def as_file(self, path: str, *, link: str = "") -> "TreeFile":
        """Give its bytes as a file at a path; `link` says what pointed at it there."""
        return TreeFile(
            path=path, data=self.data, executable=self.executable, link=link, content_hash=content_hash(self.data)
        )


class TreeFile(Value):
    """A file that may be installed; `link` is where it pointed when it was a link in the source."""

    path: str
    data: bytes
    executable: bool = False
    link: str = ""
    content_hash: str = ""


class FileTree(Value):
    """All files of a skill, sorted by path as bytes."""

    files: tuple[TreeFile, ...]

    @property
    def digest(self) -> Digest:
        """The digest of the whole content."""
        return compute_digest((file.path, file.content_hash) for file in self.files)

    @property
    def skill_file(self) -> str:
        """The path of the file that makes it a skill."""
        return find_skill_file({file.path for file in self.files}) or SKILL_FILE

    def read(self, path: str) -> bytes | None:
        """Give the bytes of one file, if it is there."""
        return next((file.data for file in self.files if file.path == path), None)
