"""Searchable catalogs of indexes. Each is requested at most once per run, and not again within a minute.

Each catalog is cached as a database (`database_cache`). An index that does not respond is searched as it was last
fetched (docs/adr/0022-searching-indexes.md).
"""

import io
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from hashlib import sha256
from sqlite3 import Error as DatabaseError
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO

from skillpm.cachedir import tag_cache_folder
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FetchError, FileError, NotFoundError, SkillpmError
from skillpm.events import Reporter
from skillpm.files import translate_os_errors
from skillpm.formats.catalog_stream import CatalogEntry, CatalogStream
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.well_known import ALL_PATHS
from skillpm.indexes.client.http_cache import Validators
from skillpm.indexes.search.bundled_catalog import bundled_validators, read_bundled_entries
from skillpm.indexes.search.database import build_database, build_in_memory
from skillpm.indexes.search.database_cache import CacheHeader, DatabaseCache
from skillpm.indexes.search.full_text import SearchDatabase
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient
    from skillpm.indexes.client.access import IndexAccess

FRESH_SECONDS = 60.0
CHUNK_SIZE = 1 << 16
CATALOG_FILE = "index.json"
BUNDLED_KEY = "bundled"


class SearchedIndex(Value):
    """An index that was opened for a search."""

    config: ConfiguredIndex
    # None if the index could not be read and is not cached.
    database: SearchDatabase | None
    # Seconds since 1970.
    fetched_at: float = 0
    skill_count: int = 0
    # Why the index could not be read; the database, if any, is an older one.
    error: str = ""


class Catalogs:
    """The catalogs of all indexes. Relative folders are relative to `base`."""

    def __init__(self, settings: Settings, base: str, reporter: Reporter, *, can_write_cache: bool) -> None:
        self.settings = settings
        self.base = base
        self.reporter = reporter
        self._cache = DatabaseCache(os.path.join(settings.cache_dir, "search"))
        self._can_write_cache = can_write_cache
        self._http_client: HttpClient | None = None
        self._lock = Lock()

    def is_fresh(self, config: ConfiguredIndex) -> bool:
        """Return whether an index can be searched without a request."""
        if config.is_local or self.settings.offline:
            return True
        header = self._cache.read_header(self._key(config))
        return header is not None and _is_fresh(header)

    def open_index(self, config: ConfiguredIndex) -> SearchedIndex:
        """Open an index, in its current state if possible. Errors of the index are returned, not raised."""
        key = self._key(config)
        header = self._cache.read_header(key)
        database = None if header is None else self._cache.open(key, header)
        if header is None or database is None:
            header = database = None
        is_offline = self.settings.offline and not config.is_local
        if header is not None and not config.is_local and (is_offline or _is_fresh(header)):
            return SearchedIndex(
                config=config, database=database, fetched_at=header.fetched_at, skill_count=header.skills
            )
        if is_offline:
            return SearchedIndex(config=config, database=None, error="it is not cached, and the network is disabled")
        task = f"reading the catalog of {config.name}"
        self.reporter.start_task(task)
        try:
            return self._refresh_locked(config, key, header, database)
        except SkillpmError as error:
            where = f" ({error.where})" if error.where else ""
            message = f"{error.message}{where}{f'; {error.hint}' if error.hint else ''}"
            if header is None:
                return SearchedIndex(config=config, database=None, error=message)
            return SearchedIndex(
                config=config,
                database=database,
                fetched_at=header.fetched_at,
                skill_count=header.skills,
                error=message,
            )
        finally:
            self.reporter.finish_task(task)

    def open_bundled(self) -> SearchDatabase:
        """Open the catalog of the bundled skills."""
        validators = bundled_validators()
        header = self._cache.read_header(BUNDLED_KEY)
        if header is not None and header.validators == validators:
            database = self._cache.open(BUNDLED_KEY, header)
            if database is not None:
                return database
        new_header = CacheHeader(address="", validators=validators, content="", fetched_at=0)
        with self._lock_cache(BUNDLED_KEY, "catalog of the bundled skills"):
            return self._build(BUNDLED_KEY, new_header, read_bundled_entries)

    def _refresh_locked(
        self, config: ConfiguredIndex, key: str, header: CacheHeader | None, database: SearchDatabase | None
    ) -> SearchedIndex:
        """Refresh an index. Only one process requests it: those that wait for the lock then find it in the cache.

        A folder needs no lock to check whether it changed, only to build a new database.
        """
        if config.is_local:
            return self._refresh(config, key, header, database)
        with self._lock_cache(key, f"catalog of {config.name}"):
            current = self._cache.read_header(key)
            if current is not None and _is_fresh(current):
                refreshed = self._cache.open(key, current)
                if refreshed is not None:
                    return SearchedIndex(
                        config=config, database=refreshed, fetched_at=current.fetched_at, skill_count=current.skills
                    )
            return self._refresh(config, key, header, database)

    def _refresh(
        self, config: ConfiguredIndex, key: str, header: CacheHeader | None, database: SearchDatabase | None
    ) -> SearchedIndex:
        from skillpm.indexes.client.access import open_access  # noqa: PLC0415  (not needed for a cached search)

        text = io.BytesIO()
        access = open_access(config, self.settings, self.base, self._get_http_client, self.reporter.warn)
        address, validators = _fetch_catalog(config, access, header, text)
        content = sha256(text.getbuffer()).hexdigest() if text.tell() else ""
        new_header = CacheHeader(address=address, validators=validators, content=content, fetched_at=time.time())
        # The same object: the catalog is unchanged. The same content: a server without validators sent it again.
        is_same = header is not None and (validators is header.validators or content == header.content)
        if header is not None and database is not None and is_same:
            new_header = new_header.replace(content=header.content, database=header.database, skills=header.skills)
            if self._can_write_cache and not config.is_local:
                with suppress(OSError):
                    self._cache.write_header(key, new_header)
            return SearchedIndex(
                config=config, database=database, fetched_at=new_header.fetched_at, skill_count=header.skills
            )
        streams: list[CatalogStream] = []  # two, if the database has to be built again in memory

        def entries() -> CatalogStream:
            streams.append(
                CatalogStream(
                    _read_chunks(text), _resolve_address(config, address), is_skillpm_index=address == CATALOG_FILE
                )
            )
            return streams[-1]

        with self._lock_cache(key, f"catalog of {config.name}") if config.is_local else nullcontext():
            new_database = self._build(key, new_header, entries)
        stream = streams[-1]
        for problem in stream.problems:
            self.reporter.warn(problem)
        if stream.skipped_count > len(stream.problems):
            self.reporter.warn(f"{_resolve_address(config, address)}: skipped {stream.skipped_count} entries")
        return SearchedIndex(
            config=config,
            database=new_database,
            fetched_at=new_header.fetched_at,
            skill_count=new_database.count(),
        )

    def _build(self, key: str, header: CacheHeader, entries: Callable[[], Iterable[CatalogEntry]]) -> SearchDatabase:
        """Build a database in the cache, or in memory if the cache cannot be written."""
        if self._can_write_cache:
            with suppress(OSError, DatabaseError):
                return self._cache.replace_database(
                    key, header, lambda path: build_database(path, source := entries(), _duplicate_names(source))
                )
        return build_in_memory(source := entries(), _duplicate_names(source))

    @contextmanager
    def _lock_cache(self, key: str, what: str) -> Iterator[None]:
        """Hold the lock of a cached catalog. If the lock cannot be created, the cache is not written in this run."""
        with ExitStack() as stack:
            if self._can_write_cache:
                from skillpm.locks import hold_lock  # noqa: PLC0415  (imports filelock)

                path = f"{self._cache.path_prefix(key)}.lock"
                try:
                    with translate_os_errors("mark the cache", self.settings.cache_dir):
                        tag_cache_folder(self.settings.cache_dir)
                    stack.enter_context(
                        hold_lock(path, self.settings.lock_timeout, f"the {what}", self.reporter.log_verbose)
                    )
                except FileError:
                    self._can_write_cache = False
            yield

    def _key(self, config: ConfiguredIndex) -> str:
        """Return the cache key of an index: its URL, or the absolute path of its folder."""
        if not config.is_local:
            return config.url
        path = self.settings.home + config.url[1:] if config.url.startswith("~/") else config.url
        return os.path.realpath(os.path.join(self.base, path))

    def _get_http_client(self) -> "HttpClient":
        with self._lock:
            if self._http_client is None:
                from skillpm.fetchers.http.client import HttpClient  # noqa: PLC0415  (imports httpx)

                self._http_client = HttpClient(self.settings, self.reporter.log_verbose)
            return self._http_client


