"""Read the archives of a mirror: from a folder, a `.tar`, a web server or an OCI repository."""

import os
import tarfile
from threading import Lock
from typing import BinaryIO, Protocol, cast

from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, FetchError, NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.regular_file import read_regular_file
from skillpm.fetchers.http.client import HttpClient
from skillpm.fetchers.mirrors.layout import MARKER, MirrorAddress, archive_path, check_marker, tag_of
from skillpm.fetchers.oci.registry import OciRegistries
from skillpm.files import open_regular_file, translate_os_errors
from skillpm.formats.oci.manifest import SkillManifest
from skillpm.kinds.oci import repository_url
from skillpm.settings import Settings

MAX_MARKER = 10_000
MAX_ARCHIVES = 1_000_000
# Of one header of a `.tar`, in bytes: a PAX header or a long name, which `tarfile` reads whole.
MAX_TAR_HEADER = 1_000_000


class MirrorReader(Protocol):
    """A mirror that can be read. Thread-safe."""

    def read(self, key: str) -> bytes | None:
        """Return the archive of a skill; None if the mirror does not have it. Raises `FetchError` for no mirror."""

    def interrupt(self) -> None:
        """End running requests."""


class FolderReader:
    """A mirror in a folder."""

    def __init__(self, folder: str, limit: int) -> None:
        self.folder = folder
        self.limit = limit

    def read(self, key: str) -> bytes | None:
        """Return an archive, or None."""
        self._check()
        return self._read_file(archive_path(key), self.limit)

    def interrupt(self) -> None:
        """Do nothing: files are read at once."""

    def _check(self) -> None:
        data = self._read_file(MARKER, MAX_MARKER)
        if data is None:
            raise not_a_mirror_error(self.folder)
        check_marker(decode_marker(data, self.folder), os.path.join(self.folder, MARKER))

    def _read_file(self, name: str, limit: int) -> bytes | None:
        path = os.path.join(self.folder, name)
        with translate_os_errors("read a mirror", path):
            try:
                data = read_regular_file(path, limit)
            except (FileNotFoundError, NotADirectoryError):
                return None
        if data is None or len(data) > limit:
            raise RefusedError(f"{path} is not a regular file of up to {limit} bytes")
        return data


class FileReader:
    """A mirror in one file, an uncompressed `.tar`. Its list is read once, and archives where they begin.

    The file stays open: another process may replace it by a newer one, in which archives begin elsewhere.
    """

    def __init__(self, path: str, limit: int) -> None:
        self.path = path
        self.limit = limit
        self._lock = Lock()
        self._file: BinaryIO | None = None
        self._members: dict[str, tuple[int, int]] = {}

    @property
    def members(self) -> dict[str, tuple[int, int]]:
        """The offset and the size of each regular file. Raises `FetchError` if the file is not a mirror."""
        with self._lock:
            self._open()
        return self._members

    def read(self, key: str) -> bytes | None:
        """Return an archive, or None."""
        return self.read_member(archive_path(key)) if archive_path(key) in self.members else None

    def interrupt(self) -> None:
        """Do nothing: files are read at once."""

    def close(self) -> None:
        """Close the file, which a command leaves to the end of its process."""
        if self._file is not None:
            self._file.close()

    def read_member(self, name: str) -> bytes:
        """Return the bytes of a member that is in the list."""
        offset, size = self.members[name]
        if size > self.limit:
            hint = "if you trust it, raise SKILLPM_MAX_DOWNLOAD"
            raise RefusedError(f"{self.path}: {sanitize(name)} is over {self.limit} bytes", hint=hint)
        with self._lock, translate_os_errors("read a mirror", self.path):
            file = self._open()
            file.seek(offset)
            return file.read(size)

    def _open(self) -> BinaryIO:
        if self._file is not None:
            return self._file
        try:
            with translate_os_errors("read a mirror", self.path):
                file = open_regular_file(self.path)  # until the command ends
                with tarfile.open(fileobj=cast("BinaryIO", _TarHeaders(file)), mode="r:") as archive:
                    last = -1
                    for member in archive:
                        # `tarfile` would read the same header again, without end.
                        if member.offset_data <= last or member.size < 0:
                            raise tarfile.ReadError("a member has a negative size")
                        last = member.offset_data
                        if member.isreg() and len(self._members) < MAX_ARCHIVES:
                            self._members[member.name] = member.offset_data, member.size
        except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
            raise FetchError(
                f"{self.path} is not a mirror: {sanitize(str(error), 100)}", hint="create one with `skillpm mirror`"
            ) from None
        if MARKER not in self._members:
            raise not_a_mirror_error(self.path)
        offset, size = self._members[MARKER]
        with translate_os_errors("read a mirror", self.path):
            file.seek(offset)
            check_marker(decode_marker(file.read(min(size, MAX_MARKER)), self.path), f"{self.path}: {MARKER}")
        self._file = file
        return file


