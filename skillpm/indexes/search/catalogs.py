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

from skillpm.cachedir import mark
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import FetchError, FileError, NotFoundError, SkillpmError
from skillpm.events import Reporter
from skillpm.files import told
from skillpm.formats.catalog_stream import Entries, Entry
from skillpm.formats.index_sources import IndexPlace
from skillpm.formats.well_known import OLD_PATHS
from skillpm.indexes.client.http_cache import Stamp
from skillpm.indexes.search.bundled_catalog import shipped_entries, shipped_stamp
from skillpm.indexes.search.database import build, in_memory
from skillpm.indexes.search.database_cache import Head, Kept
from skillpm.indexes.search.full_text import Searchable
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import Web
    from skillpm.indexes.client.access import Access

FRESH = 60.0
CHUNK = 1 << 16
CATALOGUE = "index.json"
SHIPPED = "bundled"


class Looked(Value):
    """An index as it can be searched: `heard` is when, `fault` why it is not as it is now; None: not at all."""

    place: IndexPlace
    searchable: Searchable | None
    heard: float = 0
    skills: int = 0
    fault: str = ""


class Catalogues:
    """Every catalogue of a run. `is_kept` says whether the cache may be written; relative folders start at `base`."""

    def __init__(self, settings: Settings, base: str, reporter: Reporter, *, is_kept: bool) -> None:
        self.settings = settings
        self.base = base
        self.reporter = reporter
        self._kept = Kept(os.path.join(settings.cache_dir, "search"))
        self._is_kept = is_kept
        self._web: Web | None = None
        self._lock = Lock()

    def is_fresh(self, place: IndexPlace) -> bool:
        """Tell whether an index can be searched without asking a server."""
        if place.is_local or self.settings.offline:
            return True
        head = self._kept.head(self._key(place))
        return head is not None and _is_fresh(head)

    def look(self, place: IndexPlace) -> Looked:
        """Give an index to search in, as new as it can be had. Never raises for what an index does wrong."""
        key = self._key(place)
        head = self._kept.head(key)
        known = None if head is None else self._kept.open(key, head)
        if head is None or known is None:
            head = known = None
        is_offline = self.settings.offline and not place.is_local
        if head is not None and not place.is_local and (is_offline or _is_fresh(head)):
            return Looked(place=place, searchable=known, heard=head.heard, skills=head.skills)
        if is_offline:
            return Looked(place=place, searchable=None, fault="it is not in the cache, and the network is switched off")
        what = f"reading the catalogue of {place.name}"
        self.reporter.started(what)
        try:
            return self._asked(place, key, head, known)
        except SkillpmError as error:
            where = f" ({error.where})" if error.where else ""
            fault = f"{error.message}{where}{f'; {error.hint}' if error.hint else ''}"
            if head is None:
                return Looked(place=place, searchable=None, fault=fault)
            return Looked(place=place, searchable=known, heard=head.heard, skills=head.skills, fault=fault)
        finally:
            self.reporter.finished(what)

    def shipped(self) -> Searchable:
        """Give the skills that ship with the tool, to search in."""
        stamp = shipped_stamp()
        head = self._kept.head(SHIPPED)
        known = None if head is None or head.stamp != stamp else self._kept.open(SHIPPED, head)
        if known is not None:
            return known
        with self._writing(SHIPPED, "skills that ship with skillpm"):
            return self._built(SHIPPED, Head(address="", stamp=stamp, content="", heard=0), shipped_entries)

    def _asked(self, place: IndexPlace, key: str, head: Head | None, known: Searchable | None) -> Looked:
        """Ask an index. One on the web is asked by one process, and who waited for that finds the answer in the cache;
        a folder is just looked at, and only a new database needs the lock.
        """
        if place.is_local:
            return self._renewed(place, key, head, known)
        with self._writing(key, f"catalogue of {place.name}"):
            later = self._kept.head(key)
            if later is not None and _is_fresh(later):
                answered = self._kept.open(key, later)
                if answered is not None:
                    return Looked(place=place, searchable=answered, heard=later.heard, skills=later.skills)
            return self._renewed(place, key, head, known)

    def _renewed(self, place: IndexPlace, key: str, head: Head | None, known: Searchable | None) -> Looked:
        from skillpm.indexes.client.access import access_to  # noqa: PLC0415  (only where an index is asked)

        text = io.BytesIO()
        access = access_to(place, self.settings, self.base, self._client, self.reporter.warning)
        address, stamp = _fetched(place, access, head, text)
        content = sha256(text.getbuffer()).hexdigest() if text.tell() else ""
        fresh = Head(address=address, stamp=stamp, content=content, heard=time.time())
        if head is not None and known is not None and (stamp is head.stamp or content == head.content):
            fresh = fresh.but(content=head.content, database=head.database, skills=head.skills)
            if self._is_kept and not place.is_local:
                with suppress(OSError):
                    self._kept.note(key, fresh)
            return Looked(place=place, searchable=known, heard=fresh.heard, skills=head.skills)
        read: list[Entries] = []

        def entries() -> Entries:
            read.append(Entries(_pieces(text), _whole(place, address), is_ours=address == CATALOGUE))
            return read[-1]

        with self._writing(key, f"catalogue of {place.name}") if place.is_local else nullcontext():
            searchable = self._built(key, fresh, entries)
        for problem in read[-1].problems:
            self.reporter.warning(problem)
        if read[-1].left_out > len(read[-1].problems):
            self.reporter.warning(f"{_whole(place, address)}: {read[-1].left_out} entries are left out")
        return Looked(place=place, searchable=searchable, heard=fresh.heard, skills=searchable.count())

    def _built(self, key: str, head: Head, entries: Callable[[], Iterable[Entry]]) -> Searchable:
        """Make a database: in the cache, and where that does not work, in memory."""
        if self._is_kept:
            with suppress(OSError, DatabaseError):
                return self._kept.keep(key, head, lambda path: build(path, found := entries(), _doubled(found)))
        return in_memory(found := entries(), _doubled(found))

    @contextmanager
    def _writing(self, key: str, what: str) -> Iterator[None]:
        """Hold the lock of an index; a cache that has no room for a lock is not written to."""
        with ExitStack() as stack:
            if self._is_kept:
                from skillpm.locks import locked  # noqa: PLC0415  (filelock, which a search within a minute needs not)

                path = f"{self._kept.at(key)}.lock"
                try:
                    with told("mark the cache", self.settings.cache_dir):
                        mark(self.settings.cache_dir)
                    stack.enter_context(locked(path, self.settings.lock_timeout, f"the {what}", self.reporter.note))
                except FileError:
                    self._is_kept = False
            yield

    def _key(self, place: IndexPlace) -> str:
        """Give what tells an index apart: its address, of a folder wherever one stands."""
        if not place.is_local:
            return place.url
        written = self.settings.home + place.url[1:] if place.url.startswith("~/") else place.url
        return os.path.realpath(os.path.join(self.base, written))

    def _client(self) -> "Web":
        with self._lock:
            if self._web is None:
                from skillpm.fetchers.http.client import Web  # noqa: PLC0415  (httpx; nothing is asked within a minute)

                self._web = Web(self.settings, self.reporter.note)
            return self._web


