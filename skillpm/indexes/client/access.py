"""Access to the files of an index, on a web server or in a folder."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.http.document_cache import HttpCache
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.indexes.client.folder_access import FolderAccess
from skillpm.indexes.client.http_access import HttpAccess, read_index_token
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient


IndexAccess = HttpAccess | FolderAccess
"""Access to one index. An address is an absolute URL, or a path that begins with the index as it is configured."""


def open_access(
    config: ConfiguredIndex,
    settings: Settings,
    base: str,
    get_http_client: Callable[[], "HttpClient"],
    destinations: Destinations,
    warn: Callable[[str], None],
) -> IndexAccess:
    """Open an index; a relative folder is relative to `base`. Raises `FetchError` for a missing folder."""
    if config.is_local:
        return FolderAccess(config, base, settings.home, settings.limits, get_http_client)
    token = read_index_token(config, settings, warn)
    return HttpAccess(
        config, token, HttpCache(os.path.join(settings.cache_dir, "indexes")), get_http_client, destinations
    )
