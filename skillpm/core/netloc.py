"""Who an address names: host and port, in a form that every part that will ever parse it understands."""

import re

LONGEST_LABEL = 63
LONGEST_HOST = 253
LAST_PORT = 65535
AUTHORITY = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?", re.ASCII)
PLAIN = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+){3}", re.ASCII)


def host_fault(authority: str) -> str:
    """Say what is wrong with `host:port`, or nothing. Without a network: whether there is such a host is not asked."""
    match = AUTHORITY.fullmatch(authority)
    if match is None:
        return "it has no host and port that can be told apart"
    host, port = match[1], match[2]
    if port and not (len(port) <= len(str(LAST_PORT)) and 0 < int(port) <= LAST_PORT):
        return f"a port is a number from 1 to {LAST_PORT}"
    if host.startswith("[") or NUMBERS.fullmatch(host):
        return _number_fault(host)
    return _name_fault(host)


def _number_fault(host: str) -> str:
    import ipaddress  # noqa: PLC0415  (only for hosts without a name)

    if "%" in host:
        return "the zone of an IPv6 address has no place in it"
    try:
        ipaddress.IPv6Address(host[1:-1]) if host.startswith("[") else ipaddress.IPv4Address(host)
    except ValueError:
        return f"`{host}` is no IPv6 address" if host.startswith("[") else f"`{host}` is no IPv4 address"
    return ""


def _name_fault(host: str) -> str:
    if not host:
        return "it names no host"
    international = not host.isascii()
    if not international and not PLAIN.fullmatch(host):
        return "its host has a character that no host has"
    labels = host.lower().removesuffix(".").split(".")
    if "" in labels:
        return "its host has an empty part between dots"
    if len(host) > LONGEST_HOST or any(len(label) > LONGEST_LABEL for label in labels):
        return f"its host is over {LONGEST_HOST} letters, or a part of it over {LONGEST_LABEL}"
    if not international and not any(label.startswith("xn--") for label in labels):
        return ""
    import idna  # noqa: PLC0415  (only international names cost it)

    try:
        # Whoever sends a request to it will do both.
        idna.decode(idna.encode(host.lower()))
    except UnicodeError:  # of which idna's are
        return "its host is no international domain name"
    return ""
