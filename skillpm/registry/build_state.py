"""A registry on its way: what was known of it before, and how it is so far, skill by skill taken into it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillpm.core.values import Value
from skillpm.formats.registry import RegistryEntry, write_registry
from skillpm.installer.stat_cache import FileStat, StatCache


class RegistryProblem(Value):
    """A skill that cannot be in the registry, and why; or what is odd about one that is."""

    path: str
    message: str


@dataclass(kw_only=True, slots=True)
class BuildResult:
    """A registry as it should be: its text, the stamps behind it, and what could not be in it.

    `intact`: skills that the stat cache vouches for, every file of them. A registry that is only looked at
    (`for_reading`) needs no stamps. `remarks` are on skills that are in it; their files are not vouched for, so they
    are read again and told again. `is_as_known`: nothing was read, and the registry on disk says just this.
    `inherited` marks what the receipt adds to the skills' own words.
    """

    entries: dict[str, RegistryEntry] = field(default_factory=dict)
    disabled: list[str] = field(default_factory=list)
    problems: list[RegistryProblem] = field(default_factory=list)
    warnings: list[RegistryProblem] = field(default_factory=list)
    file_stats: dict[str, Mapping[str, FileStat]] = field(default_factory=dict)
    intact: set[str] = field(default_factory=set)
    is_read_only: bool = False
    is_unchanged: bool = False
    metadata_digest: str = ""

    @property
    def text(self) -> str:
        """The document."""
        return write_registry(self.entries.values(), self.disabled)


class PriorState(Value):
    """What was known before: the registry as it is, and the stat cache; nothing where the registry is not ours."""

    entries: Mapping[str, RegistryEntry]
    stat_cache: StatCache
    disabled: tuple[str, ...] | None = None
