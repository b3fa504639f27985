"""One module for each kind of source, imported when its key or its prefix occurs."""

from importlib import import_module
from typing import Protocol, cast

from skillpm.core.json_text.decoder import JsonNode, unknown_key_error
from skillpm.core.names import SkillName
from skillpm.core.suggestions import closest_matches
from skillpm.kinds.base import Pin, Source

# Which module parses a requirement, by its first key in this order.
SOURCES = {
    "git": "git", "path": "local", "bundled": "bundled", "url": "archive", "env": "package", "npm": "package",
    "oci": "oci", "version": "index",
}  # fmt: skip
# Which module parses a pin, by its first key in this order; one with a URL is that of an index if it has that, too.
PINS = {"git": "git", "env": "package", "npm": "package", "oci": "oci", "path": "local", "bundled": "bundled"}
# Which module parses a SPEC, by its prefix. All others are one grammar, in `requirements/specifier.py`.
PREFIXES = {"oci://": "oci", "bundled:": "bundled", "env:": "package", "npm:": "package", "link:": "local"}


class Kind(Protocol):
    """What the module of a kind has besides its `Source` and its `Pin`."""

    def read_source(self, name: SkillName, node: JsonNode, /) -> Source:
        """Parse the object of a requirement. Raises `DocumentError` with its place."""

    def read_pin(self, node: JsonNode, /) -> Pin:
        """Parse the object of a lockfile or a receipt. Raises `DocumentError` with its place."""

    def parse_spec(self, spec: str, /) -> Source:
        """Parse a SPEC with a prefix of the kind. Raises `UsageError`."""


def import_kind(module: str) -> Kind:
    """Import the module of a kind."""
    return cast("Kind", import_module(f"skillpm.kinds.{module}"))


def read_source(name: SkillName, node: JsonNode) -> Source:
    """Parse the object form of a requirement."""
    for key, module in SOURCES.items():
        if node.get(key) is not None:
            return import_kind(module).read_source(name, node)
    for key, member in node.items():
        if similar := closest_matches(key, [*SOURCES]):
            raise unknown_key_error(member, key, similar)
    return node.raise_expected("a requirement with git, path, bundled, url, oci, version, env or npm")


def read_pin(node: JsonNode) -> Pin:
    """Parse a pin. Raises `DocumentError`, also for an unknown key."""
    for key, module in PINS.items():
        if node.get(key) is not None:
            return import_kind(module).read_pin(node)
    if node.get("url") is not None:
        return import_kind("archive" if node.get("index") is None else "index").read_pin(node)
    return node.raise_expected("a source: git, path, bundled, url, oci, env or npm")


def parse_prefixed(spec: str) -> Source | None:
    """Parse a SPEC with the prefix of a kind; None for any other one. Raises `UsageError`."""
    for prefix, module in PREFIXES.items():
        if spec.startswith(prefix) or (prefix.endswith("://") and spec.lower().startswith(prefix)):
            return import_kind(module).parse_spec(spec)
    return None
