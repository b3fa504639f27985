"""Access to the files of an index, on a web server or in a folder, out of which nothing is read.

Cached documents are revalidated, and a token is sent to the origin of the index only.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from skillpm.core.limits import Limits
from skillpm.core.names import is_skill_name
from skillpm.core.shell import shell_word
from skillpm.core.text import WEB_PAGE_HINT, is_web_page, sanitize
from skillpm.errors import DocumentError, FetchError, NotFoundError, OfflineError, RefusedError, WebPageError
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.regular_file import read_regular_file
from skillpm.fetchers.http.document_cache import CachedResponse, HttpCache, Validators
from skillpm.files import is_below, translate_os_errors
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.settings import Settings, read_token

if TYPE_CHECKING:
    from skillpm.fetchers.http.client import HttpClient

NOT_MODIFIED = 304


class HttpAccess:
    """Access to an index on a web server."""

    def __init__(
        self,
        config: ConfiguredIndex,
        token: str,
        cache: HttpCache,
        get_http_client: Callable[[], "HttpClient"],
        destinations: Destinations,
    ) -> None:
        self.config = config
        self.cache = cache
        self.destinations = destinations
        self._get_http_client = get_http_client
        self._token = token

    def read_document(self, address: str) -> str | None:
        """Return the text of a document; None if it does not exist. Offline, the cached one is used."""
        data = self._fetch(address, "GET")
        if data is not None and is_web_page(data):
            raise self._explain_error(WebPageError(f"{address} is a web page (a login?)", hint=WEB_PAGE_HINT), "INDEX")
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            raise DocumentError("this document is not UTF-8", where=address) from None

    def fetch_if_changed(self, address: str, validators: Validators | None) -> tuple[bytes, Validators] | None:
        """Return a catalog and its validators; None if the server confirms `validators`. Raises `NotFoundError`.

        The size limit is that of catalogs, which is higher than that of documents.
        """
        headers = {**self._auth_headers(address), **({} if validators is None else validators.request_headers)}
        client = self._get_http_client()
        limit = client.settings.limits.catalog
        try:
            response = client.get(address, limit=limit, headers=headers, accept_gzip=True)
        except NotFoundError:
            raise
        except FetchError as error:
            raise self._explain_error(error, "CATALOG") from None
        if response.status == NOT_MODIFIED:
            if validators is None or not validators.request_headers:
                raise _unexpected_304_error(address)
            return None
        return response.body, _validators_of(response.headers)

    def exists(self, address: str) -> bool:
        """Return whether a file exists, by a HEAD request: a catalog may be large."""
        return self._fetch(address, "HEAD") is not None

    def read_archive(self, address: str, limit: int) -> bytes:
        """Return the bytes of an archive. Raises `NotFoundError`."""
        try:
            headers = self._auth_headers(address)
            return download_archive(self._get_http_client(), address, limit, headers, self.config.url)
        except FetchError as error:
            raise self._add_hint(error) from None

    def resolve_url(self, document: str, reference: str) -> str:
        """Resolve a reference as a browser would, if a redirect to the result is allowed. Raises `RefusedError`."""
        from skillpm.fetchers.http.redirects import check_reference  # noqa: PLC0415  (imports httpx, which a cached search does not need)

        try:
            url = urljoin(document, reference)
        except ValueError:
            url = "#"
        # Some servers decode `%2e%2e%2f` and `\\` to `../`, so the prefix check of a locked URL would not hold.
        if "\\" in reference or "%2e" in reference.lower() or "%2f" in reference.lower() or "#" in url:
            raise RefusedError(f"{sanitize(document)} refers to `{sanitize(reference)}`, which is not a plain URL")
        check_reference(document, url, self.destinations)
        return url

    def host_root(self) -> str:
        """Return the root URL of the host."""
        parts = urlsplit(self.config.url)
        return f"{parts.scheme}://{parts.netloc}/"

    def _fetch(self, address: str, method: str) -> bytes | None:
        key = address if method == "GET" else f"{method} {address}"
        cached = self.cache.get(key)
        client = self._get_http_client()
        if client.settings.offline:
            if cached is None:
                raise OfflineError([f"the index {self.config.name} ({address})"])
            return cached.body
        headers = self._auth_headers(address)
        if cached is not None:
            headers |= Validators(etag=cached.etag, last_modified=cached.last_modified).request_headers
        try:
            response = client.get(address, limit=client.settings.limits.index, headers=headers, method=method)
        except NotFoundError:
            self.cache.put(key, CachedResponse(body=None))
            return None
        except FetchError as error:
            raise self._explain_error(error, "INDEX") from None
        if response.status == NOT_MODIFIED:
            if cached is None or cached.body is None:
                raise _unexpected_304_error(address)
            return cached.body
        validators = _validators_of(response.headers)
        self.cache.put(
            key, CachedResponse(body=response.body, etag=validators.etag, last_modified=validators.last_modified)
        )
        return response.body

    def _explain_error(self, error: FetchError, setting: str) -> FetchError:
        """Add the index and a hint to an error; `setting` names the size limit of the response."""
        from skillpm.fetchers.http.errors import ResponseTooLarge  # noqa: PLC0415  (the client has loaded it already)

        error.message = f"cannot read the index {self.config.name}: {error.message}"
        if isinstance(error, ResponseTooLarge):
            error.hint = limit_hint(setting)
        return self._add_hint(error)

    def _add_hint(self, error: FetchError) -> FetchError:
        """Add what helps if the server does not respond or requires a login."""
        from skillpm.fetchers.http.errors import AuthenticationError, ServerUnreachable  # noqa: PLC0415  (as above)

        if isinstance(error, ServerUnreachable):
            error.hint += f"; --offline uses the cached documents of the index {self.config.name}"
        if isinstance(error, AuthenticationError):
            error.hint = login_hint(self.config, self._token, error.hint)
        return error

    def _auth_headers(self, address: str) -> dict[str, str]:
        return auth_headers(self.config.url, self._token, address)


def auth_headers(index_url: str, token: str, address: str) -> dict[str, str]:
    """Return the header with the token of an index for a request to an address; none for another scheme, host or port.

    An index may refer to archives on another server, which must not receive the token.
    """
    if not token:
        return {}
    from skillpm.trust.places import covers  # noqa: PLC0415  (few indexes have tokens)

    parts = urlsplit(index_url)
    return {"Authorization": f"Bearer {token}"} if covers(f"{parts.scheme}://{parts.netloc}", address) else {}


def download_archive(
    http_client: "HttpClient", address: str, limit: int, headers: dict[str, str], referrer: str = ""
) -> bytes:
    """Return the bytes of an archive; `referrer` is as in `HttpClient.get`.

    Raises `OfflineError` if the network is disabled.
    """
    if http_client.settings.offline:
        raise OfflineError([address])
    return http_client.get(address, limit=limit, headers=headers, referrer=referrer).body


def _validators_of(headers: Mapping[str, str]) -> Validators:
    return Validators(etag=headers.get("ETag", ""), last_modified=headers.get("Last-Modified", ""))


def _unexpected_304_error(address: str) -> FetchError:
    return FetchError(f"{address}: unexpected 304 Not Modified: the request was not conditional")


def limit_hint(setting: str) -> str:
    """Return a hint to raise the limit `SKILLPM_MAX_{setting}`."""
    return f"if you trust it, raise SKILLPM_MAX_{setting}"


def read_index_token(config: ConfiguredIndex, settings: Settings, warn: Callable[[str], None]) -> str:
    """Return the token of an index that the user configured; empty for one that only a manifest declares.

    The manifest of a cloned repository could give the name of the user's index to another URL, to obtain its token.

    Raises `UsageError` for a text that no header can have: httpx would print it in the message of its error.
    """
    if config.is_own:
        return read_token(settings.environ, config.token_variable)
    if settings.environ.get(config.token_variable, "").strip():
        warn(
            f"{config.token_variable} is not sent to {sanitize(config.url)}: only the manifest declares the index "
            f"{config.name}; if you trust it: "
            f"skillpm config set {shell_word(f'indexes.{config.name}.url')} {shell_word(config.url)}"
        )
    return ""


def login_hint(config: ConfiguredIndex, token: str, netrc_hint: str) -> str:
    """Return a hint on how to log in to an index.

    `token` is the one that was sent, or empty; `netrc_hint` describes the login without a token.
    """
    if token:
        return f"{config.token_variable} was sent; check that it is for this index and has not expired"
    if config.is_own:
        return f"set {config.token_variable} to a token for it, or {netrc_hint}"
    named = is_skill_name(config.name)  # an index that is not configured is named after its host
    name, variable = (config.name, config.token_variable) if named else ("NAME", "SKILLPM_INDEX_NAME_TOKEN")
    return (
        f"{netrc_hint}; for a token: skillpm config set indexes.{name}.url {shell_word(config.url)}, and set {variable}"
    )


class FolderAccess:
    """Access to an index in a local folder."""

    def __init__(
        self, config: ConfiguredIndex, base: str, home: str, limits: Limits, get_http_client: Callable[[], "HttpClient"]
    ) -> None:
        self.config = config
        self.limits = limits
        self._get_http_client = get_http_client
        path = home + config.url[1:] if config.url.startswith("~/") else config.url
        self.folder = os.path.realpath(os.path.join(base, path))
        if not os.path.isdir(self.folder):
            raise FetchError(
                f"cannot read the index {config.name}: {sanitize(config.url)} is not a folder", where=config.defined_in
            )

    def read_document(self, address: str) -> str | None:
        """Return the text of a document; None if it does not exist."""
        data = self._read_file(address, self.limits.index, "INDEX")
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError:
            raise DocumentError("this document is not UTF-8", where=address) from None

    def fetch_if_changed(self, address: str, validators: Validators | None) -> tuple[bytes, Validators] | None:
        """Return a catalog and its validators; None if times, inode and size of its file are those in `validators`.

        Raises `NotFoundError`.
        """
        with translate_os_errors("read an index", self._resolve_path(address)):
            try:
                state = os.stat(self._resolve_path(address))
            except (FileNotFoundError, NotADirectoryError):
                raise NotFoundError(f"{sanitize(address)} does not exist") from None
        current = Validators(etag=f"{state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino} {state.st_size}")
        if current == validators:
            return None
        data = self._read_file(address, self.limits.catalog, "CATALOG")
        if data is None:
            raise NotFoundError(f"{sanitize(address)} does not exist")
        return data, current

    def exists(self, address: str) -> bool:
        """Return whether a file exists."""
        return os.path.isfile(self._resolve_path(address))

    def read_archive(self, address: str, limit: int) -> bytes:
        """Read an archive of the folder, or download it if the index refers to a URL."""
        if "://" in address:
            return download_archive(self._get_http_client(), address, limit, {})
        data = self._read_file(address, limit, "DOWNLOAD")
        if data is None:
            raise NotFoundError(f"{sanitize(address)} does not exist", where=self._resolve_path(address))
        return data

    def resolve_url(self, document: str, reference: str) -> str:
        """Resolve a reference to a URL, or to a path in the folder. Raises `RefusedError` for a path outside of it."""
        if "://" in reference:
            if not reference.startswith(("https://", "http://")):
                raise RefusedError(
                    f"{sanitize(document)} refers to `{sanitize(reference)}`, which is not an http or https URL"
                )
            return reference
        # A reference that begins with a slash is relative to the root of the host, which for a folder is the folder.
        folder = "" if reference.startswith("/") else os.path.dirname(document[len(self.config.url) :])
        path = os.path.join(folder, reference.removeprefix("/"))
        # Below "/", `..` cannot go any higher: the two results differ exactly for a path that leaves the folder.
        clamped = os.path.normpath(os.path.join("/", path)).lstrip("/")
        if os.path.normpath(path) != clamped or "\\" in reference:
            raise RefusedError(f"{sanitize(document)} refers to `{sanitize(reference)}`, which is outside the index")
        return self.config.url + clamped

    def host_root(self) -> str:
        """Return the address of the index."""
        return self.config.url

    def _resolve_path(self, address: str) -> str:
        path = os.path.join(self.folder, address[len(self.config.url) :])
        # `realpath`, since the folder may be a clone of a hostile repository, with links to files outside of it.
        if not address.startswith(self.config.url) or not is_below(os.path.realpath(path), self.folder):
            raise RefusedError(
                f"{sanitize(address)} is outside the index {self.config.name} ({sanitize(self.config.url)})"
            )
        return path

    def _read_file(self, address: str, limit: int, setting: str) -> bytes | None:
        path = self._resolve_path(address)
        with translate_os_errors("read an index", path):
            try:
                data = read_regular_file(os.path.realpath(path), limit)
            except (FileNotFoundError, NotADirectoryError):
                return None
        if data is None:
            raise RefusedError(f"{sanitize(address)} is not a regular file")
        if len(data) > limit:
            raise FetchError(f"{sanitize(address)} is over {limit} bytes", hint=limit_hint(setting))
        return data


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
