"""New versions on their way into an index: nothing is written before all are there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from skillpm.files import translate_os_errors
from skillpm.indexes.publish.index_builder import IndexBuildResult, IndexWriter
from skillpm.indexes.publish.output_dir import nearest_existing_folder
from skillpm.indexes.publish.release_merge import MergedReleases


@contextmanager
def open_batch(writer: IndexWriter) -> Iterator["ReleaseBatch"]:
    """Give what takes new versions, one by one. Raises `FileError` where nothing can be written."""
    with translate_os_errors("write an index", writer.folder):
        waiting = TemporaryFile(dir=nearest_existing_folder(writer.folder))  # noqa: SIM115  (two lines on it is a context)
    with waiting:
        yield ReleaseBatch(writer, waiting)


class ReleaseBatch:
    """New versions on their way into an index. Their archives wait in a file without a name, which a killed build
    leaves nothing of; of one content there is one copy.
    """

    def __init__(self, writer: IndexWriter, spool: IO[bytes]) -> None:
        self.releases = MergedReleases(writer.releases, self._store_archive)
        self._writer = writer
        self._spool = spool
        self._archives: dict[str, tuple[int, int]] = {}
        self._last_archive: tuple[bytes, int] = (b"", 0)

    def publish(self, name: str = "") -> IndexBuildResult:
        """Write all of it. Raises `RefusedError` for a version that is published already with other content."""
        releases = self.releases.merge()
        for path in self._writer.find_damaged_archives():
            self._writer.warn(f"{path} has not the size that was published; `skillpm index check` looks at every byte")
        written = self._writer.write_files(self._read_archive(path) for path in self._archives)
        return self._writer.write_documents(releases, name, written, self.releases.added)

    def _read_archive(self, path: str) -> tuple[str, bytes]:
        start, size = self._archives[path]
        self._spool.seek(start)
        return path, self._spool.read(size)

    def _store_archive(self, path: str, data: bytes) -> None:
        if self._last_archive[0] is not data:
            with translate_os_errors("write an archive", self._writer.folder):
                self._last_archive = data, self._spool.seek(0, os.SEEK_END)
                self._spool.write(data)
        self._archives[path] = self._last_archive[1], len(data)