def _fetched(place: IndexPlace, access: "Access", head: Head | None, into: BinaryIO) -> tuple[str, Stamp]:
    """Write the catalogue of an index, if it is new, and give where it is: in the index, or on its host.

    Raises `FetchError` where there is none.
    """
    if head is not None:
        with suppress(NotFoundError):  # an index may become a site, and a site an index
            return head.address, access.newer(_whole(place, head.address), head.stamp, into)
    top = access.root()
    elsewhere = () if top == place.url else (top,)
    for address in [CATALOGUE, *(before + path for path in OLD_PATHS for before in ("", *elsewhere))]:
        with suppress(NotFoundError):
            return address, access.newer(_whole(place, address), None, into)
    raise FetchError(
        f"there is no index at {show(place.url)}: neither {CATALOGUE} nor {OLD_PATHS[0]}", where=place.written_in
    )


def _is_fresh(head: Head) -> bool:
    return 0 <= time.time() - head.heard < FRESH


def _whole(place: IndexPlace, address: str) -> str:
    return address if "://" in address else place.url + address


def _doubled(entries: Iterable[Entry]) -> Collection[str]:
    return entries.doubled if isinstance(entries, Entries) else ()


def _pieces(text: BinaryIO) -> Iterator[bytes]:
    text.seek(0)
    while piece := text.read(CHUNK):
        yield piece
