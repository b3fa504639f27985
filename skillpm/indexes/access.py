"""The bytes of an index, on the web or in a folder: documents, which change, and archives, which do not."""

import os
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from skillpm.documents.index_places import IndexPlace
from skillpm.documents.text import show
from skillpm.documents.tree import Limits
from skillpm.errors import DocumentError, FetchError, NotFoundError, OfflineError, RefusedError
from skillpm.fetching.reading import read_regular
from skillpm.fetching.web import Web, check_lead
from skillpm.files import is_below, told
from skillpm.indexes.remembered import Memory, Remembered

LARGEST_DOCUMENT = 10_000_000


class Access(Protocol):
    """How one index is reached. Addresses are whole: a web address, or a path as the index was written."""

    def document(self, address: str) -> str | None:
        """Give a document's text, or None where there is none."""

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

    def __init__(self, place: IndexPlace, token: str, remembered: Remembered, web: Callable[[], Web]) -> None:
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

    def is_there(self, address: str) -> bool:
        """Ask for the head alone: a catalogue may be large."""
        return self._answer(address, "HEAD") is not None

    def archive(self, address: str, limit: int) -> bytes:
        """Take an archive whole."""
        return _from_web(self._web(), address, limit, self._headers(address))

    def lead(self, document: str, to: str) -> str:
        """Follow an address from a document as from a page, and only where a redirect might lead too."""
        there = urljoin(document, to)
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
        if known is not None and known.etag:
            headers["If-None-Match"] = known.etag
        elif known is not None and known.modified:
            headers["If-Modified-Since"] = known.modified
        try:
            answer = web.get(address, limit=LARGEST_DOCUMENT, headers=headers, method=method)
        except NotFoundError:
            self.remembered.keep(key, Memory(body=None))
            return None
        except FetchError as error:
            error.message = f"the index {self.place.name} cannot be read: {error.message}"
            raise
        if answer.status == 304:  # noqa: PLR2004  (not modified)
            if known is None or known.body is None:
                raise FetchError(f"{address}: the server answers 304 to what nobody asked")
            return known.body
        etag, modified = answer.headers.get("ETag", ""), answer.headers.get("Last-Modified", "")
        self.remembered.keep(key, Memory(body=answer.body, etag=etag, modified=modified))
        return answer.body

    def _headers(self, address: str) -> dict[str, str]:
        own = urlsplit(address)[:2] == urlsplit(self.place.url)[:2]
        return {"Authorization": f"Bearer {self._token}"} if self._token and own else {}


class FolderAccess:
    """An index in a folder of this machine; nothing outside of that folder is ever read."""

    def __init__(self, place: IndexPlace, base: str, home: str, limits: Limits, web: Callable[[], Web]) -> None:
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
        data = self._read(address, LARGEST_DOCUMENT)
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            raise DocumentError("this document is not UTF-8", where=address) from None

    def is_there(self, address: str) -> bool:
        """Look for a file."""
        return os.path.isfile(self._path(address))

    def archive(self, address: str, limit: int) -> bytes:
        """Read an archive of the folder, or take it from the web where the index says that it is there."""
        if "://" in address:
            return _from_web(self._web(), address, limit, {})
        data = self._read(address, limit)
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

    def _read(self, address: str, limit: int) -> bytes | None:
        path = self._path(address)
        with told("read an index", path):
            try:
                data = read_regular(os.path.realpath(path), limit)
            except (FileNotFoundError, NotADirectoryError):
                return None
        if data is None:
            raise RefusedError(f"{show(address)} is no regular file")
        if len(data) > limit:
            raise FetchError(
                f"{show(address)} is over {limit} bytes", hint="if you trust it, raise SKILLPM_MAX_DOWNLOAD"
            )
        return data


def _from_web(web: Web, address: str, limit: int, headers: dict[str, str]) -> bytes:
    if web.settings.offline:
        raise OfflineError([address])
    return web.get(address, limit=limit, headers=headers).body
