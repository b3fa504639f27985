"""What a skill needs of the machine it runs on: the many spellings of `requires`, made one.

In the wild it is a list of programs, text, an object, or an object below `metadata` of the host that brought the
idea up (OpenClaw, under its four names), as YAML or as JSON in a string. Skills that a skill needs are no part of
this: they have a key of their own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skillpm.core.coercion import BRACKETED, object_of, outside_parentheses, text_of, unquoted
from skillpm.core.text import one_line
from skillpm.core.values import Value

HOSTS = ("openclaw", "clawdbot", "clawdis", "moltbot")
# What an author may call each kind, in lower case and without `_` and `-`.
KINDS = {
    **dict.fromkeys(["bin", "bins", "binary", "binaries", "command", "commands", "program", "programs"], "bins"),
    **dict.fromkeys(["anybin", "anybins"], "any_bins"),
    **dict.fromkeys(["env", "envs", "environment"], "env"),
    **dict.fromkeys(["config", "configs"], "config"),
    **dict.fromkeys(["os", "platform", "platforms"], "os"),
    **dict.fromkeys(["mcp", "mcpserver", "mcpservers"], "mcp"),
    **dict.fromkeys(["note", "notes"], "notes"),
}
PROGRAM = re.compile(r"(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)
VARIABLE = re.compile(r"[A-Za-z_]\w{0,127}", re.ASCII)
SHAPES = {"bins": PROGRAM, "any_bins": PROGRAM, "env": VARIABLE}
# Several words without a comma are a list only when each looks like this, and none belongs into a sentence.
IN_A_ROW = {
    "bins": re.compile(r"[a-z][a-z0-9_.+-]*", re.ASCII),
    "any_bins": re.compile(r"[a-z][a-z0-9_.+-]*", re.ASCII),
    "env": re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII),
    "os": re.compile(r"[a-z][a-z0-9]*", re.ASCII),
}
OF_SENTENCES = frozenset(
    [
        *("a", "access", "account", "all", "an", "and", "any", "be", "by", "connection", "for", "from", "have", "if"),
        *("in", "installed", "is", "it", "key", "newer", "no", "not", "of", "on", "or", "required", "should", "the"),
        *("this", "to", "using", "version", "via", "with", "you", "your"),
    ]
)


class Requires(Value):
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


def requires_of(value: Any, metadata: Mapping[str, Any]) -> Requires:
    """Give what is needed: from `requires` where there is one, else from what `metadata` says for a host."""
    if value is not None:
        return _collected(_needs(value))
    hosts = [object_of(metadata.get(name)) for name in HOSTS]
    for key in ("requires", "os"):  # OpenClaw has the systems beside `requires`, not in it
        host = next((host for host in hosts if host.get(key) is not None), None)
        if host is not None:
            return _collected([*_needs(host.get("requires")), *_of_kind("os", host.get("os"))])
    return Requires()


def _collected(needs: list[tuple[str, str]]) -> Requires:
    kinds: dict[str, dict[str, None]] = {}
    for kind, word in needs:
        fits = kind not in SHAPES or SHAPES[kind].fullmatch(word)
        kinds.setdefault(kind if fits else "notes", {})[word] = None
    return Requires(**{kind: tuple(words) for kind, words in kinds.items()})


def _needs(value: Any) -> list[tuple[str, str]]:
    """Give everything needed, each with its kind; what stands outside of an object is meant to be programs."""
    if text_of(value).startswith("{"):
        value = object_of(value) or value
    if isinstance(value, dict):
        return [need for key, inner in value.items() for need in _named(key, inner)]
    if isinstance(value, list):
        parts = (_needs(item) if isinstance(item, dict) else _of_kind("bins", [item]) for item in value)
        return [need for part in parts for need in part]
    return _of_kind("bins", value)


def _named(key: str, value: Any) -> list[tuple[str, str]]:
    kind = KINDS.get(re.sub("[_-]", "", key.lower()))
    if kind is not None:
        return _of_kind(kind, value)
    said = ", ".join(word for _, word in _of_kind("notes", value))
    return [("notes", f"{one_line(key)}: {said}")] if said else []


def _of_kind(kind: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):  # `env: {TOKEN: {required: true}}`
        words = list(value)
    elif isinstance(value, list):
        words = [text_of(item.get("name") if isinstance(item, dict) else item) for item in value]
    else:
        words = list(_listed(kind, text_of(value)))
    return [(kind, word) for item in words if (word := one_line(item))]


def _listed(kind: str, text: str) -> Iterator[str]:
    """Give what a text lists: its parts between commas, and the words of a part that is a row of names."""
    if kind == "notes":
        yield text
        return
    bracketed = BRACKETED.fullmatch(text)
    for part in outside_parentheses(text if bracketed is None else bracketed[1], ",|\n"):
        words = part.split()
        shape = IN_A_ROW.get(kind)
        if shape is not None and all(shape.fullmatch(word) and word not in OF_SENTENCES for word in words):
            yield from words
        else:
            yield unquoted(part)
