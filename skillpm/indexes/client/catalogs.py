"""Searchable catalogs of indexes. Each is requested at most once per run, and not again within a minute.

Each catalog is cached as a database (`database_cache`). An index that does not respond is searched as it was last
fetched (ADR 20).
"""

import os
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from sqlite3 import Error as DatabaseError
from threading import Lock
from typing import TYPE_CHECKING

from skillpm import __version__
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FetchError, NotFoundError, SkillpmError
from skillpm.events import Reporter
from skillpm.fetchers.bundled_paths import bundled_folder, bundled_names
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.http.document_cache import Validators
from skillpm.fetchers.public_directory import SKILLS_FILE, read_directory_file
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.public_skills import read_public_skills
from skillpm.formats.searched_catalog import CatalogEntry, read_searched_catalog
from skillpm.formats.well_known import ALL_PATHS
from skillpm.indexes.search.database import build_database, build_in_memory
from skillpm.indexes.search.database_cache import CacheHeader, DatabaseCache
from skillpm.indexes.search.full_text import SearchDatabase
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient
    from skillpm.indexes.client.access import IndexAccess

FRESH_SECONDS = 60.0
CATALOG_FILE = "index.json"
BUNDLED_KEY = "bundled"
PUBLIC_KEY = "public"


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
        self._destinations = Destinations()
        self._http_client: HttpClient | None = None
        self._lock = Lock()

    def is_fresh(self, config: ConfiguredIndex) -> bool:
        """Return whether an index can be searched without a request."""
        if config.is_local or self.settings.offline:
            return True
        header = self._cache.read_header(self._key(config))
        return header is not None and _is_fresh(header)

    def open_index(self, config: ConfiguredIndex, *, refresh: bool = False) -> SearchedIndex:
        """Open an index, in its current state if possible. Errors of the index are returned, not raised.

        With `refresh`, it is requested even if that was done within the last minute.
        """
        key = self._key(config)
        header = self._cache.read_header(key)
        database = None if header is None else self._cache.open(key, header)
        cached = None
        if header is not None and database is not None:
            cached = (
                header,
                SearchedIndex(
                    config=config, database=database, fetched_at=header.fetched_at, skill_count=header.skills
                ),
            )
        is_offline = self.settings.offline and not config.is_local
        if cached is not None and not config.is_local and (is_offline or (_is_fresh(cached[0]) and not refresh)):
            return cached[1]
        if is_offline:
            return SearchedIndex(config=config, database=None, error="it is not cached, and the network is disabled")
        task = f"reading the catalog of {config.name}"
        self.reporter.start_task(task)
        try:
            return self._refresh(config, key, cached)
        except SkillpmError as error:
            where = f" ({error.where})" if error.where else ""
            message = f"{error.message}{where}{f'; {error.hint}' if error.hint else ''}"
            known = SearchedIndex(config=config, database=None) if cached is None else cached[1]
            return known.replace(error=message)
        finally:
            self.reporter.finish_task(task)

    def open_bundled(self) -> SearchDatabase:
        """Open the catalog of the bundled skills."""
        return self._open_shipped(BUNDLED_KEY, _bundled_validators(), _read_bundled_entries)

    def open_public(self) -> SearchDatabase:
        """Open the catalog of the directory of public skills."""
        state = os.stat(SKILLS_FILE)
        validators = Validators(etag=f"{__version__}:{state.st_size}:{state.st_mtime_ns}")
        return self._open_shipped(PUBLIC_KEY, validators, lambda: public_entries(read_directory_file(SKILLS_FILE)))

    def _open_shipped(
        self, key: str, validators: Validators, read_entries: Callable[[], Iterable[CatalogEntry]]
    ) -> SearchDatabase:
        """Open a catalog that ships with skillpm: the cached one, unless its files have changed."""
        header = self._cache.read_header(key)
        if header is not None and header.validators == validators:
            database = self._cache.open(key, header)
            if database is not None:
                return database
        new_header = CacheHeader(address="", validators=validators, fetched_at=0)
        return self._build(key, new_header, tuple(read_entries()))

    def _refresh(
        self, config: ConfiguredIndex, key: str, cached: tuple[CacheHeader, SearchedIndex] | None
    ) -> SearchedIndex:
        from skillpm.indexes.client.access import open_access  # noqa: PLC0415  (not needed for a cached search)

        self._destinations.name(config.url)
        access = open_access(
            config, self.settings, self.base, self._get_http_client, self._destinations, self.reporter.warn
        )
        address, fetched = _fetch_catalog(config, access, None if cached is None else cached[0])
        now = time.time()
        if cached is not None and fetched is None:
            header, known = cached
            if self._can_write_cache and not config.is_local:
                with suppress(OSError):
                    self._cache.write_header(key, header.replace(fetched_at=now))
            return known.replace(fetched_at=now)
        if fetched is None:
            raise AssertionError("a catalog that is not cached is fetched unconditionally")
        data, validators = fetched
        file = _resolve_address(config, address)
        catalog = read_searched_catalog(data, file, is_skillpm_index=address == CATALOG_FILE)
        new_header = CacheHeader(address=address, validators=validators, fetched_at=now)
        database = self._build(key, new_header, catalog.entries)
        for problem in catalog.problems:
            self.reporter.warn(problem)
        if catalog.skipped_count > len(catalog.problems):
            self.reporter.warn(f"{file}: skipped {catalog.skipped_count} entries")
        return SearchedIndex(config=config, database=database, fetched_at=now, skill_count=len(catalog.entries))

    def _build(self, key: str, header: CacheHeader, entries: Iterable[CatalogEntry]) -> SearchDatabase:
        """Build a database in the cache, or in memory if the cache cannot be written."""
        if self._can_write_cache:
            with suppress(OSError, DatabaseError):
                return self._cache.replace_database(key, header, lambda path: build_database(path, entries))
        return build_in_memory(entries)

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

                self._http_client = HttpClient(self.settings, self.reporter, self._destinations)
            return self._http_client


