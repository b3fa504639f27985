"""Access to the files of an index, on a web server or in a folder."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol

from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.indexes.client.access_tokens import read_index_token
from skillpm.indexes.client.folder_access import FolderAccess
from skillpm.indexes.client.http_access import HttpAccess
from skillpm.indexes.client.http_cache import HttpCache, Validators
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient


class IndexAccess(Protocol):
    """Access to one index. An address is an absolute URL, or a path that begins with the index as it is configured."""

    def read_document(self, address: str) -> str | None:
        """Return the text of a document; None if it does not exist."""

    def fetch_if_changed(self, address: str, validators: Validators | None, output: BinaryIO) -> Validators:
        """Write a catalog to `output` and return its validators. If unchanged, write nothing and return `validators`.

        The size limit is that of catalogs, which is higher than that of documents. Raises `NotFoundError`.
        """

    def exists(self, address: str) -> bool:
        """Return whether a file exists, without reading it."""

    def read_archive(self, address: str, limit: int) -> bytes:
        """Return the bytes of an archive. Raises `NotFoundError`."""

    def resolve_url(self, document: str, reference: str) -> str:
        """Resolve a reference in a document to an address. Raises `RefusedError` for one that is not allowed."""

    def host_root(self) -> str:
        """Return the root URL of the index's host; for a folder, the address of the index."""


def open_access(
    config: ConfiguredIndex,
    settings: Settings,
    base: str,
    get_http_client: Callable[[], "HttpClient"],
    warn: Callable[[str], None],
) -> IndexAccess:
    """Open an index; a relative folder is relative to `base`. Raises `FetchError` for a missing folder."""
    if config.is_local:
        return FolderAccess(config, base, settings.home, settings.limits, get_http_client)
    token = read_index_token(config, settings, warn)
    return HttpAccess(config, token, HttpCache(os.path.join(settings.cache_dir, "indexes")), get_http_client)
