"""`policy.toml` and `skills.policy.toml`: rules of a machine, a user or a project for the skills used there."""

import posixpath
from collections.abc import Mapping
from functools import lru_cache

from skillpm.core.exclude_newer import AGE, to_utc
from skillpm.core.git_syntax import is_insecure
from skillpm.core.json_text.decoder import JsonNode, parse_toml
from skillpm.core.name_patterns import check_inner_wildcards
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import HIDDEN
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.trust.audit_settings import read_rules
from skillpm.formats.trust.place_patterns import (
    MAX_PATTERN_LENGTH,
    MAX_WILDCARDS,
    SOURCE_WORDS,
    read_place_pattern,
)

FORMAT = 1
# Of a policy that is not a project's, in bytes; a list of sixty thousand blocked names has 3 MB.
MAX_POLICY_SIZE = 5_000_000
# Of each list of places. Each pattern is compared with each place, in several ways.
MAX_PATTERNS = 1_000
# Of blocked names, those with wildcards in the middle.
MAX_WILDCARD_NAMES = 1_000
TABLES = ("sources", "indexes", "oci", "require", "licenses", "limits", "audit", "blocked", "fetch")
DURATION = lazy_pattern(r"([0-9]{1,6})\s*(s|seconds?|m|minutes?|h|hours?|d|days?|w|weeks?)")
UNIT_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
SIZE = lazy_pattern(r"([0-9]{1,9})\s*(B|kB|KB|MB|GB|KiB|MiB|GiB)")
UNIT_BYTES = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
KEY = lazy_pattern(r"ed25519:[A-Za-z0-9+/]{43}=")


class BlockedContent(Value):
    """One `[[blocked]]` table: skills that must not be used, by the digest of their content or by name."""

    # `file: blocked.0`, for messages.
    where: str
    reason: str
    # One of the two is empty. The name may have `*`.
    digest: str = ""
    name: str = ""


class FetchedPolicy(Value):
    """The table `[fetch]`: where a signed policy is published, and how old the copy here may become, in seconds."""

    url: str
    # `ed25519:` and the public key in base64.
    key: str
    refresh: int = 900
    max_age: int = 604_800


class Policy(Value):
    """One policy. An absent list is None, and restricts nothing."""

    # The file, or the URL that it was fetched from; messages begin with it.
    origin: str
    sources: tuple[str, ...] | None = None
    indexes: tuple[str, ...] | None = None
    oci: tuple[str, ...] | None = None
    # Pattern of sources -> the root or key that must have signed their skills.
    signers: Mapping[str, str] = EMPTY_MAPPING
    reviews: int = 0
    # An age such as `7 days`.
    min_age: str = ""
    licenses: tuple[str, ...] | None = None
    executables: bool = True
    # In bytes; 0 for no limit.
    max_size: int = 0
    # Rules of `audit` whose findings block.
    audit_block: tuple[str, ...] = ()
    trust_project: bool = True
    blocked: tuple[BlockedContent, ...] = ()
    fetch: FetchedPolicy | None = None
    # When a published policy was issued, in UTC; empty for one that is not.
    issued: str = ""
    # Until when it may be used, in UTC; empty for no limit.
    expires: str = ""

    def locate_file(self, path: str) -> str:
        """Return the path of a file that the policy names, which is relative to the policy's folder."""
        return path if path.startswith("/") else posixpath.join(posixpath.dirname(self.origin), path)

    def locate(self, key: str) -> str:
        """Return `file: key`, for messages."""
        return f"{self.origin}: {key}"


@lru_cache(maxsize=16)
def read_policy(text: str, file: str, size_limit: int = MAX_POLICY_SIZE) -> Policy:
    """Parse a policy. An unknown key is an error: it may be a rule that this version does not enforce."""
    top = parse_toml(text, file, size_limit)
    top.check_format(FORMAT)
    top.check_keys("version", "issued", "expires", *TABLES)
    require, limits, audit = (_read_table(top, key) for key in ("require", "limits", "audit"))
    require.check_keys("signers", "reviews", "min-age")
    limits.check_keys("executables", "max-size")
    audit.check_keys("block", "trust-project")
    max_size, reviews = limits.get("max-size"), require.get("reviews")
    blocked = [] if (tables := top.get("blocked")) is None else [*map(_read_blocked, tables.elements())]
    check_inner_wildcards((each.name for each in blocked), f"{file}: blocked", MAX_WILDCARD_NAMES)
    return Policy(
        origin=file,
        sources=_read_allowed(top, "sources"),
        indexes=_read_allowed(top, "indexes"),
        oci=_read_allowed(top, "oci"),
        signers=_read_signers(require),
        reviews=0 if reviews is None else _read_positive(reviews),
        min_age=_read_age(require.get("min-age")),
        licenses=_read_licenses(top),
        executables=limits.flag_or("executables", default=True),
        max_size=0 if max_size is None else _read_size(max_size),
        audit_block=() if (rules := audit.get("block")) is None else read_rules(rules),
        trust_project=audit.flag_or("trust-project", default=True),
        blocked=tuple(blocked),
        fetch=_read_fetch(top.get("fetch")),
        issued=_read_time(top.get("issued")),
        expires=_read_time(top.get("expires")),
    )