def public_entries(text: str, repositories: Container[str] | None = None) -> Iterator[CatalogEntry]:
    """Yield the catalog entries of the directory of public skills, or only those of some of its repositories."""
    for skill in read_public_skills(text):
        if repositories is None or skill.repository in repositories:
            words = " ".join(skill.words)
            yield CatalogEntry(name=skill.name, description=words, tags=(skill.repository,), folder=skill.folder)


def _fetch_catalog(
    config: ConfiguredIndex, access: "IndexAccess", header: CacheHeader | None
) -> tuple[str, tuple[bytes, Validators] | None]:
    """Return the address of a catalog, and its bytes with their validators; None if it is unchanged.

    The address is relative to the index, or the URL of a discovery document at the root of its host. Raises
    `FetchError` if there is no catalog.
    """
    if header is not None:
        with suppress(NotFoundError):  # a discovery site may become a skillpm index, or the other way round
            return header.address, access.fetch_if_changed(_resolve_address(config, header.address), header.validators)
    root = access.host_root()
    bases = ("",) if root == config.url else ("", root)
    for address in [CATALOG_FILE, *(base + path for path in ALL_PATHS for base in bases)]:
        with suppress(NotFoundError):
            return address, access.fetch_if_changed(_resolve_address(config, address), None)
    raise FetchError(
        f"no index found at {sanitize(config.url)}: neither {CATALOG_FILE} nor {ALL_PATHS[0]} exists",
        where=config.defined_in,
    )


def _is_fresh(header: CacheHeader) -> bool:
    # A time in the future is not fresh: the clock was set back.
    return 0 <= time.time() - header.fetched_at < FRESH_SECONDS


def _resolve_address(config: ConfiguredIndex, address: str) -> str:
    return address if "://" in address else config.url + address


def _bundled_validators() -> Validators:
    """Return validators that change with the version of skillpm, and with edits to the skills of a checkout."""
    states = [(name, os.stat(_skill_file_path(name))) for name in bundled_names()]
    return Validators(
        etag=" ".join([__version__, *(f"{name}:{state.st_size}:{state.st_mtime_ns}" for name, state in states)])
    )


def _read_bundled_entries() -> Iterator[CatalogEntry]:
    """Read the catalog entries of the bundled skills. Triggers are added to the tags."""
    from skillpm.skillmd.skill import read_skill  # noqa: PLC0415  (imports YAML, once per version of skillpm)

    for name in bundled_names():
        with open(_skill_file_path(name), "rb") as file:
            skill = read_skill(file.read())
        yield CatalogEntry(
            name=SkillName(name),
            description=skill.description,
            category=skill.category,
            tags=tuple(dict.fromkeys([*skill.tags, *skill.triggers])),
            version=skill.version,
        )


def _skill_file_path(name: str) -> str:
    return os.path.join(bundled_folder(), name, SKILL_FILE)
