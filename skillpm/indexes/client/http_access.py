"""An index behind a web server: what is remembered is asked for again, and a token goes to its own origin alone."""

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin, urlsplit

from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, FetchError, NotFoundError, OfflineError, RefusedError
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.indexes.client.access_tokens import login_hint
from skillpm.indexes.client.http_cache import CachedResponse, HttpCache, Validators

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient


class HttpAccess:
    """An index behind a web server. Its token goes to its own origin and nowhere else."""

    def __init__(
        self, config: ConfiguredIndex, token: str, cache: HttpCache, get_http_client: Callable[[], "HttpClient"]
    ) -> None:
        self.config = config
        self.cache = cache
        self._get_http_client = get_http_client
        self._token = token

    def read_document(self, address: str) -> str | None:
        """Ask whether what is remembered still holds; offline it does."""
        found = self._fetch(address, "GET")
        try:
            return None if found is None else found.decode()
        except UnicodeDecodeError:
            raise DocumentError("this document is not UTF-8", where=address) from None

    def fetch_if_changed(self, address: str, validators: Validators | None, output: BinaryIO) -> Validators:
        """Ask for what is newer; it may come packed, and is on the disk before it is looked at."""
        headers = {**self._auth_headers(address), **({} if validators is None else validators.request_headers)}
        web = self._get_http_client()
        limit = web.settings.limits.catalog
        try:
            answer = web.get(address, limit=limit, headers=headers, output=output)
        except NotFoundError:
            raise
        except FetchError as error:
            raise self._explain_error(error, "CATALOGUE") from None
        if answer.status == 304:  # noqa: PLR2004  (not modified)
            if validators is None or not validators.request_headers:
                raise FetchError(f"{address}: the server answers 304 to what nobody asked")
            return validators
        return Validators(etag=answer.headers.get("ETag", ""), last_modified=answer.headers.get("Last-Modified", ""))

    def exists(self, address: str) -> bool:
        """Ask for the head alone: a catalogue may be large."""
        return self._fetch(address, "HEAD") is not None

    def read_archive(self, address: str, limit: int) -> bytes:
        """Take an archive whole."""
        try:
            return download_archive(self._get_http_client(), address, limit, self._auth_headers(address))
        except FetchError as error:
            raise self._add_hint(error) from None

    def resolve_url(self, document: str, reference: str) -> str:
        """Follow an address from a document as from a page, and only where a redirect might lead too."""
        from skillpm.fetchers.http.redirects import check_redirect  # noqa: PLC0415  (httpx, which searching often does without)

        try:
            there = urljoin(document, reference)
        except ValueError:
            there = "#"
        if "\\" in reference or "%2e" in reference.lower() or "%2f" in reference.lower() or "#" in there:
            raise RefusedError(f"{sanitize(document)} names `{sanitize(reference)}`, which is no plain address")
        check_redirect(document, there)
        return there

    def host_root(self) -> str:
        """Give the top of the host."""
        parts = urlsplit(self.config.url)
        return f"{parts.scheme}://{parts.netloc}/"

    def _fetch(self, address: str, method: str) -> bytes | None:
        key = address if method == "GET" else f"{method} {address}"
        known = self.cache.get(key)
        web = self._get_http_client()
        if web.settings.offline:
            if known is None:
                raise OfflineError([f"the index {self.config.name} ({address})"])
            return known.body
        headers = self._auth_headers(address)
        if known is not None:
            headers |= Validators(etag=known.etag, last_modified=known.last_modified).request_headers
        try:
            answer = web.get(address, limit=web.settings.limits.index, headers=headers, method=method)
        except NotFoundError:
            self.cache.put(key, CachedResponse(body=None))
            return None
        except FetchError as error:
            raise self._explain_error(error, "INDEX") from None
        if answer.status == 304:  # noqa: PLR2004  (not modified)
            if known is None or known.body is None:
                raise FetchError(f"{address}: the server answers 304 to what nobody asked")
            return known.body
        etag, modified = answer.headers.get("ETag", ""), answer.headers.get("Last-Modified", "")
        self.cache.put(key, CachedResponse(body=answer.body, etag=etag, last_modified=modified))
        return answer.body

    def _explain_error(self, error: FetchError, setting: str) -> FetchError:
        """Say whose fault it is; `setting` is the one that allows more, where that is what is wrong."""
        from skillpm.fetchers.http.errors import ResponseTooLarge  # noqa: PLC0415  (loaded already, by whoever asked)

        error.message = f"the index {self.config.name} cannot be read: {error.message}"
        if isinstance(error, ResponseTooLarge):
            error.hint = limit_hint(setting)
        return self._add_hint(error)

    def _add_hint(self, error: FetchError) -> FetchError:
        """Say what helps with this index where it wants a login, or says nothing."""
        from skillpm.fetchers.http.errors import AuthenticationError, ServerUnreachable  # noqa: PLC0415  (as above)

        if isinstance(error, ServerUnreachable):
            error.hint += f"; --offline takes what is cached of {self.config.name}"
        if isinstance(error, AuthenticationError):
            error.hint = login_hint(self.config, self._token, error.hint)
        return error

    def _auth_headers(self, address: str) -> dict[str, str]:
        own = urlsplit(address)[:2] == urlsplit(self.config.url)[:2]
        return {"Authorization": f"Bearer {self._token}"} if self._token and own else {}


def download_archive(http_client: "HttpClient", address: str, limit: int, headers: dict[str, str]) -> bytes:
    """Take an archive whole. Raises `OfflineError` where nobody may be asked."""
    if http_client.settings.offline:
        raise OfflineError([address])
    return http_client.get(address, limit=limit, headers=headers).body


def limit_hint(setting: str) -> str:
    """Say what lets more come in: the setting of this name."""
    return f"if you trust it, raise SKILLPM_MAX_{setting}"
