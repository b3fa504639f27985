"""Proxies of the environment: httpx reads them by itself; one that it cannot use is told with the variable's name."""

import re
from collections.abc import Mapping

import httpx

from skillpm.core.netloc import host_problem
from skillpm.core.text import sanitize
from skillpm.errors import SkillpmError, UsageError

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")
CLIENT_ERRORS = (httpx.InvalidURL, ValueError, ImportError)
"""What making a client raises for them."""


def proxy_error(environ: Mapping[str, str], error: Exception) -> SkillpmError:
    """Give the error for the variable that no client can be made with. Logins in it are hidden."""
    for name in sorted(environ):
        if name.lower() in PROXY_VARIABLES and environ[name] and (hint := _proxy_hint(_with_scheme(environ[name]))):
            said = re.sub(r"//.*@", "//***@", _with_scheme(environ[name]))
            return UsageError(f"{name} is no proxy that can be used: {sanitize(said, 120)}", hint=hint)
    for name in ("no_proxy", "NO_PROXY"):
        if environ.get(name):
            hint = "it is a list of hosts, e.g. localhost,.example.org"
            return UsageError(f"{name} cannot be understood: {sanitize(environ[name], 120)}", hint=hint)
    return UsageError(
        f"no connection can be made: {sanitize(str(error), 120)}", hint="look at the proxies of your system"
    )


def _with_scheme(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"


def _proxy_hint(proxy: str) -> str:
    """Say what to do about a proxy that cannot be used; nothing where it can be."""
    if proxy.lower().startswith("socks"):
        return "skillpm knows HTTP proxies; for SOCKS, add `pip install 'httpx[socks]'` to where skillpm is"
    try:
        host = httpx.Proxy(proxy).url.netloc.decode("ascii", "replace")
    except CLIENT_ERRORS:
        host = ""
    return "" if host and not host_problem(host) else "write it as http://HOST:PORT, or unset it"
