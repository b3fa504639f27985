"""Proxies of the environment: httpx reads them by itself; one that it cannot use is told with the variable's name."""

import re
from collections.abc import Mapping

import httpx

from skillpm.core.netloc import host_fault
from skillpm.core.text import show
from skillpm.errors import SkillpmError, UsageError

PROXIES = ("http_proxy", "https_proxy", "all_proxy")
UNUSABLE = (httpx.InvalidURL, ValueError, ImportError)
"""What making a client raises for them."""


def bad_proxy(environ: Mapping[str, str], error: Exception) -> SkillpmError:
    """Give the error for the variable that no client can be made with. Logins in it are hidden."""
    for name in sorted(environ):
        if name.lower() in PROXIES and environ[name] and (hint := _fault(_whole(environ[name]))):
            said = re.sub(r"//.*@", "//***@", _whole(environ[name]))
            return UsageError(f"{name} is no proxy that can be used: {show(said, 120)}", hint=hint)
    for name in ("no_proxy", "NO_PROXY"):
        if environ.get(name):
            hint = "it is a list of hosts, e.g. localhost,.example.org"
            return UsageError(f"{name} cannot be understood: {show(environ[name], 120)}", hint=hint)
    return UsageError(f"no connection can be made: {show(str(error), 120)}", hint="look at the proxies of your system")


def _whole(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"


def _fault(proxy: str) -> str:
    """Say what to do about a proxy that cannot be used; nothing where it can be."""
    if proxy.lower().startswith("socks"):
        return "skillpm knows HTTP proxies; for SOCKS, add `pip install 'httpx[socks]'` to where skillpm is"
    try:
        host = httpx.Proxy(proxy).url.netloc.decode("ascii", "replace")
    except UNUSABLE:
        host = ""
    return "" if host and not host_fault(host) else "write it as http://HOST:PORT, or unset it"
