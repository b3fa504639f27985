"""What a skill requires of the machine it runs on: the many spellings of `requires`, normalized.

Published skills write it as a list of programs, as text, as an object, or as an object under `metadata` of the host
that introduced it (OpenClaw, under four names), in YAML or as JSON in a string. The skills that a skill depends on are
not part of this: they have a key of their own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillpm.core.coercion import BRACKETED, split_outside_parentheses, strip_quotes, to_object, to_text
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import one_line
from skillpm.core.values import Value

METADATA_HOSTS = ("openclaw", "clawdbot", "clawdis", "moltbot")
# The names that authors use for each kind, in lower case and without `_` and `-`.
KIND_ALIASES = {
    **dict.fromkeys(["bin", "bins", "binary", "binaries", "command", "commands", "program", "programs"], "bins"),
    **dict.fromkeys(["anybin", "anybins"], "any_bins"),
    **dict.fromkeys(["env", "envs", "environment"], "env"),
    **dict.fromkeys(["config", "configs"], "config"),
    **dict.fromkeys(["os", "platform", "platforms"], "os"),
    **dict.fromkeys(["mcp", "mcpserver", "mcpservers"], "mcp"),
    **dict.fromkeys(["note", "notes"], "notes"),
}
PROGRAM_NAME = lazy_pattern(r"(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_][\w.+-]{0,63}", re.ASCII)
VARIABLE_NAME = lazy_pattern(r"[A-Za-z_]\w{0,127}", re.ASCII)
NAME_PATTERNS = {"bins": PROGRAM_NAME, "any_bins": PROGRAM_NAME, "env": VARIABLE_NAME}
# Words without commas are a list only if each matches its pattern, and none is a word of sentences.
LIST_WORD_PATTERNS = {
    "bins": re.compile(r"[a-z_][a-z0-9_.+-]*", re.ASCII),
    "any_bins": re.compile(r"[a-z_][a-z0-9_.+-]*", re.ASCII),
    "env": re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII),
    "os": re.compile(r"[a-z][a-z0-9]*", re.ASCII),
}
SENTENCE_WORDS = frozenset(
    [
        *("a", "access", "account", "all", "an", "and", "any", "be", "by", "connection", "for", "from", "have", "if"),
        *("in", "installed", "is", "it", "key", "newer", "no", "not", "of", "on", "or", "required", "should", "the"),
        *("this", "to", "using", "version", "via", "with", "you", "your"),
    ]
)


class SystemRequirements(Value):
    """What a skill requires of its environment."""

    # Programs on PATH.
    bins: tuple[str, ...] = ()
    # Programs of which at least one must be on PATH.
    any_bins: tuple[str, ...] = ()
    # Environment variables.
    env: tuple[str, ...] = ()
    # Settings of the host.
    config: tuple[str, ...] = ()
    # Operating systems.
    os: tuple[str, ...] = ()
    # Names of MCP servers.
    mcp: tuple[str, ...] = ()
    # Whatever is written in prose.
    notes: tuple[str, ...] = ()


def read_system_requirements(value: Any, metadata: Mapping[str, Any]) -> SystemRequirements:
    """Return the requirements: those of `requires` if present, else those under `metadata` for a host."""
    if value is not None:
        return _group_by_kind(_parse_requirements(value))
    hosts = [to_object(metadata.get(name)) for name in METADATA_HOSTS]
    for key in ("requires", "os"):  # OpenClaw writes `os` next to `requires`, not in it
        host = next((host for host in hosts if host.get(key) is not None), None)
        if host is not None:
            return _group_by_kind([*_parse_requirements(host.get("requires")), *_parse_kind("os", host.get("os"))])
    return SystemRequirements()


def _group_by_kind(pairs: list[tuple[str, str]]) -> SystemRequirements:
    kinds: dict[str, dict[str, None]] = {}
    for kind, word in pairs:
        is_name = kind not in NAME_PATTERNS or NAME_PATTERNS[kind].fullmatch(word)
        kinds.setdefault(kind if is_name else "notes", {})[word] = None
    return SystemRequirements(**{kind: tuple(words) for kind, words in kinds.items()})


def _parse_requirements(value: Any) -> list[tuple[str, str]]:
    """Return every requirement with its kind. Outside of an object, words are names of programs."""
    if to_text(value).startswith("{"):
        value = to_object(value) or value
    if isinstance(value, dict):
        return [pair for key, inner in value.items() for pair in _parse_member(key, inner)]
    if isinstance(value, list):
        parts = (_parse_requirements(item) if isinstance(item, dict) else _parse_kind("bins", [item]) for item in value)
        return [pair for part in parts for pair in part]
    return _parse_kind("bins", value)


def _parse_member(key: str, value: Any) -> list[tuple[str, str]]:
    kind = KIND_ALIASES.get(re.sub("[_-]", "", key.lower()))
    if kind is not None:
        return _parse_kind(kind, value)
    text = ", ".join(word for _, word in _parse_kind("notes", value))
    return [("notes", f"{one_line(key)}: {text}")] if text else []


def _parse_kind(kind: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):  # `env: {TOKEN: {required: true}}`
        words = list(value)
    elif isinstance(value, list):
        words = [to_text(item.get("name") if isinstance(item, dict) else item) for item in value]
    else:
        words = list(_split_list(kind, to_text(value)))
    return [(kind, word) for item in words if (word := one_line(item))]


def _split_list(kind: str, text: str) -> Iterator[str]:
    """Yield the items of a list written as text: its parts between commas, or a part's words if all are names."""
    if kind == "notes":
        yield text
        return
    bracketed = BRACKETED.fullmatch(text)
    for part in split_outside_parentheses(text if bracketed is None else bracketed[1], ",|\n"):
        words = part.split()
        shape = LIST_WORD_PATTERNS.get(kind)
        if shape is not None and all(shape.fullmatch(word) and word not in SENTENCE_WORDS for word in words):
            yield from words
        else:
            yield strip_quotes(part)
