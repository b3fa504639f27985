"""The state of a registry build: what was known before, and the result so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillpm.core.values import Value
from skillpm.formats.registry import RegistryEntry, write_registry
from skillpm.installer.stat_cache import FileStat, StatCache


class RegistryProblem(Value):
    """Why a skill is not in the registry, or a warning about one that is."""

    # Relative to the skills directory.
    path: str
    message: str


@dataclass(kw_only=True, slots=True)
class BuildResult:
    """A registry as it should be, with what could not be added to it."""

    entries: dict[str, RegistryEntry] = field(default_factory=dict)
    disabled: list[str] = field(default_factory=list)
    # Skills that are not in the registry.
    problems: list[RegistryProblem] = field(default_factory=list)
    # About skills that are in it. Their file stats are not recorded, so that they are read and reported again.
    warnings: list[RegistryProblem] = field(default_factory=list)
    # Skill -> path in the skill -> stat, for the stat cache.
    file_stats: dict[str, Mapping[str, FileStat]] = field(default_factory=dict)
    # Skills of which the stat cache vouches for every file.
    intact: set[str] = field(default_factory=set)
    # No SKILL.md was read, and the registry on disk says exactly the same.
    is_unchanged: bool = False
    # The digest of the legacy metadata that the receipt adds.
    metadata_digest: str = ""

    @property
    def text(self) -> str:
        """The document."""
        return write_registry(self.entries.values(), self.disabled)


class PriorState(Value):
    """What is known before a build."""

    # The entries of the registry on disk; empty if the stat cache does not belong to it.
    entries: Mapping[str, RegistryEntry]
    stat_cache: StatCache
    # The disabled skills listed in it; None if it cannot be used.
    disabled: tuple[str, ...] | None = None
