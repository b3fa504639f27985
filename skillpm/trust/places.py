"""Where a skill comes from, and whether a pattern matches it. Pure.

What a policy allows must be exact, so its patterns match addresses as they are written, without ambiguous paths. What
`[[trust]]` requires must not depend on how a URL is written, so its patterns match normalized names.
"""

import fnmatch
import re
from functools import lru_cache
from typing import Literal, assert_never

from skillpm.core.git_syntax import server_of
from skillpm.core.values import Value
from skillpm.formats.index_sources import is_local
from skillpm.formats.pin import BundledPin, GitPin, IndexPin, OciPin, PackagePin, PathPin, Pin, UrlPin
from skillpm.formats.trust.policy import SOURCE_WORDS
from skillpm.requirements.source import (
    BundledSource,
    GitSource,
    IndexSource,
    OciSource,
    PackageSource,
    PathSource,
    Source,
    UrlSource,
)

# What a server may decode to `.`, `/`, `\\` or `%`: such a path may refer to another place.
ENCODED = ("%2e", "%2f", "%5c", "%25")


class Place(Value):
    """A place that skills come from: the table of a policy that decides about it, and its address there.

    The address is a URL, `HOST/PATH` of an OCI repository, or a word: `bundled`, `path`, `env:NAME`, `npm:NAME`. It is
    empty for an index that is not known yet.
    """

    table: Literal["sources", "indexes", "oci"]
    address: str


def find_place(source: Source | Pin) -> Place:
    """Return the place of a source or a pin."""
    match source:
        case GitSource() | GitPin():
            return Place(table="sources", address=_git_address(source.url))
        case UrlSource() | UrlPin():
            return Place(table="sources", address="path" if is_local(source.url) else source.url)
        case PathSource() | PathPin():
            return Place(table="sources", address="path")
        case BundledSource() | BundledPin():
            return Place(table="sources", address="bundled")
        case PackageSource() | PackagePin():
            return Place(table="sources", address=f"{source.kind}:{source.package}")
        case IndexSource():
            return index_place(source.index_url)
        case IndexPin():
            return index_place(source.index)
        case OciSource() | OciPin():
            return Place(table="oci", address=source.repository)
        case _:
            assert_never(source)


def index_place(url: str) -> Place:
    """Return the place of an index; of one in a folder, `path`."""
    return Place(table="indexes", address="path" if url and is_local(url) else url)


def _git_address(url: str) -> str:
    if url.startswith("file://"):
        return "path"
    host, _, path = url.partition(":")
    return url if "://" in url else f"ssh://{host}/{path}"  # git@host:path


def matches_place(pattern: str, address: str) -> bool:
    """Return whether a pattern matches the address of a place.

    In a host and in a path, `*` matches any text, but in a host it never matches part of the path. A
    pattern without a path matches the whole host, and one that ends with `/` everything below.
    """
    if "://" not in address and address.partition(":")[0] in SOURCE_WORDS:
        return pattern == address.partition(":")[0] or _compile(pattern).fullmatch(address) is not None
    place = _split(address)
    scheme, separator, rest = pattern.partition("://")
    if place is None or (separator and scheme.lower() != place[0]):
        return False
    host, _, path = (rest if separator else pattern).partition("/")
    if not _compile(host.lower()).fullmatch(place[1]):
        return False
    if not path:
        return True
    if path.endswith("/"):
        return _compile(f"{path}*").fullmatch(f"{place[2]}/") is not None
    return _compile(path.removesuffix(".git")).fullmatch(place[2]) is not None


def matches_request(pattern: str, url: str) -> bool:
    """Return whether a request may go to a URL since that is in a place that a pattern matches, or below one."""
    place = _split(url)
    if place is None:
        return False
    scheme, host, path = place
    segments = path.split("/")
    return any(
        matches_place(pattern, f"{scheme}://{host}/{'/'.join(segments[:count])}") for count in range(len(segments) + 1)
    )


def matches_name(pattern: str, name: str) -> bool:
    """Return whether a pattern of names, in which `*` matches any text, matches a name; case is ignored."""
    return _compile(pattern).fullmatch(name.casefold()) is not None


def covers_source(pattern: str, pin: Pin) -> bool:
    """Return whether a pattern of `[[trust]]` matches the whole name of a source, see `name_source`."""
    return _compile(pattern.casefold().removesuffix("/")).fullmatch(name_source(pin)) is not None


def name_source(pin: Pin) -> str:
    """Return the source of a skill as `[[trust]]` names it: host and path, or `path:`, `bundled:`, `env:`, `npm:`.

    In lower case, without scheme, port of the scheme, and `.git`: forges ignore case.
    """
    match pin:
        case GitPin() | UrlPin():
            return _strip_url(pin.url)
        case IndexPin():
            return _strip_url(pin.index)
        case PathPin():
            return f"path:{pin.path}".casefold()
        case BundledPin():
            return f"bundled:{pin.name}".casefold()
        case OciPin() | PackagePin():
            return find_place(pin).address.casefold()
        case _:
            assert_never(pin)


def _strip_url(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if not separator:  # git@host:path, or a folder
        host, colon, path = url.partition(":")
        rest = f"{host.rpartition('@')[2]}/{path.lstrip('/')}" if colon else url
    authority, slash, path = rest.partition("/")
    host = authority.rpartition("@")[2].casefold()
    port = {"https": ":443", "http": ":80", "ssh": ":22"}.get(scheme, "")
    host = host.removesuffix(port).rstrip(".") if port else host
    path = re.sub("/+", "/", path).strip("/").casefold().removesuffix(".git")
    return f"{host}{slash}{path}" if path else host


def _split(address: str) -> tuple[str, str, str] | None:
    """Return scheme, host with port, and path of an address, or None for a path that is not plain.

    A server may understand `a/../b` and `a%2f..%2fb` as `b`, so no pattern matches these.
    """
    scheme, separator, rest = address.partition("://")
    rest = rest if separator else address
    host = server_of(address) if separator else rest.partition("/")[0].lower()
    path = re.split("[?#]", rest.partition("/")[2])[0].rstrip("/").removesuffix(".git")
    is_plain = not path or not {"", ".", ".."} & {*path.split("/")}
    if not is_plain or "\\" in path or any(code in path.lower() for code in ENCODED):
        return None
    return scheme if separator else "", host, path


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    # fnmatch translates to a pattern without backtracking.
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]").replace("?", "[?]")))
