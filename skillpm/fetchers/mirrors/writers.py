"""Write mirrors: to a folder, a `.tar` or an OCI repository. An archive is either complete or missing."""

import heapq
import io
import os
import tarfile
from collections.abc import Iterable, Iterator
from typing import Protocol

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.mirrors.layout import (
    EMPTY_CONFIG,
    FOLDER,
    MARKER,
    MirrorAddress,
    archive_path,
    build_manifest,
    digest_of,
    tag_of,
    write_marker,
)
from skillpm.fetchers.mirrors.readers import FileReader, FolderReader, MirrorReader, OciReader, local_path
from skillpm.fetchers.oci.registry import OciRegistries
from skillpm.fetchers.oci.uploads import Uploader
from skillpm.files import (
    discard_file,
    make_synced_folders,
    remove_stale_temporaries,
    translate_os_errors,
    write_document,
)
from skillpm.formats.oci.manifest import OCI_MANIFEST
from skillpm.kinds.oci import repository_url
from skillpm.settings import Settings

ARCHIVE_NAME = lazy_pattern(rf"{FOLDER}/[0-9a-f]{{64}}\.tar\.gz")
Archives = Iterable[tuple[str, bytes]]
"""Keys and archives, sorted by key."""


class MirrorWriter(Protocol):
    """A destination."""

    def open_reader(self) -> MirrorReader | None:
        """Return a reader of the existing mirror, or None. Raises `RefusedError` for anything but a mirror."""

    def write(self, archives: Archives) -> None:
        """Add archives; those of the same key are replaced."""


class FolderWriter:
    """Writes into a folder, file by file."""

    def __init__(self, folder: str, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings

    def open_reader(self) -> MirrorReader | None:
        """Return the reader of the folder, unless it is empty. Nothing is written through a link inside."""
        archives = os.path.join(self.folder, FOLDER)
        if os.path.lexists(archives) and (os.path.islink(archives) or not os.path.isdir(archives)):
            raise RefusedError(
                f"`{FOLDER}` of a mirror must be a folder",
                where=archives,
                hint="replace it with a folder; nothing was written",
            )
        if os.path.isfile(os.path.join(self.folder, MARKER)):
            return FolderReader(self.folder, self.settings.limits.download)
        with translate_os_errors("read a folder", self.folder):
            names = os.listdir(self.folder) if os.path.lexists(self.folder) else []
        # The marker is written first: a mirror that was interrupted has it, or only its temporary file.
        if [name for name in names if not name.startswith((".", f"{MARKER}.")) and name != "lost+found"]:
            raise _occupied_error(self.folder)
        return None

    def write(self, archives: Archives) -> None:
        """Write each archive to a temporary file, and rename it."""
        self._write_file(MARKER, write_marker().encode())
        for key, data in archives:
            self._write_file(archive_path(key), data)

    def _write_file(self, name: str, data: bytes) -> None:
        path = os.path.join(self.folder, name)
        with translate_os_errors("write a mirror", path):
            make_synced_folders(os.path.dirname(path), fsync=self.settings.fsync)
            remove_stale_temporaries(path)
            write_document(path, data, fsync=self.settings.fsync)


class FileWriter:
    """Rewrites a `.tar` with its existing entries, and replaces it by a rename. Equal content gives equal bytes."""

    def __init__(self, path: str, settings: Settings) -> None:
        self.path = path
        self.settings = settings

    def open_reader(self) -> FileReader | None:
        """Return the reader of the file, if it exists."""
        if not os.path.lexists(self.path):
            return None
        if not os.path.isfile(self.path):
            raise _occupied_error(self.path)
        return FileReader(self.path, self.settings.limits.download)

    def write(self, archives: Archives) -> None:
        """Write all archives, the new ones and the old ones, sorted."""
        temporary = f"{self.path}.{os.getpid()}.tmp"
        with translate_os_errors("write a mirror", self.path):
            make_synced_folders(os.path.dirname(self.path), fsync=self.settings.fsync)
            remove_stale_temporaries(self.path)
            discard_file(temporary)  # of a killed process that had the same id: in a container, every command has
        try:
            with translate_os_errors("write a mirror", self.path):
                with open(temporary, "xb") as file:
                    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
                        for name, data in self._members(archives):
                            _add_member(archive, name, data)
                    file.flush()
                    if self.settings.fsync:
                        os.fsync(file.fileno())
                os.replace(temporary, self.path)
        except BaseException:
            discard_file(temporary)
            raise

    def _members(self, archives: Archives) -> Iterator[tuple[str, bytes]]:
        yield MARKER, write_marker().encode()
        reader, last = self.open_reader(), ""
        # Whatever else a forged file contains is not passed on, such as `skills/../../.bashrc`.
        names = [] if reader is None else sorted(name for name in reader.members if ARCHIVE_NAME.fullmatch(name))
        # Lazily, since all archives together may be larger than the memory; of two with one name, the new one is first.
        old = ((name, 1, b"") for name in names)
        new = ((archive_path(key), 0, data) for key, data in archives)
        for name, is_old, data in heapq.merge(new, old, key=lambda each: each[:2]):
            if name != last:
                yield name, reader.read_member(name) if is_old and reader is not None else data
            last = name


class OciWriter:
    """Pushes into a repository of a registry; the tag of an archive comes last."""

    def __init__(self, repository: str, settings: Settings, reporter: Reporter) -> None:
        destinations = Destinations()
        destinations.name(repository_url(repository))
        self.repository = repository
        self.registries = OciRegistries(settings, reporter, destinations)

    def open_reader(self) -> MirrorReader | None:
        """Return the reader of the repository, whether it exists or not."""
        return OciReader(self.repository, self.registries)

    def write(self, archives: Archives) -> None:
        """Push missing archives."""
        uploader, has_config = Uploader(self.registries), False
        for key, data in archives:
            for blob in (data,) if has_config else (EMPTY_CONFIG, data):
                uploader.push_blob(self.repository, digest_of(blob), blob)
            has_config = True
            uploader.push_manifest(self.repository, tag_of(key), OCI_MANIFEST, build_manifest(data))


def open_writer(address: MirrorAddress, settings: Settings, reporter: Reporter) -> MirrorWriter:
    """Return the writer of a destination: a folder, a `.tar` or an OCI repository."""
    match address.kind:
        case "folder":
            return FolderWriter(local_path(address, settings), settings)
        case "file":
            return FileWriter(local_path(address, settings), settings)
        case _:
            return OciWriter(address.location, settings, reporter)


def _add_member(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o644
    archive.addfile(member, io.BytesIO(data))


def _occupied_error(path: str) -> RefusedError:
    return RefusedError(
        f"{sanitize(path)} is neither empty nor a mirror; nothing was written",
        hint="name a new folder, a .tar, or oci://HOST/PATH",
    )