def _fetch_catalog(
    config: ConfiguredIndex, access: "IndexAccess", header: CacheHeader | None, output: BinaryIO
) -> tuple[str, Validators]:
    """Write the catalog of an index to `output` if it changed. Returns its validators and its address.

    The address is relative to the index, or the URL of a discovery document at the root of its host. Raises
    `FetchError` if there is no catalog.
    """
    if header is not None:
        with suppress(NotFoundError):  # a discovery site may become a skillpm index, or the other way round
            return header.address, access.fetch_if_changed(
                _resolve_address(config, header.address), header.validators, output
            )
    root = access.host_root()
    bases = ("",) if root == config.url else ("", root)
    for address in [CATALOG_FILE, *(base + path for path in ALL_PATHS for base in bases)]:
        with suppress(NotFoundError):
            return address, access.fetch_if_changed(_resolve_address(config, address), None, output)
    raise FetchError(
        f"no index found at {sanitize(config.url)}: neither {CATALOG_FILE} nor {ALL_PATHS[0]} exists",
        where=config.defined_in,
    )


def _is_fresh(header: CacheHeader) -> bool:
    # A time in the future is not fresh: the clock was set back.
    return 0 <= time.time() - header.fetched_at < FRESH_SECONDS


def _resolve_address(config: ConfiguredIndex, address: str) -> str:
    return address if "://" in address else config.url + address


def _duplicate_names(entries: Iterable[CatalogEntry]) -> Collection[str]:
    # The set that the stream fills while it is read, not a copy of it.
    return entries.duplicates if isinstance(entries, CatalogStream) else ()


def _read_chunks(text: BinaryIO) -> Iterator[bytes]:
    text.seek(0)
    while chunk := text.read(CHUNK_SIZE):
        yield chunk
