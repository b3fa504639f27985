"""Who an address names: host and port, in a form that every part that will ever parse it understands."""

import re

MAX_LABEL_LENGTH = 63
MAX_HOST_LENGTH = 253
MAX_PORT = 65535
AUTHORITY = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?", re.ASCII)
HOST_CHARACTERS = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
IPV4_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}", re.ASCII)


def host_problem(authority: str) -> str:
    """Say what is wrong with `host:port`, or nothing. Without a network: whether there is such a host is not asked."""
    match = AUTHORITY.fullmatch(authority)
    if match is None:
        return "it has no host and port that can be told apart"
    host, port = match[1], match[2]
    if port and not (len(port) <= len(str(MAX_PORT)) and 0 < int(port) <= MAX_PORT):
        return f"a port is a number from 1 to {MAX_PORT}"
    if host.startswith("[") or IPV4_ADDRESS.fullmatch(host):
        return _ip_problem(host)
    return _host_name_problem(host)


def _ip_problem(host: str) -> str:
    import ipaddress  # noqa: PLC0415  (only for hosts without a name)

    if "%" in host:
        return "the zone of an IPv6 address has no place in it"
    try:
        ipaddress.IPv6Address(host[1:-1]) if host.startswith("[") else ipaddress.IPv4Address(host)
    except ValueError:
        return f"`{host}` is no IPv6 address" if host.startswith("[") else f"`{host}` is no IPv4 address"
    return ""


def _host_name_problem(host: str) -> str:
    if not host:
        return "it names no host"
    international = not host.isascii()
    if not international and not HOST_CHARACTERS.fullmatch(host):
        return "its host has a character that no host has"
    labels = host.lower().removesuffix(".").split(".")
    if "" in labels:
        return "its host has an empty part between dots"
    if len(host) > MAX_HOST_LENGTH or any(len(label) > MAX_LABEL_LENGTH for label in labels):
        return f"its host is over {MAX_HOST_LENGTH} letters, or a part of it over {MAX_LABEL_LENGTH}"
    if not international and not any(label.startswith("xn--") for label in labels):
        return ""
    import idna  # noqa: PLC0415  (only international names cost it)

    try:
        # Whoever sends a request to it will do both.
        idna.decode(idna.encode(host.lower()))
    except UnicodeError:  # of which idna's are
        return "its host is no international domain name"
    return ""
