"""Where a skill comes from, and whether a pattern covers it: yes, no, or ambiguous (docs/places.md). Pure.

An address is ambiguous for a pattern if only some servers would understand it as a place that the pattern names.
The author of an address must gain nothing from that: an ambiguous place is not allowed and not excepted and gets no
token, but what is required of the pattern's places is required of it.
"""

import fnmatch
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from skillpm.core.git_syntax import DEFAULT_PORTS, LOOPBACK
from skillpm.core.patterns import lazy_pattern
from skillpm.formats.trust.place_patterns import Address, parse_address
from skillpm.kinds.git import git_address

Match = Literal["yes", "no", "ambiguous"]
# At the beginning of a path over ssh: the home folder of the user.
HOME = lazy_pattern(r"^/~/")


def match_place(pattern: str, address: str) -> Match:
    """Return whether a pattern covers the address of a place."""
    expected, place = parse_address(pattern), parse_address(address)
    if place.word:
        return _match_word(pattern, expected, place)
    if expected.word:
        return "no"
    if not any(_find_differences(expected, place)):
        return "yes"
    return "ambiguous" if _is_similar(expected, place) else "no"


def covers(pattern: str, address: str) -> bool:
    """Return whether a pattern certainly covers a place: what allows, excepts, or sends a token asks this."""
    return match_place(pattern, address) == "yes"


def may_cover(pattern: str, address: str) -> bool:
    """Return whether a pattern covers a place as some server may understand its address: what requires asks this."""
    return match_place(pattern, address) != "no"


def allows_request(pattern: str, url: str) -> bool:
    """Return whether a request may go to a URL since that is in a place that a pattern covers, or below one."""
    address = git_address(re.split("[?#]", url, maxsplit=1)[0])
    if parse_address(address).word:
        return covers(pattern, address)
    scheme, _, rest = address.partition("://")
    host, *segments = rest.split("/")
    prefixes = ("/".join([host, *segments[:count]]) for count in range(len(segments) + 1))
    return parse_address(address).is_plain and any(covers(pattern, f"{scheme}://{prefix}") for prefix in prefixes)


def _match_word(pattern: str, expected: Address, place: Address) -> Match:
    if pattern == "*" or (expected.word == place.word and not expected.path):
        return "yes"
    if expected.word == place.word and place.is_plain and _matches_path(expected.path, place.path):
        return "yes"
    text = f"{place.word}:{place.path}"
    written = f"{expected.word}:{expected.path}" if expected.word else f"{expected.host}{expected.path}"
    # A file system may ignore case, and `[[trust]]` had patterns such as `*skills*` for any source.
    return "ambiguous" if _resembles(written, text, is_open=written.endswith(("/", "/*"))) else "no"


def explain_mismatch(pattern: str, address: str) -> str:
    """Return why a pattern does not certainly cover a place that it resembles, as a predicate; empty if it does not."""
    expected, place = parse_address(pattern), parse_address(address)
    if not place.word and match_place(pattern, address) == "ambiguous":
        return next(_find_differences(expected, place)).replace("PATTERN", f"`{pattern}`")
    if not place.word and covers(f"{pattern}/*", address):
        return f"is below `{pattern}`, which `{pattern}/*` would allow"
    return ""


def _find_differences(pattern: Address, place: Address) -> Iterator[str]:
    """Yield how a place, as it is written, differs from those of a pattern; nothing if the pattern covers it."""
    if not place.is_plain:
        yield "has a path that a server may understand as another one"
    # Plain HTTP to another machine can be tampered with in transit, so a pattern has to name it.
    is_http = place.scheme == "http" and place.host.strip("[]") not in LOOPBACK
    if pattern.scheme != place.scheme if pattern.scheme and place.scheme else is_http:
        yield f"uses {place.scheme}, which PATTERN does not name"
    default = DEFAULT_PORTS.get(place.scheme, DEFAULT_PORTS["https"])
    if not _compile(pattern.port or ("*" if pattern.host.endswith("*") else default)).fullmatch(place.port or default):
        yield "has another port than PATTERN"
    if not _matches_host(pattern.host, place.host):
        yield "has a host that is not spelled as in PATTERN"
    if not HOME.search(pattern.path):
        # Over ssh, it is relative to the home folder of the user, which may be the root of the server.
        readings = {_matches_path(pattern.path, path or "/") for path in (place.path, HOME.sub("/", place.path))}
        if readings == {True, False}:
            yield "has a path that depends on the home folder of a user"
    if not _matches_path(pattern.path, place.path or "/"):
        yield "has a path that is not spelled as in PATTERN"


