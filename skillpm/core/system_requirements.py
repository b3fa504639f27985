"""What a skill needs of the machine it runs on: the many spellings of `requires`, made one.

In the wild it is a list of programs, text, an object, or an object below `metadata` of the host that brought the
idea up (OpenClaw, under its four names), as YAML or as JSON in a string. Skills that a skill needs are no part of
this: they have a key of their own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillpm.core.coercion import BRACKETED, split_outside_parentheses, strip_quotes, to_object, to_text
from skillpm.core.text import one_line
from skillpm.core.values import Value

METADATA_HOSTS = ("openclaw", "clawdbot", "clawdis", "moltbot")
# What an author may call each kind, in lower case and without `_` and `-`.
KIND_ALIASES = {
    **dict.fromkeys(["bin", "bins", "binary", "binaries", "command", "commands", "program", "programs"], "bins"),
    **dict.fromkeys(["anybin", "anybins"], "any_bins"),
    **dict.fromkeys(["env", "envs", "environment"], "env"),
    **dict.fromkeys(["config", "configs"], "config"),
    **dict.fromkeys(["os", "platform", "platforms"], "os"),
    **dict.fromkeys(["mcp", "mcpserver", "mcpservers"], "mcp"),
    **dict.fromkeys(["note", "notes"], "notes"),
}
PROGRAM_NAME = re.compile(r"(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)
VARIABLE_NAME = re.compile(r"[A-Za-z_]\w{0,127}", re.ASCII)
NAME_PATTERNS = {"bins": PROGRAM_NAME, "any_bins": PROGRAM_NAME, "env": VARIABLE_NAME}
# Several words without a comma are a list only when each looks like this, and none belongs into a sentence.
LIST_WORD_PATTERNS = {
    "bins": re.compile(r"[a-z][a-z0-9_.+-]*", re.ASCII),
    "any_bins": re.compile(r"[a-z][a-z0-9_.+-]*", re.ASCII),
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
    """What a skill needs: programs on PATH; at least one of some programs; environment variables; settings of its
    host; operating systems; MCP servers, by name; and in `notes` whatever was said in other words.
    """

    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    os: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_system_requirements(value: Any, metadata: Mapping[str, Any]) -> SystemRequirements:
    """Give what is needed: from `requires` where there is one, else from what `metadata` says for a host."""
    if value is not None:
        return _group_by_kind(_parse_requirements(value))
    hosts = [to_object(metadata.get(name)) for name in METADATA_HOSTS]
    for key in ("requires", "os"):  # OpenClaw has the systems beside `requires`, not in it
        host = next((host for host in hosts if host.get(key) is not None), None)
        if host is not None:
            return _group_by_kind([*_parse_requirements(host.get("requires")), *_parse_kind("os", host.get("os"))])
    return SystemRequirements()


def _group_by_kind(needs: list[tuple[str, str]]) -> SystemRequirements:
    kinds: dict[str, dict[str, None]] = {}
    for kind, word in needs:
        fits = kind not in NAME_PATTERNS or NAME_PATTERNS[kind].fullmatch(word)
        kinds.setdefault(kind if fits else "notes", {})[word] = None
    return SystemRequirements(**{kind: tuple(words) for kind, words in kinds.items()})


def _parse_requirements(value: Any) -> list[tuple[str, str]]:
    """Give everything needed, each with its kind; what stands outside of an object is meant to be programs."""
    if to_text(value).startswith("{"):
        value = to_object(value) or value
    if isinstance(value, dict):
        return [need for key, inner in value.items() for need in _parse_member(key, inner)]
    if isinstance(value, list):
        parts = (_parse_requirements(item) if isinstance(item, dict) else _parse_kind("bins", [item]) for item in value)
        return [need for part in parts for need in part]
    return _parse_kind("bins", value)


def _parse_member(key: str, value: Any) -> list[tuple[str, str]]:
    kind = KIND_ALIASES.get(re.sub("[_-]", "", key.lower()))
    if kind is not None:
        return _parse_kind(kind, value)
    said = ", ".join(word for _, word in _parse_kind("notes", value))
    return [("notes", f"{one_line(key)}: {said}")] if said else []


def _parse_kind(kind: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):  # `env: {TOKEN: {required: true}}`
        words = list(value)
    elif isinstance(value, list):
        words = [to_text(item.get("name") if isinstance(item, dict) else item) for item in value]
    else:
        words = list(_split_list(kind, to_text(value)))
    return [(kind, word) for item in words if (word := one_line(item))]


def _split_list(kind: str, text: str) -> Iterator[str]:
    """Give what a text lists: its parts between commas, and the words of a part that is a row of names."""
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
