"""A skill as agents are told of it before it is opened: its registry entry, and where it lies."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillpm.core.values import Value
from skillpm.formats.registry import RegistryEntry


class McpServer(Value):
    """A Model Context Protocol server that a skill brings: what to run."""

    name: str
    command: str
    args: tuple[str, ...] = ()


class Card:
    """One skill, unopened. `entry` is what the registry says; the properties are its fields with their types.

    Ten thousand of them are made at once, so this is no `Value`. Nobody changes one.
    """

    __slots__ = ("directory", "entry")

    def __init__(self, entry: RegistryEntry, directory: str) -> None:
        self.entry = entry
        self.directory = directory

    def __repr__(self) -> str:
        return f"Card({self.name!r}, {self.location!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Card) and (other.entry, other.directory) == (self.entry, self.directory)

    def __hash__(self) -> int:
        return hash((self.name, self.directory))

    @property
    def name(self) -> str:
        """The name it is called by."""
        return self.entry["name"]

    @property
    def declared(self) -> str:
        """The name it gives itself."""
        return self.entry.get("declaredName") or self.entry["name"]

    @property
    def description(self) -> str:
        """What it is for; empty for one that is not advertised to models."""
        return self.entry["description"]

    @property
    def category(self) -> str:
        """Its category, `general` where nothing says otherwise."""
        return self.entry.get("category", "") or "general"

    @property
    def triggers(self) -> tuple[str, ...]:
        """Words in a message that call for it."""
        return tuple(self.entry.get("triggers", ()))

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(self.entry.get("tags", ()))

    @property
    def version(self) -> str:
        """Its version; empty where it has none."""
        return self.entry.get("version", "")

    @property
    def location(self) -> str:
        """The absolute path of its file, SKILL.md but for flat ones of old registries."""
        return os.path.join(self.directory, self.entry["filePath"])

    @property
    def folder(self) -> str:
        """The absolute path of the folder that its relative references start at."""
        return os.path.dirname(self.location)

    @property
    def requires(self) -> tuple[str, ...]:
        """The programs it needs on PATH."""
        return tuple(self.entry.get("requires", ()))

    @property
    def is_advertised(self) -> bool:
        """Whether models are told of it: it says what it is for, and is not for people alone to invoke."""
        return bool(self.entry["description"]) and not self.entry.get("userOnly")

    @property
    def needs(self) -> Mapping[str, Sequence[str]]:
        """What it needs beyond: `anyBins` (one of these programs), `env` (variables), `os` (one of these systems)."""
        return self.entry.get("needs", {})

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What its author noted beyond the fields."""
        return self.entry.get("metadata", {})

    @property
    def tokens(self) -> int:
        """About how many tokens its body has."""
        return self.entry.get("tokens", 0)

    @property
    def mcp_servers(self) -> tuple[McpServer, ...]:
        """The MCP servers it brings, sorted by name."""
        servers = self.entry.get("mcpServers", {})
        return tuple(_parse_server(name, server) for name, server in sorted(servers.items()))


def _parse_server(name: str, server: Mapping[str, Any]) -> McpServer:
    return McpServer(name=name, command=str(server.get("command", "")), args=tuple(server.get("args", ())))


def names_of(cards: Iterable[Card]) -> tuple[str, ...]:
    """Give the names of skills, in their order."""
    return tuple(card.name for card in cards)