def _matches_host(pattern: str, host: str) -> bool:
    """Return whether a pattern matches a host. `*` matches within one label; at the beginning, it matches several."""
    first, *others = pattern.split(".")
    labels = host.split(".")
    extra = len(labels) - len(others)
    if first.startswith("*") and first.count("*") == 1 and extra > 1:
        labels = [".".join(labels[:extra]), *labels[extra:]]
    return len(labels) == len(others) + 1 and all(
        _compile(expected).fullmatch(label) for expected, label in zip([first, *others], labels, strict=True)
    )


def _matches_path(pattern: str, path: str) -> bool:
    """Return whether a pattern matches a path. One that is empty or ends with `/` matches everything below, too."""
    if not pattern or pattern.endswith("/"):
        return _compile(f"{pattern}*").fullmatch(f"{path.rstrip('/')}/") is not None
    name = path.rstrip("/").removesuffix(".git")
    # An index has a slash at its end, so `PATH/*` covers it.
    return any(_compile(pattern.removesuffix(".git")).fullmatch(text) for text in (name, path))


def _is_similar(pattern: Address, place: Address) -> bool:
    """Return whether a pattern covers a place as some server may understand its address.

    Scheme, port, case, encoding, and other spellings of the host make no difference, and `*` matches any text. A path
    that servers understand in several ways may lead anywhere on its host.
    """
    expected_host, host = _normalize_host(pattern.host), _normalize_host(place.host)
    if not place.is_plain and _compile(expected_host).fullmatch(host):
        return True
    is_open = pattern.path in {"", "/"} or pattern.path.endswith(("/", "/*"))
    expected, text = (
        f"{name}{HOME.sub('/', each.decoded)}" for name, each in ((expected_host, pattern), (host, place))
    )
    return _resembles(expected, text, is_open=is_open)


def _resembles(pattern: str, text: str, *, is_open: bool) -> bool:
    base, name = _fold(pattern.removesuffix("*") if pattern.endswith("/*") else pattern), _fold(text)
    return any(_compile(expected).fullmatch(name) for expected in ([base, f"{base}/*"] if is_open else [base]))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().rstrip("/").removesuffix(".git")


def _normalize_host(host: str) -> str:
    """Return the usual spelling of a host: without a final dot, international names in ASCII, addresses in short."""
    host = host.rstrip(".")
    if not host.isascii():
        import idna  # noqa: PLC0415  (only for international names)

        labels = re.split("[.\u3002\uff0e\uff61]", host)
        try:
            return ".".join(each if each.isascii() else idna.encode(each, uts46=True).decode() for each in labels)
        except idna.IDNAError:
            return host
    if host.startswith("[") or host[-1:].isdigit() or ".0x" in f".{host}":
        return _normalize_ip(host.strip("[]"))
    return host


def _normalize_ip(host: str) -> str:
    """Return an IP address as it is usually written: `127.1`, `0x7f000001` and `2130706433` are one (inet_aton(3))."""
    import ipaddress  # noqa: PLC0415  (only for hosts without a name)

    try:
        if ":" in host:
            address = ipaddress.IPv6Address(host)
            return str(address.ipv4_mapped or address)
        *parts, last = (
            int(part, 0 if part.startswith("0x") else 8 if part[:1] == "0" else 10) for part in host.split(".")
        )
        number = sum(part << (24 - 8 * place) for place, part in enumerate(parts)) + last
        return str(ipaddress.IPv4Address(number))
    except ValueError:  # a name
        return host


@lru_cache(maxsize=8192)  # all patterns of a few policies, host and path of each
def _compile(pattern: str) -> re.Pattern[str]:
    # fnmatch translates to a pattern without backtracking.
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]").replace("?", "[?]")))
