"""The state of a registry build: what was known before, and the result so far."""

from collections.abc import Mapping

from skillpm.core.values import Value
from skillpm.formats.registry import RegistryEntry, write_registry
from skillpm.installer.disk.stat_cache import FileStat, StatCache


class RegistryProblem(Value):
    """Why a skill is not in the registry, or a warning about one that is."""

    # Relative to the skills directory.
    path: str
    message: str


class BuildResult:
    """A registry as it should be, with what could not be added to it."""

    def __init__(self) -> None:
        self.entries: dict[str, RegistryEntry] = {}
        self.disabled: list[str] = []
        # Skills that are not in the registry.
        self.problems: list[RegistryProblem] = []
        # About skills that are in it. Their file stats are not recorded, so that they are read and reported again.
        self.warnings: list[RegistryProblem] = []
        # Skill -> path in the skill -> stat, for the stat cache.
        self.file_stats: dict[str, Mapping[str, FileStat]] = {}
        # Skills of which the stat cache vouches for every file.
        self.intact: set[str] = set()
        # No SKILL.md was read, and the registry on disk says exactly the same.
        self.is_unchanged = False
        # The digest of the legacy metadata that the receipt adds.
        self.metadata_digest = ""

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
