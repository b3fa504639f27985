"""Where an address may lead, by redirect or by name: not from https to http, nor from the world into our network."""

import ipaddress
import socket

import httpx

from skillpm.core.git_syntax import host_of
from skillpm.core.netloc import host_problem
from skillpm.core.text import sanitize
from skillpm.errors import FetchError

REDIRECT_HINT = "tell whoever keeps that server; nothing was taken from there"


def resolve_redirect(from_url: str, location: str) -> str:
    """Give where a redirect leads. Raises `FetchError` for one that may not be followed."""
    try:
        there = str(httpx.URL(from_url).join(location))
    except (httpx.InvalidURL, ValueError):
        raise _invalid_address_error(
            from_url, location, host_problem(host_of(location)) or "it cannot be understood"
        ) from None
    check_redirect(from_url, there)
    return there


def check_redirect(from_url: str, to_url: str) -> None:
    """Refuse an address that what stands at another one may not lead to, by a redirect or by name."""
    try:
        url = httpx.URL(to_url)
    except (httpx.InvalidURL, ValueError):
        raise _invalid_address_error(from_url, to_url, "it cannot be understood") from None
    if url.scheme not in {"http", "https"} or not url.raw_host or url.userinfo:
        raise _unsupported_address_error(from_url, to_url)
    if fault := host_problem(url.netloc.decode("ascii")):
        raise _invalid_address_error(from_url, to_url, fault)
    if httpx.URL(from_url).scheme == "https" and url.scheme == "http":
        raise FetchError(f"{sanitize(from_url)} leads from https to http: {sanitize(to_url)}", hint=REDIRECT_HINT)
    if any(_is_private(address) for address in _resolve_host(url.host)):
        ours = _resolve_host(httpx.URL(from_url).host)
        # One that also has an address in the world is of the world: anybody can give his own name one of ours besides.
        if not ours or not all(_is_private(address) for address in ours):
            raise FetchError(
                f"{sanitize(from_url)} leads into this machine's own network: {sanitize(to_url)}", hint=REDIRECT_HINT
            )


def _invalid_address_error(from_url: str, to_url: str, fault: str) -> FetchError:
    return FetchError(
        f"{sanitize(from_url)} leads to `{sanitize(to_url)}`, which is no address: {fault}", hint=REDIRECT_HINT
    )


def _unsupported_address_error(from_url: str, to_url: str) -> FetchError:
    return FetchError(
        f"{sanitize(from_url)} leads to {sanitize(to_url)}, which is no plain web address", hint=REDIRECT_HINT
    )


def _resolve_host(host: str) -> set[str]:
    """Give what a host's name means here and now."""
    try:
        return {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return set()


def _is_private(address: str) -> bool:
    """Tell whether an address is this machine or one of its network."""
    return not ipaddress.ip_address(address).is_global
