"""The files of a skill: `SourceEntry` as found in a git tree, archive or folder, `FileTree` as validated.

`tree_checks.check_tree` makes the one of the other.
"""

from functools import cached_property
from typing import Literal

from skillpm.core.digest import Digest, compute_digest, content_hash
from skillpm.core.names import SKILL_FILE, find_skill_file
from skillpm.core.values import Value


class SourceEntry(Value):
    """A file or link of a source, not yet validated: its path with `/`, and its bytes (for a link, the target)."""

    path: str
    kind: Literal["file", "link"] = "file"
    data: bytes = b""
    executable: bool = False

    def as_file(self, path: str, *, link: str = "") -> "TreeFile":
        """Return a file with these bytes at a path; `link` is the target of the link that it replaces, if any."""
        return TreeFile(
            path=path, data=self.data, executable=self.executable, link=link, content_hash=content_hash(self.data)
        )


class TreeFile(Value):
    """A validated file; `link` is its target if it was a link in the source."""

    path: str
    data: bytes
    executable: bool = False
    link: str = ""
    content_hash: str = ""


class FileTree(Value):
    """All files of a skill, sorted by the bytes of their paths."""

    files: tuple[TreeFile, ...]

    @cached_property
    def digest(self) -> Digest:
        """The digest of all paths and contents."""
        return compute_digest((file.path, file.content_hash) for file in self.files)

    @cached_property
    def skill_file(self) -> str:
        """The path of its SKILL.md."""
        return find_skill_file({file.path for file in self.files}) or SKILL_FILE

    def without(self, path: str) -> "FileTree":
        """Return the other files."""
        return FileTree(files=tuple(file for file in self.files if file.path != path))

    def read(self, path: str) -> bytes | None:
        """Return the bytes of one file, or None if there is none at this path."""
        return next((file.data for file in self.files if file.path == path), None)
