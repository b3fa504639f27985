"""The bytes of an index, on the web or in a folder: documents, which change, and archives, which do not."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol
from urllib.parse import urljoin, urlsplit

from skillpm.documents.index_places import IndexPlace
from skillpm.documents.text import show
from skillpm.documents.tree import Limits
from skillpm.errors import DocumentError, FetchError, NotFoundError, OfflineError, RefusedError
from skillpm.fetching.reading import read_regular
from skillpm.files import is_below, told
from skillpm.indexes.remembered import Memory, Remembered, Stamp
from skillpm.indexes.tokens import token_for, way_in
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.fetching.web import Web


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


class WebAccess:
    """An index behind a web server. Its token goes to its own origin and nowhere else."""

    def __init__(self, place: IndexPlace, token: str, remembered: Remembered, web: Callable[[], "Web"]) -> None:
        self.place = place
        self.remembered = remembered
        self._web = web
        self._token = token

    def document(self, address: str) -> str | None:
        """Ask whether what is remembered still holds; offline it does."""
        found = self._answer(address, "GET")
        try:
            return None if found is None else found.decode()
        except UnicodeDecodeError:
            raise DocumentError("this document is not UTF-8", where=address) from None

    def newer(self, address: str, than: Stamp | None, into: BinaryIO) -> Stamp:
        """Ask for what is newer; it may come packed, and is on the disk before it is looked at."""
        headers = {**self._headers(address), **({} if than is None else than.headers)}
        web = self._web()
        limit = web.settings.limits.catalogue
        try:
            answer = web.get(address, limit=limit, headers=headers, into=into)
        except NotFoundError:
            raise
        except FetchError as error:
            raise self._told(error, "CATALOGUE") from None
        if answer.status == 304:  # noqa: PLR2004  (not modified)
            if than is None or not than.headers:
                raise FetchError(f"{address}: the server answers 304 to what nobody asked")
            return than
        return Stamp(etag=answer.headers.get("ETag", ""), modified=answer.headers.get("Last-Modified", ""))

    def is_there(self, address: str) -> bool:
        """Ask for the head alone: a catalogue may be large."""
        return self._answer(address, "HEAD") is not None

    def archive(self, address: str, limit: int) -> bytes:
        """Take an archive whole."""
        try:
            return _from_web(self._web(), address, limit, self._headers(address))
        except FetchError as error:
            raise self._hinted(error) from None

    def lead(self, document: str, to: str) -> str:
        """Follow an address from a document as from a page, and only where a redirect might lead too."""
        from skillpm.fetching.leads import check_lead  # noqa: PLC0415  (httpx, which searching often does without)

        try:
            there = urljoin(document, to)
        except ValueError:
            there = "#"
        if "\\" in to or "%2e" in to.lower() or "%2f" in to.lower() or "#" in there:
            raise RefusedError(f"{show(document)} names `{show(to)}`, which is no plain address")
        check_lead(document, there)
        return there

    def root(self) -> str:
        """Give the top of the host."""
        parts = urlsplit(self.place.url)
        return f"{parts.scheme}://{parts.netloc}/"

    def _answer(self, address: str, method: str) -> bytes | None:
        key = address if method == "GET" else f"{method} {address}"
        known = self.remembered.of(key)
        web = self._web()
        if web.settings.offline:
            if known is None:
                raise OfflineError([f"the index {self.place.name} ({address})"])
            return known.body
        headers = self._headers(address)
        if known is not None:
            headers |= Stamp(etag=known.etag, modified=known.modified).headers
        try:
            answer = web.get(address, limit=web.settings.limits.index, headers=headers, method=method)
        except NotFoundError:
            self.remembered.keep(key, Memory(body=None))
            return None
        except FetchError as error:
            raise self._told(error, "INDEX") from None
        if answer.status == 304:  # noqa: PLR2004  (not modified)
            if known is None or known.body is None:
                raise FetchError(f"{address}: the server answers 304 to what nobody asked")
            return known.body
        etag, modified = answer.headers.get("ETag", ""), answer.headers.get("Last-Modified", "")
        self.remembered.keep(key, Memory(body=answer.body, etag=etag, modified=modified))
        return answer.body

    def _told(self, error: FetchError, setting: str) -> FetchError:
        """Say whose fault it is; `setting` is the one that allows more, where that is what is wrong."""
        from skillpm.fetching.web_complaints import TooMuch  # noqa: PLC0415  (loaded already, by whoever asked)

        error.message = f"the index {self.place.name} cannot be read: {error.message}"
        if isinstance(error, TooMuch):
            error.hint = _allowing(setting)
        return self._hinted(error)

    def _hinted(self, error: FetchError) -> FetchError:
        """Say what helps with this index where it wants a login, or says nothing."""
        from skillpm.fetching.web_complaints import Silent, Unwelcome  # noqa: PLC0415  (as above)

        if isinstance(error, Silent):
            error.hint += f"; --offline takes what is cached of {self.place.name}"
        if isinstance(error, Unwelcome):
            error.hint = way_in(self.place, self._token, error.hint)
        return error

    def _headers(self, address: str) -> dict[str, str]:
        own = urlsplit(address)[:2] == urlsplit(self.place.url)[:2]
        return {"Authorization": f"Bearer {self._token}"} if self._token and own else {}


class FolderAccess:
    """An index in a folder of this machine; nothing outside of that folder is ever read."""

    def __init__(self, place: IndexPlace, base: str, home: str, limits: Limits, web: Callable[[], "Web"]) -> None:
        self.place = place
        self.limits = limits
        self._web = web
        written = home + place.url[1:] if place.url.startswith("~/") else place.url
        self.folder = os.path.realpath(os.path.join(base, written))
        if not os.path.isdir(self.folder):
            raise FetchError(
                f"the index {place.name} cannot be read: {show(place.url)} is no folder", where=place.written_in
            )

    def document(self, address: str) -> str | None:
        """Read a document of the folder."""
        data = self._read(address, self.limits.index, "INDEX")
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            raise DocumentError("this document is not UTF-8", where=address) from None

    def newer(self, address: str, than: Stamp | None, into: BinaryIO) -> Stamp:
        """Read what is newer, told by everything the file system knows of it."""
        with told("read an index", self._path(address)):
            try:
                state = os.stat(self._path(address))
            except (FileNotFoundError, NotADirectoryError):
                raise NotFoundError(f"{show(address)} is not there") from None
        stamp = Stamp(etag=f"{state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino} {state.st_size}")
        if than is not None and stamp == than:
            return than
        data = self._read(address, self.limits.catalogue, "CATALOGUE")
        if data is None:
            raise NotFoundError(f"{show(address)} is not there")
        into.write(data)
        return stamp

    def is_there(self, address: str) -> bool:
        """Look for a file."""
        return os.path.isfile(self._path(address))

    def archive(self, address: str, limit: int) -> bytes:
        """Read an archive of the folder, or take it from the web where the index says that it is there."""
        if "://" in address:
            return _from_web(self._web(), address, limit, {})
        data = self._read(address, limit, "DOWNLOAD")
        if data is None:
            raise NotFoundError(f"{show(address)} is not there", where=self._path(address))
        return data

    def lead(self, document: str, to: str) -> str:
        """Follow an address within the folder, or onto the web."""
        if "://" in to:
            if not to.startswith(("https://", "http://")):
                raise RefusedError(f"{show(document)} names `{show(to)}`, which is no web address")
            return to
        inside = "" if to.startswith("/") else document[len(self.place.url) :]
        to = to.removeprefix("/")  # from the top of the host, which here is the folder
        there = os.path.normpath(os.path.join("/", os.path.dirname(inside), to)).lstrip("/")
        deep = os.path.normpath(os.path.join(os.path.dirname(inside), to))
        if deep != there or "\\" in to:
            raise RefusedError(f"{show(document)} names `{show(to)}`, which leads out of the index")
        return self.place.url + there

    def root(self) -> str:
        """Give the folder itself."""
        return self.place.url

    def _path(self, address: str) -> str:
        path = os.path.join(self.folder, address[len(self.place.url) :])
        if not address.startswith(self.place.url) or not is_below(os.path.realpath(path), self.folder):
            raise RefusedError(f"{show(address)} leads out of the index {self.place.name} ({show(self.place.url)})")
        return path

    def _read(self, address: str, limit: int, setting: str) -> bytes | None:
        path = self._path(address)
        with told("read an index", path):
            try:
                data = read_regular(os.path.realpath(path), limit)
            except (FileNotFoundError, NotADirectoryError):
                return None
        if data is None:
            raise RefusedError(f"{show(address)} is no regular file")
        if len(data) > limit:
            raise FetchError(f"{show(address)} is over {limit} bytes", hint=_allowing(setting))
        return data


def access_to(
    place: IndexPlace, settings: Settings, base: str, web: Callable[[], "Web"], warn: Callable[[str], None]
) -> Access:
    """Open an index; a relative folder starts at `base`. Raises `FetchError` for a folder that is not there."""
    if place.is_local:
        return FolderAccess(place, base, settings.home, settings.limits, web)
    token = token_for(place, settings, warn)
    return WebAccess(place, token, Remembered(os.path.join(settings.cache_dir, "indexes")), web)


def _allowing(setting: str) -> str:
    return f"if you trust it, raise SKILLPM_MAX_{setting}"


def _from_web(web: "Web", address: str, limit: int, headers: dict[str, str]) -> bytes:
    if web.settings.offline:
        raise OfflineError([address])
    return web.get(address, limit=limit, headers=headers).body
