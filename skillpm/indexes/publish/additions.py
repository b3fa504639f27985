"""New versions on their way into an index: nothing is written before all are there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from skillpm.files import told
from skillpm.indexes.publish.index_builder import Built, Shelf
from skillpm.indexes.publish.output_dir import nearest
from skillpm.indexes.publish.release_merge import Edition


@contextmanager
def adding(shelf: Shelf) -> Iterator["Adding"]:
    """Give what takes new versions, one by one. Raises `FileError` where nothing can be written."""
    with told("write an index", shelf.folder):
        waiting = TemporaryFile(dir=nearest(shelf.folder))  # noqa: SIM115  (two lines on it is a context)
    with waiting:
        yield Adding(shelf, waiting)


class Adding:
    """New versions on their way into an index. Their archives wait in a file without a name, which a killed build
    leaves nothing of; of one content there is one copy.
    """

    def __init__(self, shelf: Shelf, waiting: IO[bytes]) -> None:
        self.edition = Edition(shelf.releases, self._keep)
        self._shelf = shelf
        self._waiting = waiting
        self._archives: dict[str, tuple[int, int]] = {}
        self._last: tuple[bytes, int] = (b"", 0)

    def publish(self, name: str = "") -> Built:
        """Write all of it. Raises `RefusedError` for a version that is published already with other content."""
        releases = self.edition.releases()
        for path in self._shelf.damaged():
            self._shelf.warn(f"{path} has not the size that was published; `skillpm index check` looks at every byte")
        written = self._shelf.put(self._archive(path) for path in self._archives)
        return self._shelf.finish(releases, name, written, self.edition.added)

    def _archive(self, path: str) -> tuple[str, bytes]:
        start, size = self._archives[path]
        self._waiting.seek(start)
        return path, self._waiting.read(size)

    def _keep(self, path: str, data: bytes) -> None:
        if self._last[0] is not data:
            with told("write an archive", self._shelf.folder):
                self._last = data, self._waiting.seek(0, os.SEEK_END)
                self._waiting.write(data)
        self._archives[path] = self._last[1], len(data)
