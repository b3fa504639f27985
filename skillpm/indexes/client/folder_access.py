"""An index in a folder of this machine; nothing outside of that folder is ever read."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from skillpm.core.file_tree import Limits
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, FetchError, NotFoundError, RefusedError
from skillpm.fetchers.regular_file import read_regular_file
from skillpm.files import is_below, translate_os_errors
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.indexes.client.http_access import download_archive, limit_hint
from skillpm.indexes.client.http_cache import Validators

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient


class FolderAccess:
    """An index in a folder of this machine; nothing outside of that folder is ever read."""

    def __init__(
        self, config: ConfiguredIndex, base: str, home: str, limits: Limits, get_http_client: Callable[[], "HttpClient"]
    ) -> None:
        self.config = config
        self.limits = limits
        self._get_http_client = get_http_client
        written = home + config.url[1:] if config.url.startswith("~/") else config.url
        self.folder = os.path.realpath(os.path.join(base, written))
        if not os.path.isdir(self.folder):
            raise FetchError(
                f"the index {config.name} cannot be read: {sanitize(config.url)} is no folder", where=config.defined_in
            )

    def read_document(self, address: str) -> str | None:
        """Read a document of the folder."""
        data = self._read_file(address, self.limits.index, "INDEX")
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            raise DocumentError("this document is not UTF-8", where=address) from None

    def fetch_if_changed(self, address: str, validators: Validators | None, output: BinaryIO) -> Validators:
        """Read what is newer, told by everything the file system knows of it."""
        with translate_os_errors("read an index", self._resolve_path(address)):
            try:
                state = os.stat(self._resolve_path(address))
            except (FileNotFoundError, NotADirectoryError):
                raise NotFoundError(f"{sanitize(address)} is not there") from None
        stamp = Validators(etag=f"{state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino} {state.st_size}")
        if validators is not None and stamp == validators:
            return validators
        data = self._read_file(address, self.limits.catalog, "CATALOGUE")
        if data is None:
            raise NotFoundError(f"{sanitize(address)} is not there")
        output.write(data)
        return stamp

    def exists(self, address: str) -> bool:
        """Look for a file."""
        return os.path.isfile(self._resolve_path(address))

    def read_archive(self, address: str, limit: int) -> bytes:
        """Read an archive of the folder, or take it from the web where the index says that it is there."""
        if "://" in address:
            return download_archive(self._get_http_client(), address, limit, {})
        data = self._read_file(address, limit, "DOWNLOAD")
        if data is None:
            raise NotFoundError(f"{sanitize(address)} is not there", where=self._resolve_path(address))
        return data

    def resolve_url(self, document: str, reference: str) -> str:
        """Follow an address within the folder, or onto the web."""
        if "://" in reference:
            if not reference.startswith(("https://", "http://")):
                raise RefusedError(f"{sanitize(document)} names `{sanitize(reference)}`, which is no web address")
            return reference
        inside = "" if reference.startswith("/") else document[len(self.config.url) :]
        reference = reference.removeprefix("/")  # from the top of the host, which here is the folder
        there = os.path.normpath(os.path.join("/", os.path.dirname(inside), reference)).lstrip("/")
        deep = os.path.normpath(os.path.join(os.path.dirname(inside), reference))
        if deep != there or "\\" in reference:
            raise RefusedError(f"{sanitize(document)} names `{sanitize(reference)}`, which leads out of the index")
        return self.config.url + there

    def host_root(self) -> str:
        """Give the folder itself."""
        return self.config.url

    def _resolve_path(self, address: str) -> str:
        path = os.path.join(self.folder, address[len(self.config.url) :])
        if not address.startswith(self.config.url) or not is_below(os.path.realpath(path), self.folder):
            raise RefusedError(
                f"{sanitize(address)} leads out of the index {self.config.name} ({sanitize(self.config.url)})"
            )
        return path

    def _read_file(self, address: str, limit: int, setting: str) -> bytes | None:
        path = self._resolve_path(address)
        with translate_os_errors("read an index", path):
            try:
                data = read_regular_file(os.path.realpath(path), limit)
            except (FileNotFoundError, NotADirectoryError):
                return None
        if data is None:
            raise RefusedError(f"{sanitize(address)} is no regular file")
        if len(data) > limit:
            raise FetchError(f"{sanitize(address)} is over {limit} bytes", hint=limit_hint(setting))
        return data
