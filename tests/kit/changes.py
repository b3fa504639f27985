"""Changes to a tree, spelled as `git fast-import` reads them.

Files go straight into the object database and never through a work tree: no disk has to
bear their names, no attribute, filter or line-ending rule touches them, and a commit is one
process.
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
    """A path and what it shall hold; without content it is taken away."""

    path: str
    mode: str = REGULAR
    content: bytes | None = None

    def to_stream(self) -> bytes:
        """Write the change as a line of the stream, its content after it."""
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
    """Spell one commit on a branch; git answers the stream with the id of the commit."""
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
    """Quote a path as C would, or one with a blank, a quote or a new line is misread."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"%s"' % escaped.encode(errors="surrogateescape")
