"""Rules for URLs received from a server, in a redirect or in a document: no downgrade to http, no local network.

Without them a server could use skillpm to reach services that only this machine can reach, such as the metadata
service of a cloud (server-side request forgery).
"""

import ipaddress
import socket

import httpx

from skillpm.core.git_syntax import host_of
from skillpm.core.netloc import host_problem
from skillpm.core.text import sanitize
from skillpm.errors import FetchError

REDIRECT_HINT = "report it to the server's administrator; nothing was downloaded"


def resolve_redirect(from_url: str, location: str) -> str:
    """Return the target of a redirect. Raises `FetchError` for one that is not allowed."""
    try:
        to_url = str(httpx.URL(from_url).join(location))
    except (httpx.InvalidURL, ValueError):
        raise _invalid_address_error(
            from_url, location, host_problem(host_of(location)) or "it cannot be parsed"
        ) from None
    check_redirect(from_url, to_url)
    return to_url


def check_redirect(from_url: str, to_url: str) -> None:
    """Raise `FetchError` if the response from one URL may not point to another one."""
    try:
        url = httpx.URL(to_url)
    except (httpx.InvalidURL, ValueError):
        raise _invalid_address_error(from_url, to_url, "it cannot be parsed") from None
    if url.scheme not in {"http", "https"} or not url.raw_host or url.userinfo:
        raise FetchError(
            f"{sanitize(from_url)} points to {sanitize(to_url)}, which is not a plain http or https URL",
            hint=REDIRECT_HINT,
        )
    if problem := host_problem(url.netloc.decode("ascii")):
        raise _invalid_address_error(from_url, to_url, problem)
    if httpx.URL(from_url).scheme == "https" and url.scheme == "http":
        raise FetchError(f"{sanitize(from_url)} points from https to http: {sanitize(to_url)}", hint=REDIRECT_HINT)
    if any(is_private_address(address) for address in _resolve_host(url.host)):
        addresses = _resolve_host(httpx.URL(from_url).host)
        # A private server may point to its own network. All of its addresses have to be private: anyone can add a
        # private address to a public host name.
        if not addresses or not all(is_private_address(address) for address in addresses):
            raise FetchError(
                f"{sanitize(from_url)} points into the local network: {sanitize(to_url)}", hint=REDIRECT_HINT
            )


def _invalid_address_error(from_url: str, to_url: str, problem: str) -> FetchError:
    return FetchError(
        f"{sanitize(from_url)} points to an invalid URL `{sanitize(to_url)}`: {problem}", hint=REDIRECT_HINT
    )


def _resolve_host(host: str) -> set[str]:
    """Return the addresses that a host name resolves to on this machine; none if it does not resolve."""
    try:
        return {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return set()


# Prefixes whose addresses contain an IPv4 address, and where it begins: IPv4-compatible (RFC 4291), NAT64 (RFC 6052,
# RFC 8215) and 6to4 (RFC 3056). A gateway may pass them on to that address.
EMBEDDED_IPV4 = (("::/96", 12), ("64:ff9b::/96", 12), ("64:ff9b:1::/48", 12), ("2002::/16", 2))


def is_private_address(address: str) -> bool:
    """Return whether an address is not, or not only, one of the internet: this machine, private networks, groups."""
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        for prefix, start in EMBEDDED_IPV4:
            if parsed in ipaddress.IPv6Network(prefix):
                return is_private_address(str(ipaddress.IPv4Address(parsed.packed[start : start + 4])))
        if parsed.ipv4_mapped is not None:
            return is_private_address(str(parsed.ipv4_mapped))
        if parsed.is_site_local:
            return True
    return parsed.is_multicast or not parsed.is_global