def _read_table(top: JsonNode, key: str) -> JsonNode:
    return top.get(key) or top.with_value({})


def _read_allowed(top: JsonNode, key: str) -> tuple[str, ...] | None:
    """Return the patterns of `allow` in a table; None without such a table."""
    table = top.get(key)
    if table is None:
        return None
    table.check_keys("allow")
    words = {"sources": SOURCE_WORDS, "indexes": ("path",), "oci": ()}[key]
    allow = table.require("allow").check_number(MAX_PATTERNS)
    return tuple(_read_pattern(node, words) for node in allow.elements())


def _read_pattern(node: JsonNode, words: tuple[str, ...] = SOURCE_WORDS) -> str:
    """Return a pattern of places. Raises `DocumentError` for one that could match nothing, such as `githb`."""
    text = node.text().strip()
    is_word = text.partition(":")[0] in words
    is_address = not text.startswith(("/", ".")) and any(character in text for character in "./*:")
    if not (is_word or is_address or text == "localhost") or " " in text:
        others = f", or one of {', '.join(words)}" if words else ""
        node.raise_expected(f"a host and a path such as github.com/acme/*{others}")
    return read_place_pattern(node)


def _read_signers(require: JsonNode) -> dict[str, str]:
    signers = require.get("signers")
    pairs = () if signers is None else signers.check_number(MAX_PATTERNS).items()
    return {_read_pattern(node.with_value(pattern)): node.path() for pattern, node in pairs}


def _read_positive(node: JsonNode) -> int:
    return number if (number := node.number()) > 0 else node.raise_expected("a number above 0")


def _read_age(node: JsonNode | None) -> str:
    text = _strip(node)
    if node is not None and not AGE.fullmatch(text):
        node.raise_expected('an age such as "7 days"')
    return text


def _strip(node: JsonNode | None) -> str:
    """Return a text without spaces around it; empty for a number, which lacks its unit."""
    return node.value.strip() if node is not None and isinstance(node.value, str) else ""


def _read_licenses(top: JsonNode) -> tuple[str, ...] | None:
    table = top.get("licenses")
    if table is None:
        return None
    from skillpm.formats.trust.licenses import normalize_license  # noqa: PLC0415  (imports packaging)

    table.check_keys("allow")
    return tuple(_read_license(node, normalize_license(node.text())) for node in table.require("allow").elements())


def _read_license(node: JsonNode, license_id: str) -> str:
    if not license_id or {"AND", "OR", "("} & {*license_id.replace("(", "( ").split()}:
        node.raise_expected("an SPDX license identifier such as Apache-2.0")
    return license_id


def _read_size(node: JsonNode) -> int:
    match = SIZE.fullmatch(_strip(node))
    size = 0 if match is None else int(match[1]) * UNIT_BYTES[match[2]]
    return size or node.raise_expected('a size such as "500 kB" or "5 MB"')


def read_duration(node: JsonNode | None, default: int) -> int:
    """Return a time such as `15 minutes`, in seconds. Raises `DocumentError`."""
    if node is None:
        return default
    match = DURATION.fullmatch(_strip(node))
    seconds = 0 if match is None else int(match[1]) * UNIT_SECONDS[match[2][0]]
    return seconds or node.raise_expected('a time such as "90 seconds", "15 minutes" or "7 days"')


def _read_blocked(node: JsonNode) -> BlockedContent:
    node.check_keys("digest", "name", "reason")
    digest, name = node.get("digest"), node.get("name")
    if (digest is None) == (name is None):
        node.raise_expected("either `digest` or `name`")
    return BlockedContent(
        where=node.where,
        reason=node.require("reason").text(),
        digest="" if digest is None else digest.digest(),
        name="" if name is None else _read_name_pattern(name),
    )


def _read_name_pattern(node: JsonNode) -> str:
    text = node.text().strip()
    if not text or len(text) > MAX_PATTERN_LENGTH or text.count("*") > MAX_WILDCARDS or HIDDEN.search(text):
        node.raise_expected("the name of a skill, in which `*` matches any text")
    return text.casefold()


def _read_fetch(node: JsonNode | None) -> FetchedPolicy | None:
    if node is None:
        return None
    node.check_keys("url", "key", "refresh", "max-age")
    url, key = node.require("url"), node.require("key")
    if not url.text().startswith(("https://", "http://")) or HIDDEN.search(url.text()) or {*"@?#"} & {*url.text()}:
        url.raise_expected("an https URL without user info and query")
    if is_insecure(url.text()):
        url.raise_expected("an https URL: plain HTTP can be tampered with in transit")
    if not KEY.fullmatch(key.text()):
        key.raise_expected("ed25519: and a public key in base64")
    refresh = read_duration(node.get("refresh"), FetchedPolicy(url="", key="").refresh)
    max_age = read_duration(node.get("max-age"), FetchedPolicy(url="", key="").max_age)
    if max_age < refresh:
        node.require("max-age" if "max-age" in node.value else "refresh").raise_expected("max-age above refresh")
    return FetchedPolicy(url=url.text(), key=key.text(), refresh=refresh, max_age=max_age)


def _read_time(node: JsonNode | None) -> str:
    return "" if node is None else to_utc(node.text()) or node.raise_expected("a time such as 2026-01-31T12:00:00Z")
