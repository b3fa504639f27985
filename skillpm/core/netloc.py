"""Validation of the host and port of a URL, so strict that git, httpx and we agree on the host it names."""

import re

from skillpm.core.patterns import lazy_pattern

MAX_LABEL_LENGTH = 63
MAX_HOST_LENGTH = 253
MAX_PORT = 65535
AUTHORITY = lazy_pattern(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?", re.ASCII)
HOST_CHARACTERS = lazy_pattern(r"[A-Za-z0-9_.-]+", re.ASCII)
IPV4_ADDRESS = lazy_pattern(r"[0-9]+(?:\.[0-9]+){3}", re.ASCII)


def host_problem(authority: str) -> str:
    """Return why `host:port` is invalid, or an empty string. The name is not resolved."""
    match = AUTHORITY.fullmatch(authority)
    if match is None:
        return "its host and port cannot be parsed"
    host, port = match[1], match[2]
    if port and not (len(port) <= len(str(MAX_PORT)) and 0 < int(port) <= MAX_PORT):
        return f"its port must be a number from 1 to {MAX_PORT}"
    if host.startswith("[") or IPV4_ADDRESS.fullmatch(host):
        return _ip_problem(host)
    return _host_name_problem(host)


def _ip_problem(host: str) -> str:
    import ipaddress  # noqa: PLC0415  (only for hosts without a name)

    if "%" in host:
        return "it must not have an IPv6 zone"
    try:
        ipaddress.IPv6Address(host[1:-1]) if host.startswith("[") else ipaddress.IPv4Address(host)
    except ValueError:
        return f"invalid IPv6 address `{host}`" if host.startswith("[") else f"invalid IPv4 address `{host}`"
    return ""


def _host_name_problem(host: str) -> str:
    if not host:
        return "it has no host"
    international = not host.isascii()
    if not international and not HOST_CHARACTERS.fullmatch(host):
        return "its host has an invalid character"
    labels = host.lower().removesuffix(".").split(".")
    if "" in labels:
        return "its host has an empty part between dots"
    if len(host) > MAX_HOST_LENGTH or any(len(label) > MAX_LABEL_LENGTH for label in labels):
        return f"its host is longer than {MAX_HOST_LENGTH} characters, or a part of it than {MAX_LABEL_LENGTH}"
    if not international and not any(label.startswith("xn--") for label in labels):
        return ""
    import idna  # noqa: PLC0415  (only for international names)

    try:
        # httpx does both when it sends a request.
        idna.decode(idna.encode(host.lower()))
    except UnicodeError:  # idna.IDNAError is one
        return "its host is not a valid international domain name"
    return ""
