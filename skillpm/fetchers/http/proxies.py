"""Error messages for unusable proxies in the environment: httpx reads the variables, but does not name them."""

import re
from collections.abc import Mapping

import httpx

from skillpm.core.netloc import host_problem
from skillpm.core.text import sanitize
from skillpm.errors import SkillpmError, UsageError

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")
CLIENT_ERRORS = (httpx.InvalidURL, ValueError, ImportError)
"""Raised by `httpx.Client` for an unusable proxy."""


def proxy_error(environ: Mapping[str, str], error: Exception) -> SkillpmError:
    """Return the error that names the unusable variable, with credentials hidden."""
    for name in sorted(environ):
        if name.lower() in PROXY_VARIABLES and environ[name] and (hint := _proxy_hint(_with_scheme(environ[name]))):
            shown = re.sub(r"//.*@", "//***@", _with_scheme(environ[name]))
            return UsageError(f"{name} is not a usable proxy: {sanitize(shown, 120)}", hint=hint)
    for name in ("no_proxy", "NO_PROXY"):
        if environ.get(name):
            hint = "use a list of hosts, e.g. localhost,.example.org"
            return UsageError(f"invalid {name}: {sanitize(environ[name], 120)}", hint=hint)
    return UsageError(
        f"cannot set up HTTP connections: {sanitize(str(error), 120)}", hint="check the proxy settings of your system"
    )


def _with_scheme(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"


def _proxy_hint(proxy: str) -> str:
    """Return what to do about an unusable proxy; an empty string for a usable one."""
    if proxy.lower().startswith("socks"):
        return (
            "skillpm supports HTTP proxies; for SOCKS, run `pip install 'httpx[socks]'` in the environment of skillpm"
        )
    try:
        host = httpx.Proxy(proxy).url.netloc.decode("ascii", "replace")
    except CLIENT_ERRORS:
        host = ""
    return "" if host and not host_problem(host) else "write it as http://HOST:PORT, or unset it"
