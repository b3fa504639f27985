"""What is known about the hosts in URLs: whose installers are widely used, and which hosts hide a recipient."""

from collections.abc import Iterator
from functools import lru_cache
from re import Match
from typing import Literal, get_args

from skillpm.audit.model.rule import compiled
from skillpm.audit.rules import vocabulary

HostKind = Literal[
    "address", "lookalike", "collector", "shortener", "unencrypted", "plain", "unknown", "local", "installer"
]
# The most severe first; `unknown` for an address that is built at run time.
GRAVITY: tuple[HostKind, ...] = get_args(HostKind)
# They hide who serves, or who receives.
HOSTILE = frozenset(GRAVITY[:4])


def find_urls(text: bytes) -> Iterator[Match[bytes]]:
    """Yield each URL of a text in lower case: scheme, user info, host, path."""
    at = text.find(b"://")
    while at >= 0:
        schemes = (scheme for scheme in (b"https", b"http", b"ftp", b"wss", b"ws") if text.endswith(scheme, 0, at))
        start = max((at - len(scheme) for scheme in schemes), default=-1)
        match = compiled(vocabulary.URL).match(text, start) if start >= 0 else None
        if match is not None:
            yield match
        at = text.find(b"://", at + 3 if match is None else match.end())


def kind_of(url: Match[bytes]) -> HostKind:
    """Return what is known about the host of a match of `URL`."""
    return classify(url[1], url[3].strip(b"."), url[4] or b"")


@lru_cache(4_096)
def classify(scheme: bytes, host: bytes, path: bytes) -> HostKind:
    """Return what is known about a host, the most severe first."""
    if compiled(vocabulary.LOCAL).fullmatch(host):
        return "local"
    if compiled(vocabulary.ADDRESS).fullmatch(host) or host.endswith(vocabulary.ADDRESS_SUFFIXES):
        return "address"
    if b"xn--" in host or not host.isascii():
        is_known = any(letter in vocabulary.LOOKALIKE_LETTERS for letter in host.decode("utf-8", "replace"))
        return "lookalike" if b"xn--" in host or is_known else "plain"
    if host in vocabulary.SHORTENERS:
        return "shortener"
    labels = host.split(b".")
    domains = {b".".join(labels[-count:]) for count in range(2, min(len(labels), 5) + 1)}
    if not domains.isdisjoint(vocabulary.COLLECTORS) or (host + path).startswith(vocabulary.COLLECTOR_PATHS):
        return "collector"
    if scheme in {b"http", b"ftp", b"ws"}:
        return "unencrypted"
    if (host + path + b"/").startswith(vocabulary.INSTALLERS):
        return "installer"
    return "plain" if scheme else "unencrypted"


def worst_host(text: bytes) -> HostKind:
    """Return the kind of the most severe host in a command."""
    kinds = [kind_of(url) for url in find_urls(text)]
    if not kinds:
        kinds = [
            classify(b"", match[1], match[2] or b"")
            for match in compiled(vocabulary.BARE_HOST).finditer(text)
            if not match[1].endswith(vocabulary.FILE_SUFFIXES)
        ]
    return min(kinds, key=GRAVITY.index, default="unknown")
