"""What every fetcher gives, whatever the kind of source."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from skillpm.core.digest import Digest
from skillpm.core.exclude_newer import Cutoff
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import GitPin, IndexPin, PathPin, Pin, UrlPin
from skillpm.requirements.source import IndexSource, Source
from skillpm.resolver.provider import AvailableVersion


class FetchedSkill(Value):
    """A source made exact: what a lockfile will say, and the name the skill gives itself.

    `remarks` are what its user should know of it, `inner` the SKILL.md of skills within it.
    """

    pin: Pin
    digest: Digest | None
    version: str = ""
    declared_name: str = ""
    dependencies: Mapping[str, Any] = EMPTY_MAPPING
    warnings: tuple[str, ...] = ()
    nested_skills: tuple[str, ...] = ()


class AvailableSkill(Value):
    """One skill of a source that holds several: its name, where it stands, what it says of itself."""

    name: str
    description: str
    source: Source


class Fetcher(Protocol):
    """Brings skills of one kind of source into the store."""

    def pin(self, sources: Mapping[SkillName, Source]) -> Mapping[SkillName, FetchedSkill]:
        """Make sources exact, newest first, and put their content into the store."""

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> Sequence[str]:
        """Put exactly these into the store; give what is missing and may not be asked for (`--offline`)."""


class VersionLister(Protocol):
    """Knows which versions there are of skills that are asked for by range."""

    def versions(
        self, sources: Mapping[SkillName, Source], *, dated: bool = False
    ) -> Mapping[SkillName, Sequence[AvailableVersion]]:
        """List all versions of each, whatever the range; a name that nobody knows is left out."""


class IndexQueries(Protocol):
    """What the fetcher for indexes can say beside."""

    def pin(self, sources: Mapping[SkillName, IndexSource]) -> Mapping[SkillName, FetchedSkill]:
        """Take the newest version of each that its range allows."""

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> Sequence[str]:
        """Take exactly the locked archives; give what is missing offline."""

    def find_newest(self, source: IndexSource, cutoff: Cutoff) -> str | None:
        """Give the newest version that an index offers, empty where it has no number; None for an unknown name."""

    def list_skills(self, url: str) -> list[tuple[str, str]] | None:
        """Give all skills of the index at an address, name and description; None where there is no index."""


def variant_of(pin: Pin) -> str:
    """Give what besides the content tells two store entries apart, since executable bits are no part of the digest.

    The tree id of a git skill knows them, and so does the sum of an archive; a local folder is kept anew each time it
    is read.
    """
    if isinstance(pin, UrlPin | IndexPin):
        return pin.sha256
    return pin.tree if isinstance(pin, GitPin) else "path" if isinstance(pin, PathPin) else ""
