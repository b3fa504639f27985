"""Batches of new releases: an index is changed only when all of them have been read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from skillpm.core.names import SkillName
from skillpm.files import translate_os_errors
from skillpm.publishing.index.index_builder import IndexBuildResult, IndexWriter, count_releases
from skillpm.publishing.index.installability import (
    UninstallableRelease,
    external_dependency_message,
    find_external_dependencies,
    find_uninstallable,
)
from skillpm.publishing.index.output_dir import nearest_existing_folder
from skillpm.publishing.index.release_merge import MergedReleases, archive_path


@contextmanager
def open_batch(writer: IndexWriter) -> Iterator["ReleaseBatch"]:
    """Open a batch of new releases. Raises `FileError` if the index cannot be written."""
    with translate_os_errors("write an index", writer.folder):
        spool = TemporaryFile(dir=nearest_existing_folder(writer.folder))  # noqa: SIM115  (entered below)
    with spool:
        yield ReleaseBatch(writer, spool)


class ReleaseBatch:
    """New releases that are not published yet.

    Their archives are spooled to an anonymous temporary file: they may not fit into memory, and a killed build leaves
    nothing behind.
    """

    def __init__(self, writer: IndexWriter, spool: IO[bytes]) -> None:
        self.releases = MergedReleases(writer.releases, self._store_archive, writer.read_archive)
        self._writer = writer
        self._spool = spool
        # Offset and size in the spool, by path in the index.
        self._archives: dict[str, tuple[int, int]] = {}
        # The last archive and its offset: consecutive versions with the same content share one copy.
        self._last_archive: tuple[bytes, int] = (b"", 0)

    def publish(self, name: str = "", *, dry_run: bool = False) -> IndexBuildResult:
        """Write all releases. Raises `RefusedError` for a version that is already published with other content.

        With `dry_run`, nothing is written, and the result has no files.
        """
        releases = self.releases.merge()
        for path in self._writer.find_damaged_archives():
            self._writer.warn(f"{path} does not have its published size; check the index with `skillpm index check`")
        if dry_run:
            built = count_releases(releases).replace(added=tuple(sorted(self.releases.added)))
        else:
            written = self._writer.write_files(self._read_archive(path) for path in self._archives)
            built = self._writer.write_documents(releases, name, written, self.releases.added)
        for external, requirers in find_external_dependencies(releases).items():
            self._writer.warn(external_dependency_message(external, requirers, releases))
        signed = tuple(sorted(self.releases.signed))
        return built.replace(signed=signed, uninstallable=tuple(find_uninstallable(releases)))

    def find_uninstallable(self) -> list[UninstallableRelease]:
        """Return all versions, new and published ones, that could not be installed."""
        return find_uninstallable(self.releases.preview())

    def discard(self, name: SkillName, version: str) -> None:
        """Leave out a version that was added."""
        self.releases.discard(name, version)
        del self._archives[archive_path(name, version)]

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
