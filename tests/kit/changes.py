"""Changes to a tree in the format of `git fast-import`.

Files are written to the object database without a work tree: the file system need not support
their names, no attribute, filter or line-ending rule applies, and a commit takes one process.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from .git import AUTHOR, EMAIL

REGULAR = "100644"
EXECUTABLE = "100755"
LINK = "120000"
SUBMODULE = "160000"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """The new content of a path; without content, the path is removed."""

    path: str
    mode: str = REGULAR
    content: bytes | None = None

    def to_stream(self) -> bytes:
        """Return the command of the stream, followed by the content."""
        path = _quote_path(self.path)
        if self.content is None:
            return b"D %s\n" % path
        return b"M %s inline %s\n" % (self.mode.encode(), path) + _format_data(self.content)


def build_import_stream(
    changes: Iterable[Change],
    *,
    branch: str,
    parent: str | None,
    message: str,
    timestamp: int,
) -> bytes:
    """Return the stream for a commit on a branch; git prints the commit id."""
    return b"".join(
        (
            f"commit refs/heads/{branch}\nmark :1\n".encode(),
            f"committer {AUTHOR} <{EMAIL}> {timestamp} +0000\n".encode(),
            _format_data(message.encode()),
            f"from {parent}\n".encode() if parent else b"",
            *(change.to_stream() for change in changes),
            b"\nget-mark :1\ndone\n",
        ),
    )


def _format_data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quote_path(path: str) -> bytes:
    """Quote a path as in C: needed for spaces, quotes and line breaks."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"%s"' % escaped.encode(errors="surrogateescape")
