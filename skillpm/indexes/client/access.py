"""How an index is reached, be it on the web or in a folder: documents, which change, and archives, which do not."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol

from skillpm.formats.index_sources import IndexPlace
from skillpm.indexes.client.access_tokens import token_for
from skillpm.indexes.client.folder_access import FolderAccess
from skillpm.indexes.client.http_access import WebAccess
from skillpm.indexes.client.http_cache import Remembered, Stamp
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import Web


class Access(Protocol):
    """How one index is reached. Addresses are whole: a web address, or a path as the index was written."""

    def document(self, address: str) -> str | None:
        """Give a document's text, or None where there is none."""

    def newer(self, address: str, than: Stamp | None, into: BinaryIO) -> Stamp:
        """Write a catalogue into a file and give its stamp; where it is still the same, write nothing and give `than`.

        A catalogue may be larger than a document. Raises `NotFoundError` where there is none.
        """

    def is_there(self, address: str) -> bool:
        """Tell whether there is a file, without reading it."""

    def archive(self, address: str, limit: int) -> bytes:
        """Give an archive's bytes. Raises `NotFoundError` where there is none."""

    def lead(self, document: str, to: str) -> str:
        """Give the whole address of what a document names. Raises `RefusedError` for one that leads astray."""

    def root(self) -> str:
        """Give the top of the host the index is on; the index's own address where there is no such thing."""


def access_to(
    place: IndexPlace, settings: Settings, base: str, web: Callable[[], "Web"], warn: Callable[[str], None]
) -> Access:
    """Open an index; a relative folder starts at `base`. Raises `FetchError` for a folder that is not there."""
    if place.is_local:
        return FolderAccess(place, base, settings.home, settings.limits, web)
    token = token_for(place, settings, warn)
    return WebAccess(place, token, Remembered(os.path.join(settings.cache_dir, "indexes")), web)
