"""Credentials from `~/.netrc`, each sent to its own host only."""

import netrc
import os
from collections.abc import Generator

import httpx

from skillpm.core.text import sanitize
from skillpm.errors import FetchError
from skillpm.settings import Settings


class _NetrcLogins(httpx.Auth):
    """The logins of a `.netrc` by host. `default` is ignored: it would send a password to every host."""

    def __init__(self, path: str) -> None:
        hosts = netrc.netrc(path).hosts
        self.logins = {host: (user, password) for host, (user, _, password) in hosts.items() if host != "default"}

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        """Send the login of the request's host, if any."""
        user, password = self.logins.get(request.url.host, ("", ""))
        if password:
            yield from httpx.BasicAuth(user or "", password).auth_flow(request)
        else:
            yield request


def read_netrc(settings: Settings) -> httpx.Auth | None:
    """Read `~/.netrc` (or `NETRC`), if it exists. Raises `FetchError` for an invalid file."""
    path = settings.environ.get("NETRC") or os.path.join(settings.home, ".netrc")
    try:
        return _NetrcLogins(path) if os.path.isfile(path) else None
    except (OSError, netrc.NetrcParseError, UnicodeError) as error:
        raise FetchError(f"cannot read the credentials: {sanitize(str(error), 100)}", where=path) from None