class _TarHeaders:
    """A file of which `tarfile` reads only headers: a forged one may claim that it has gigabytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int) -> bytes:
        """Read a header."""
        if size > MAX_TAR_HEADER:
            raise tarfile.ReadError(f"a header is over {MAX_TAR_HEADER} bytes")
        return self._file.read(size)


class WebReader:
    """The folder of a mirror on a web server: one request per skill."""

    def __init__(self, url: str, client: HttpClient, limit: int) -> None:
        self.url = url
        self.client = client
        self.limit = limit

    def read(self, key: str) -> bytes | None:
        """Return an archive, or None; whether there is a mirror at all is asked only then."""
        try:
            return self.client.get(self.url + archive_path(key), limit=self.limit).body
        except NotFoundError:
            self._check()
            return None

    def interrupt(self) -> None:
        """End running requests."""
        self.client.stop_event.set()

    def _check(self) -> None:
        try:
            data = self.client.get(self.url + MARKER, limit=MAX_MARKER).body
        except NotFoundError:
            raise not_a_mirror_error(self.url) from None
        check_marker(decode_marker(data, self.url), self.url + MARKER)


class OciReader:
    """A mirror in a repository of an OCI registry: a manifest and a blob per skill."""

    def __init__(self, repository: str, registries: OciRegistries) -> None:
        self.repository = repository
        self.registries = registries

    def read(self, key: str) -> bytes | None:
        """Return an archive, or None."""
        try:
            document = self.registries.fetch_document(self.repository, tag_of(key))[1]
        except NotFoundError:
            return None
        if not isinstance(document, SkillManifest):
            raise RefusedError(f"oci://{self.repository}:{tag_of(key)} is an index, not the manifest of a skill")
        return self.registries.fetch_blob(self.repository, document.layer)

    def interrupt(self) -> None:
        """End running requests."""
        self.registries.http.stop_event.set()


def open_reader(address: MirrorAddress, settings: Settings, reporter: Reporter) -> MirrorReader:
    """Return the reader of a mirror that the user named. Only its server and redirect targets are contacted."""
    limit, destinations = settings.limits.download, Destinations()
    match address.kind:
        case "folder":
            return FolderReader(local_path(address, settings), limit)
        case "file":
            return FileReader(local_path(address, settings), limit)
        case "web":
            destinations.name(address.location)
            return WebReader(address.location, HttpClient(settings, reporter, destinations), limit)
        case "oci":
            destinations.name(repository_url(address.location))
            return OciReader(address.location, OciRegistries(settings, reporter, destinations))


def local_path(address: MirrorAddress, settings: Settings) -> str:
    """Return the path of a mirror in a folder or a file."""
    path = address.location
    return settings.home + path[1:] if path.startswith("~/") else path


def not_a_mirror_error(place: str) -> FetchError:
    """Return the error for a place without `mirror.json`."""
    return FetchError(
        f"{sanitize(place)} is not a mirror: it has no {MARKER}",
        hint="create one with `skillpm mirror skills.lock DESTINATION`",
    )


def decode_marker(data: bytes, place: str) -> str:
    """Return the text of `mirror.json`. Raises `DocumentError` if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise DocumentError("this document is not UTF-8", where=f"{place}: {MARKER}") from None
