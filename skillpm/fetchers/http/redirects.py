"""Where an address may lead, by redirect or by name: not from https to http, nor from the world into our network."""

import ipaddress
import socket

import httpx

from skillpm.core.git_syntax import host_of
from skillpm.core.netloc import host_fault
from skillpm.core.text import show
from skillpm.errors import FetchError

ASTRAY = "tell whoever keeps that server; nothing was taken from there"


def lead(here: str, to: str) -> str:
    """Give where a redirect leads. Raises `FetchError` for one that may not be followed."""
    try:
        there = str(httpx.URL(here).join(to))
    except (httpx.InvalidURL, ValueError):
        raise _no_address(here, to, host_fault(host_of(to)) or "it cannot be understood") from None
    check_lead(here, there)
    return there


def check_lead(here: str, there: str) -> None:
    """Refuse an address that what stands at another one may not lead to, by a redirect or by name."""
    try:
        url = httpx.URL(there)
    except (httpx.InvalidURL, ValueError):
        raise _no_address(here, there, "it cannot be understood") from None
    if url.scheme not in {"http", "https"} or not url.raw_host or url.userinfo:
        raise _astray(here, there)
    if fault := host_fault(url.netloc.decode("ascii")):
        raise _no_address(here, there, fault)
    if httpx.URL(here).scheme == "https" and url.scheme == "http":
        raise FetchError(f"{show(here)} leads from https to http: {show(there)}", hint=ASTRAY)
    if any(_is_private(address) for address in _addresses(url.host)):
        ours = _addresses(httpx.URL(here).host)
        # One that also has an address in the world is of the world: anybody can give his own name one of ours besides.
        if not ours or not all(_is_private(address) for address in ours):
            raise FetchError(f"{show(here)} leads into this machine's own network: {show(there)}", hint=ASTRAY)


def _no_address(here: str, there: str, fault: str) -> FetchError:
    return FetchError(f"{show(here)} leads to `{show(there)}`, which is no address: {fault}", hint=ASTRAY)


def _astray(here: str, there: str) -> FetchError:
    return FetchError(f"{show(here)} leads to {show(there)}, which is no plain web address", hint=ASTRAY)


def _addresses(host: str) -> set[str]:
    """Give what a host's name means here and now."""
    try:
        return {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return set()


def _is_private(address: str) -> bool:
    """Tell whether an address is this machine or one of its network."""
    return not ipaddress.ip_address(address).is_global
