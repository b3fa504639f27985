"""An index in a folder of this machine; nothing outside of that folder is ever read."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from skillpm.core.file_tree import Limits
from skillpm.core.text import show
from skillpm.errors import DocumentError, FetchError, NotFoundError, RefusedError
from skillpm.fetchers.regular_file import read_regular
from skillpm.files import is_below, told
from skillpm.formats.index_sources import IndexPlace
from skillpm.indexes.client.http_access import allowing, from_web
from skillpm.indexes.client.http_cache import Stamp

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import Web


class FolderAccess:
    """An index in a folder of this machine; nothing outside of that folder is ever read."""

    def __init__(self, place: IndexPlace, base: str, home: str, limits: Limits, web: Callable[[], "Web"]) -> None:
        self.place = place
        self.limits = limits
        self._web = web
        written = home + place.url[1:] if place.url.startswith("~/") else place.url
        self.folder = os.path.realpath(os.path.join(base, written))
        if not os.path.isdir(self.folder):
            raise FetchError(
                f"the index {place.name} cannot be read: {show(place.url)} is no folder", where=place.written_in
            )

    def document(self, address: str) -> str | None:
        """Read a document of the folder."""
        data = self._read(address, self.limits.index, "INDEX")
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            raise DocumentError("this document is not UTF-8", where=address) from None

    def newer(self, address: str, than: Stamp | None, into: BinaryIO) -> Stamp:
        """Read what is newer, told by everything the file system knows of it."""
        with told("read an index", self._path(address)):
            try:
                state = os.stat(self._path(address))
            except (FileNotFoundError, NotADirectoryError):
                raise NotFoundError(f"{show(address)} is not there") from None
        stamp = Stamp(etag=f"{state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino} {state.st_size}")
        if than is not None and stamp == than:
            return than
        data = self._read(address, self.limits.catalogue, "CATALOGUE")
        if data is None:
            raise NotFoundError(f"{show(address)} is not there")
        into.write(data)
        return stamp

    def is_there(self, address: str) -> bool:
        """Look for a file."""
        return os.path.isfile(self._path(address))

    def archive(self, address: str, limit: int) -> bytes:
        """Read an archive of the folder, or take it from the web where the index says that it is there."""
        if "://" in address:
            return from_web(self._web(), address, limit, {})
        data = self._read(address, limit, "DOWNLOAD")
        if data is None:
            raise NotFoundError(f"{show(address)} is not there", where=self._path(address))
        return data

    def lead(self, document: str, to: str) -> str:
        """Follow an address within the folder, or onto the web."""
        if "://" in to:
            if not to.startswith(("https://", "http://")):
                raise RefusedError(f"{show(document)} names `{show(to)}`, which is no web address")
            return to
        inside = "" if to.startswith("/") else document[len(self.place.url) :]
        to = to.removeprefix("/")  # from the top of the host, which here is the folder
        there = os.path.normpath(os.path.join("/", os.path.dirname(inside), to)).lstrip("/")
        deep = os.path.normpath(os.path.join(os.path.dirname(inside), to))
        if deep != there or "\\" in to:
            raise RefusedError(f"{show(document)} names `{show(to)}`, which leads out of the index")
        return self.place.url + there

    def root(self) -> str:
        """Give the folder itself."""
        return self.place.url

    def _path(self, address: str) -> str:
        path = os.path.join(self.folder, address[len(self.place.url) :])
        if not address.startswith(self.place.url) or not is_below(os.path.realpath(path), self.folder):
            raise RefusedError(f"{show(address)} leads out of the index {self.place.name} ({show(self.place.url)})")
        return path

    def _read(self, address: str, limit: int, setting: str) -> bytes | None:
        path = self._path(address)
        with told("read an index", path):
            try:
                data = read_regular(os.path.realpath(path), limit)
            except (FileNotFoundError, NotADirectoryError):
                return None
        if data is None:
            raise RefusedError(f"{show(address)} is no regular file")
        if len(data) > limit:
            raise FetchError(f"{show(address)} is over {limit} bytes", hint=allowing(setting))
        return data
