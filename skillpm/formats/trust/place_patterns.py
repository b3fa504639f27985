"""The grammar of places: addresses, and patterns that policies, `[[trust]]` and tokens compare with them.

A pattern is written like an address, `[SCHEME://]HOST[:PORT][/PATH]` or `WORD[:NAME]`, and parsed by the same function,
so that both name the same parts (docs/places.md).
"""

import re
from functools import cached_property, lru_cache

from skillpm.core.git_syntax import ssh_url
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN
from skillpm.core.values import Value

# The kinds of sources without a host. `path` is also that of an index in a folder.
SOURCE_WORDS = ("bundled", "path", "env", "npm")
FOLDER_PREFIXES = ("/", "./", "../", "~/")
MAX_PATTERN_LENGTH = 500
MAX_WILDCARDS = 6
PORT = lazy_pattern(r"[0-9*]*", re.ASCII)
# A server may understand a path with one of these as another path. `;` begins a parameter in servers in Java, and
# Windows ignores dots and spaces at the end of a name.
UNUSUAL = lazy_pattern(r"[\\;%]|//|[. ](?:/|$)")
# `./`, `../../`, `~/`, `/`
FOLDER_START = lazy_pattern(r"^(?:~?/|(?:\.{1,2}/)+)?")


class Address(Value):
    """The parts of an address or of a pattern. User names, queries and fragments do not belong to a place."""

    # One of `SOURCE_WORDS`; then `path` is what follows the colon.
    word: str = ""
    # In lower case; empty for an OCI repository, and for a pattern of any scheme.
    scheme: str = ""
    # In lower case.
    host: str = ""
    # Without leading zeros; empty for that of the scheme.
    port: str = ""
    # Of an address with a host, empty or with a slash at its beginning.
    path: str = ""

    @cached_property
    def decoded(self) -> str:
        """The path without percent-encoding, as most servers understand it."""
        if "%" not in self.path:
            return self.path
        from urllib.parse import unquote  # noqa: PLC0415  (2 ms that few addresses cost)

        return unquote(self.path)

    @cached_property
    def is_plain(self) -> bool:
        """Whether all servers understand the path in the same way: no `..`, no `//` and the like, encoded or not."""
        path = FOLDER_START.sub("", self.path) if self.word == "path" else self.decoded
        return UNUSUAL.search(path) is None and path.isprintable()


@lru_cache(maxsize=1024)  # the same few patterns are compared with each skill of a command
def parse_address(text: str) -> Address:
    """Return the parts of an address or of a pattern."""
    word, colon, rest = text.partition(":")
    if word in SOURCE_WORDS and not rest.startswith("//"):
        return Address(word=word, path=rest)
    if text.startswith(FOLDER_PREFIXES):
        return Address(word="path", path=text)
    scheme, separator, address = text.partition("://")
    if not separator:
        is_ssh = colon and not {*"/["} & {*word} and ("@" in word or not PORT.fullmatch(rest.partition("/")[0]))
        if is_ssh:
            return parse_address(ssh_url(word, rest))
        scheme, address = "", text
    server = re.split(r"[/?#]", address, maxsplit=1)[0]
    host, bracket, port = server.rpartition("@")[2].lower().rpartition("]")
    host, _, port = (f"{host}{bracket}", "", port.removeprefix(":")) if bracket else port.partition(":")
    path = re.split(r"[?#]", address[len(server) :], maxsplit=1)[0]
    return Address(scheme=scheme.lower(), host=host, port=port.lstrip("0"), path=path)


def read_place_pattern(node: JsonNode) -> str:
    """Return a pattern of places. Raises `DocumentError` for one that could match nothing."""
    text = node.text().strip()
    if len(text) > MAX_PATTERN_LENGTH or text.count("*") > MAX_WILDCARDS:
        node.raise_expected(f"a pattern of at most {MAX_PATTERN_LENGTH} characters with at most {MAX_WILDCARDS} `*`")
    address = parse_address(text)
    if HIDDEN.search(text) or " " in address.host or not (address.word or address.host):
        node.raise_expected("a host and a path such as github.com/acme/*")
    if {*"?#"} & {*text} or not address.is_plain:
        node.raise_expected("a pattern without `..`, `//`, `;`, `?`, `#` and `\\`, which match no place")
    return text
