"""The catalogues of indexes, to search in: each asked for at most once a run, and not at all within a minute.

What is remembered is a database for each (database_cache.py); an index that is silent is searched as it was heard last
(docs/adr/0022-searching-indexes.md).
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
    """An index as it can be searched: `heard` is when, `fault` why it is not as it is now; None: not at all."""

    config: ConfiguredIndex
    database: SearchDatabase | None
    fetched_at: float = 0
    skill_count: int = 0
    error: str = ""


class Catalogs:
    """Every catalogue of a run. `is_kept` says whether the cache may be written; relative folders start at `base`."""

    def __init__(self, settings: Settings, base: str, reporter: Reporter, *, can_write_cache: bool) -> None:
        self.settings = settings
        self.base = base
        self.reporter = reporter
        self._cache = DatabaseCache(os.path.join(settings.cache_dir, "search"))
        self._can_write_cache = can_write_cache
        self._http_client: HttpClient | None = None
        self._lock = Lock()

    def is_fresh(self, config: ConfiguredIndex) -> bool:
        """Tell whether an index can be searched without asking a server."""
        if config.is_local or self.settings.offline:
            return True
        head = self._cache.read_header(self._key(config))
        return head is not None and _is_fresh(head)

    def open_index(self, config: ConfiguredIndex) -> SearchedIndex:
        """Give an index to search in, as new as it can be had. Never raises for what an index does wrong."""
        key = self._key(config)
        head = self._cache.read_header(key)
        known = None if head is None else self._cache.open(key, head)
        if head is None or known is None:
            head = known = None
        is_offline = self.settings.offline and not config.is_local
        if head is not None and not config.is_local and (is_offline or _is_fresh(head)):
            return SearchedIndex(config=config, database=known, fetched_at=head.fetched_at, skill_count=head.skills)
        if is_offline:
            return SearchedIndex(
                config=config, database=None, error="it is not in the cache, and the network is switched off"
            )
        what = f"reading the catalogue of {config.name}"
        self.reporter.start_task(what)
        try:
            return self._refresh_locked(config, key, head, known)
        except SkillpmError as error:
            where = f" ({error.where})" if error.where else ""
            fault = f"{error.message}{where}{f'; {error.hint}' if error.hint else ''}"
            if head is None:
                return SearchedIndex(config=config, database=None, error=fault)
            return SearchedIndex(
                config=config, database=known, fetched_at=head.fetched_at, skill_count=head.skills, error=fault
            )
        finally:
            self.reporter.finish_task(what)

    def open_bundled(self) -> SearchDatabase:
        """Give the skills that ship with the tool, to search in."""
        stamp = bundled_validators()
        head = self._cache.read_header(BUNDLED_KEY)
        known = None if head is None or head.validators != stamp else self._cache.open(BUNDLED_KEY, head)
        if known is not None:
            return known
        with self._lock_cache(BUNDLED_KEY, "skills that ship with skillpm"):
            return self._build(
                BUNDLED_KEY, CacheHeader(address="", validators=stamp, content="", fetched_at=0), read_bundled_entries
            )

    def _refresh_locked(
        self, config: ConfiguredIndex, key: str, header: CacheHeader | None, database: SearchDatabase | None
    ) -> SearchedIndex:
        """Ask an index. One on the web is asked by one process, and who waited for that finds the answer in the cache;
        a folder is just looked at, and only a new database needs the lock.
        """
        if config.is_local:
            return self._refresh(config, key, header, database)
        with self._lock_cache(key, f"catalogue of {config.name}"):
            later = self._cache.read_header(key)
            if later is not None and _is_fresh(later):
                answered = self._cache.open(key, later)
                if answered is not None:
                    return SearchedIndex(
                        config=config, database=answered, fetched_at=later.fetched_at, skill_count=later.skills
                    )
            return self._refresh(config, key, header, database)

    def _refresh(
        self, config: ConfiguredIndex, key: str, header: CacheHeader | None, database: SearchDatabase | None
    ) -> SearchedIndex:
        from skillpm.indexes.client.access import open_access  # noqa: PLC0415  (only where an index is asked)

        text = io.BytesIO()
        access = open_access(config, self.settings, self.base, self._get_http_client, self.reporter.warn)
        address, stamp = _fetch_catalog(config, access, header, text)
        content = sha256(text.getbuffer()).hexdigest() if text.tell() else ""
        fresh = CacheHeader(address=address, validators=stamp, content=content, fetched_at=time.time())
        if header is not None and database is not None and (stamp is header.validators or content == header.content):
            fresh = fresh.replace(content=header.content, database=header.database, skills=header.skills)
            if self._can_write_cache and not config.is_local:
                with suppress(OSError):
                    self._cache.write_header(key, fresh)
            return SearchedIndex(
                config=config, database=database, fetched_at=fresh.fetched_at, skill_count=header.skills
            )
        read: list[CatalogStream] = []

        def entries() -> CatalogStream:
            read.append(
                CatalogStream(
                    _read_chunks(text), _resolve_address(config, address), is_skillpm_index=address == CATALOG_FILE
                )
            )
            return read[-1]

        with self._lock_cache(key, f"catalogue of {config.name}") if config.is_local else nullcontext():
            searchable = self._build(key, fresh, entries)
        for problem in read[-1].problems:
            self.reporter.warn(problem)
        if read[-1].skipped_count > len(read[-1].problems):
            self.reporter.warn(f"{_resolve_address(config, address)}: {read[-1].skipped_count} entries are left out")
        return SearchedIndex(
            config=config, database=searchable, fetched_at=fresh.fetched_at, skill_count=searchable.count()
        )

    def _build(self, key: str, header: CacheHeader, entries: Callable[[], Iterable[CatalogEntry]]) -> SearchDatabase:
        """Make a database: in the cache, and where that does not work, in memory."""
        if self._can_write_cache:
            with suppress(OSError, DatabaseError):
                return self._cache.replace_database(
                    key, header, lambda path: build_database(path, found := entries(), _duplicate_names(found))
                )
        return build_in_memory(found := entries(), _duplicate_names(found))

    @contextmanager
    def _lock_cache(self, key: str, what: str) -> Iterator[None]:
        """Hold the lock of an index; a cache that has no room for a lock is not written to."""
        with ExitStack() as stack:
            if self._can_write_cache:
                from skillpm.locks import hold_lock  # noqa: PLC0415  (filelock, which a search within a minute needs not)

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
        """Give what tells an index apart: its address, of a folder wherever one stands."""
        if not config.is_local:
            return config.url
        written = self.settings.home + config.url[1:] if config.url.startswith("~/") else config.url
        return os.path.realpath(os.path.join(self.base, written))

    def _get_http_client(self) -> "HttpClient":
        with self._lock:
            if self._http_client is None:
                from skillpm.fetchers.http.client import HttpClient  # noqa: PLC0415  (httpx; nothing is asked within a minute)

                self._http_client = HttpClient(self.settings, self.reporter.log_verbose)
            return self._http_client


def _fetch_catalog(
    config: ConfiguredIndex, access: "IndexAccess", header: CacheHeader | None, output: BinaryIO
) -> tuple[str, Validators]:
    """Write the catalogue of an index, if it is new, and give where it is: in the index, or on its host.

    Raises `FetchError` where there is none.
    """
    if header is not None:
        with suppress(NotFoundError):  # an index may become a site, and a site an index
            return header.address, access.fetch_if_changed(
                _resolve_address(config, header.address), header.validators, output
            )
    top = access.host_root()
    elsewhere = () if top == config.url else (top,)
    for address in [CATALOG_FILE, *(before + path for path in ALL_PATHS for before in ("", *elsewhere))]:
        with suppress(NotFoundError):
            return address, access.fetch_if_changed(_resolve_address(config, address), None, output)
    raise FetchError(
        f"there is no index at {sanitize(config.url)}: neither {CATALOG_FILE} nor {ALL_PATHS[0]}",
        where=config.defined_in,
    )


def _is_fresh(header: CacheHeader) -> bool:
    return 0 <= time.time() - header.fetched_at < FRESH_SECONDS


def _resolve_address(config: ConfiguredIndex, address: str) -> str:
    return address if "://" in address else config.url + address


def _duplicate_names(entries: Iterable[CatalogEntry]) -> Collection[str]:
    return entries.duplicates if isinstance(entries, CatalogStream) else ()


def _read_chunks(text: BinaryIO) -> Iterator[bytes]:
    text.seek(0)
    while piece := text.read(CHUNK_SIZE):
        yield piece
