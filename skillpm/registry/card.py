"""A skill as loaders see it before it is opened: its registry entry and its location."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.core.names import SKILL_FILES
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, NotFoundError
from skillpm.files import translate_os_errors
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.disk.skill_file import find_skill_file, read_regular_file


class McpServer(Value):
    """A Model Context Protocol server that a skill declares: the command that starts it."""

    name: str
    command: str
    args: tuple[str, ...] = ()


class Card:
    """One skill, unopened: what a catalog shows of it.

    The properties are the typed fields of its registry entry; no file is read. `Registry.read` opens the skill itself.
    Cards are compared by value and must not be modified.
    """

    # Not a `Value`: ten thousand of them are created at once, and this takes a fraction of the time.
    __slots__ = ("directory", "entry")

    def __init__(self, entry: RegistryEntry, directory: str) -> None:
        self.entry = entry
        self.directory = directory

    @classmethod
    def from_path(cls, path: "str | os.PathLike[str]") -> "Card":
        """Read the card of the skill at a path: its folder, or its SKILL.md.

        Raises `NotFoundError` if there is no skill, `FileError` if it cannot be read, and `DocumentError` if it is not
        valid.
        """
        from skillpm.registry.entry import build_entry  # noqa: PLC0415  (loads a YAML library)
        from skillpm.skillmd.findings import NotLoadable  # noqa: PLC0415

        folder = os.path.abspath(os.path.expanduser(os.fspath(path)))
        if os.path.basename(folder) in SKILL_FILES:
            folder = os.path.dirname(folder)
        directory, name = os.path.split(folder)
        file_path = f"{name}/{find_skill_file(folder)}"
        location = os.path.join(directory, file_path)
        with translate_os_errors("read a skill", location):
            if not os.path.exists(location):
                raise NotFoundError("there is no SKILL.md", where=location)
            data = read_regular_file(location)[0]
        try:
            return cls(build_entry(name, file_path, data, pin=None, digest=None), directory)
        except NotLoadable as error:
            message = f"`{sanitize(name)}` cannot be loaded: {error.finding.message}"
            raise DocumentError(message, where=f"{location}:{error.finding.line}") from None

    def __repr__(self) -> str:
        return f"Card({self.name!r}, {self.location!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Card) and (other.entry, other.directory) == (self.entry, self.directory)

    def __hash__(self) -> int:
        return hash((self.name, self.directory))

    @property
    def name(self) -> str:
        """The name that the skill is loaded by: its folder's name."""
        return self.entry["name"]

    @property
    def declared(self) -> str:
        """The name in its own frontmatter."""
        return self.entry.get("declaredName") or self.entry["name"]

    @property
    def description(self) -> str:
        """What the skill is for, on one line; empty if it has no description."""
        return self.entry["description"]

    @property
    def category(self) -> str:
        """Its category; `general` if it has none."""
        return self.entry.get("category", "") or "general"

    @property
    def triggers(self) -> tuple[str, ...]:
        """Words and phrases in a message that suggest the skill."""
        return tuple(self.entry.get("triggers", ()))

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(self.entry.get("tags", ()))

    @property
    def version(self) -> str:
        """Its version; empty if it has none."""
        return self.entry.get("version", "")

    @property
    def location(self) -> str:
        """The absolute path of its SKILL.md (or of a flat file listed by an old registry)."""
        return os.path.join(self.directory, self.entry["filePath"])

    @property
    def folder(self) -> str:
        """The absolute path of the folder that its relative references start at."""
        return os.path.dirname(self.location)

    @property
    def requires(self) -> tuple[str, ...]:
        """The programs that the skill needs on PATH."""
        return tuple(self.entry.get("requires", ()))

    @property
    def is_advertised(self) -> bool:
        """Whether catalogs show it to models: it has a description and is not reserved for users."""
        return bool(self.entry["description"]) and not self.entry.get("userOnly")

    @property
    def needs(self) -> Mapping[str, Sequence[str]]:
        """Its other requirements: `anyBins` (at least one program), `env` (variables), `os` (one of these systems)."""
        return self.entry.get("needs", {})

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The author's own metadata, in no standard field."""
        return self.entry.get("metadata", {})

    @property
    def tokens(self) -> int:
        """The estimated number of tokens of its body."""
        return self.entry.get("tokens", 0)

    @property
    def mcp_servers(self) -> tuple[McpServer, ...]:
        """The MCP servers that it declares, sorted by name."""
        servers = self.entry.get("mcpServers", {})
        return tuple(
            McpServer(name=name, command=str(server.get("command", "")), args=tuple(server.get("args", ())))
            for name, server in sorted(servers.items())
        )
