"""How an index is reached, be it on the web or in a folder: documents, which change, and archives, which do not."""

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
    """How one index is reached. Addresses are whole: a web address, or a path as the index was written."""

    def read_document(self, address: str) -> str | None:
        """Give a document's text, or None where there is none."""

    def fetch_if_changed(self, address: str, validators: Validators | None, output: BinaryIO) -> Validators:
        """Write a catalogue into a file and give its stamp; where it is still the same, write nothing and give `than`.

        A catalogue may be larger than a document. Raises `NotFoundError` where there is none.
        """

    def exists(self, address: str) -> bool:
        """Tell whether there is a file, without reading it."""

    def read_archive(self, address: str, limit: int) -> bytes:
        """Give an archive's bytes. Raises `NotFoundError` where there is none."""

    def resolve_url(self, document: str, reference: str) -> str:
        """Give the whole address of what a document names. Raises `RefusedError` for one that leads astray."""

    def host_root(self) -> str:
        """Give the top of the host the index is on; the index's own address where there is no such thing."""


def open_access(
    config: ConfiguredIndex,
    settings: Settings,
    base: str,
    get_http_client: Callable[[], "HttpClient"],
    warn: Callable[[str], None],
) -> IndexAccess:
    """Open an index; a relative folder starts at `base`. Raises `FetchError` for a folder that is not there."""
    if config.is_local:
        return FolderAccess(config, base, settings.home, settings.limits, get_http_client)
    token = read_index_token(config, settings, warn)
    return HttpAccess(config, token, HttpCache(os.path.join(settings.cache_dir, "indexes")), get_http_client)
