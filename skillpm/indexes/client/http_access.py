"""An index behind a web server: what is remembered is asked for again, and a token goes to its own origin alone."""

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin, urlsplit

from skillpm.core.text import show
from skillpm.errors import DocumentError, FetchError, NotFoundError, OfflineError, RefusedError
from skillpm.formats.index_sources import IndexPlace
from skillpm.indexes.client.access_tokens import way_in
from skillpm.indexes.client.http_cache import Memory, Remembered, Stamp

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import Web


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
            return from_web(self._web(), address, limit, self._headers(address))
        except FetchError as error:
            raise self._hinted(error) from None

    def lead(self, document: str, to: str) -> str:
        """Follow an address from a document as from a page, and only where a redirect might lead too."""
        from skillpm.fetchers.http.redirects import check_lead  # noqa: PLC0415  (httpx, which searching often does without)

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
        from skillpm.fetchers.http.errors import TooMuch  # noqa: PLC0415  (loaded already, by whoever asked)

        error.message = f"the index {self.place.name} cannot be read: {error.message}"
        if isinstance(error, TooMuch):
            error.hint = allowing(setting)
        return self._hinted(error)

    def _hinted(self, error: FetchError) -> FetchError:
        """Say what helps with this index where it wants a login, or says nothing."""
        from skillpm.fetchers.http.errors import Silent, Unwelcome  # noqa: PLC0415  (as above)

        if isinstance(error, Silent):
            error.hint += f"; --offline takes what is cached of {self.place.name}"
        if isinstance(error, Unwelcome):
            error.hint = way_in(self.place, self._token, error.hint)
        return error

    def _headers(self, address: str) -> dict[str, str]:
        own = urlsplit(address)[:2] == urlsplit(self.place.url)[:2]
        return {"Authorization": f"Bearer {self._token}"} if self._token and own else {}


def from_web(web: "Web", address: str, limit: int, headers: dict[str, str]) -> bytes:
    """Take an archive whole. Raises `OfflineError` where nobody may be asked."""
    if web.settings.offline:
        raise OfflineError([address])
    return web.get(address, limit=limit, headers=headers).body


def allowing(setting: str) -> str:
    """Say what lets more come in: the setting of this name."""
    return f"if you trust it, raise SKILLPM_MAX_{setting}"
