"""Access to an index in a local folder. Nothing outside of the folder is ever read."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from skillpm.core.limits import Limits
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, FetchError, NotFoundError, RefusedError
from skillpm.fetchers.common.regular_file import read_regular_file
from skillpm.fetchers.http.document_cache import Validators
from skillpm.files import is_below, translate_os_errors
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.indexes.client.http_access import download_archive, limit_hint

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient


class FolderAccess:
    """Access to an index in a local folder."""

    def __init__(
        self, config: ConfiguredIndex, base: str, home: str, limits: Limits, get_http_client: Callable[[], "HttpClient"]
    ) -> None:
        self.config = config
        self.limits = limits
        self._get_http_client = get_http_client
        path = home + config.url[1:] if config.url.startswith("~/") else config.url
        self.folder = os.path.realpath(os.path.join(base, path))
        if not os.path.isdir(self.folder):
            raise FetchError(
                f"cannot read the index {config.name}: {sanitize(config.url)} is not a folder", where=config.defined_in
            )

    def read_document(self, address: str) -> str | None:
        """Return the text of a document; None if it does not exist."""
        data = self._read_file(address, self.limits.index, "INDEX")
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            raise DocumentError("this document is not UTF-8", where=address) from None

    def fetch_if_changed(self, address: str, validators: Validators | None) -> tuple[bytes, Validators] | None:
        """Return a catalog and its validators; None if times, inode and size of its file are those in `validators`.

        Raises `NotFoundError`.
        """
        with translate_os_errors("read an index", self._resolve_path(address)):
            try:
                state = os.stat(self._resolve_path(address))
            except (FileNotFoundError, NotADirectoryError):
                raise NotFoundError(f"{sanitize(address)} does not exist") from None
        current = Validators(etag=f"{state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino} {state.st_size}")
        if current == validators:
            return None
        data = self._read_file(address, self.limits.catalog, "CATALOGUE")
        if data is None:
            raise NotFoundError(f"{sanitize(address)} does not exist")
        return data, current

    def exists(self, address: str) -> bool:
        """Return whether a file exists."""
        return os.path.isfile(self._resolve_path(address))

    def read_archive(self, address: str, limit: int) -> bytes:
        """Read an archive of the folder, or download it if the index refers to a URL."""
        if "://" in address:
            return download_archive(self._get_http_client(), address, limit, {})
        data = self._read_file(address, limit, "DOWNLOAD")
        if data is None:
            raise NotFoundError(f"{sanitize(address)} does not exist", where=self._resolve_path(address))
        return data

    def resolve_url(self, document: str, reference: str) -> str:
        """Resolve a reference to a URL, or to a path in the folder. Raises `RefusedError` for a path outside of it."""
        if "://" in reference:
            if not reference.startswith(("https://", "http://")):
                raise RefusedError(
                    f"{sanitize(document)} refers to `{sanitize(reference)}`, which is not an http or https URL"
                )
            return reference
        # A reference that begins with a slash is relative to the root of the host, which for a folder is the folder.
        folder = "" if reference.startswith("/") else os.path.dirname(document[len(self.config.url) :])
        path = os.path.join(folder, reference.removeprefix("/"))
        # Below "/", `..` cannot go any higher: the two results differ exactly for a path that leaves the folder.
        clamped = os.path.normpath(os.path.join("/", path)).lstrip("/")
        if os.path.normpath(path) != clamped or "\\" in reference:
            raise RefusedError(f"{sanitize(document)} refers to `{sanitize(reference)}`, which is outside the index")
        return self.config.url + clamped

    def host_root(self) -> str:
        """Return the address of the index."""
        return self.config.url

    def _resolve_path(self, address: str) -> str:
        path = os.path.join(self.folder, address[len(self.config.url) :])
        # `realpath`, since the folder may be a clone of a hostile repository, with links to files outside of it.
        if not address.startswith(self.config.url) or not is_below(os.path.realpath(path), self.folder):
            raise RefusedError(
                f"{sanitize(address)} is outside the index {self.config.name} ({sanitize(self.config.url)})"
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
            raise RefusedError(f"{sanitize(address)} is not a regular file")
        if len(data) > limit:
            raise FetchError(f"{sanitize(address)} is over {limit} bytes", hint=limit_hint(setting))
        return data
