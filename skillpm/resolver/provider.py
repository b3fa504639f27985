"""What the resolver may ask."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.formats.pin import Pin
from skillpm.requirements.source import Source


class PinnedSkill(Protocol):
    """A skill made exact, as a provider found it; `dependencies` are in the value forms of a manifest."""

    @property
    def pin(self) -> Pin: ...  # noqa: D102
    @property
    def digest(self) -> Digest | None: ...  # noqa: D102
    @property
    def version(self) -> str: ...  # noqa: D102
    @property
    def dependencies(self) -> Mapping[str, Any]: ...  # noqa: D102


class AvailableVersion(Value):
    """One version of a skill that could be taken, before anything of it is fetched.

    `version` is spelled as its publisher does. `source` is exact: what to ask `pin` for when this one is taken (a tag
    of a repository, `==1.2.0` of an index). `dependencies` are in the value forms of a manifest; None where only the
    skill itself knows them. `published` is a moment in ISO 8601, UTC, or empty where nobody says; `reason` says why it
    was yanked. `pin` and `digest` are where it lies and what is in it, where its publisher says so.
    """

    version: str
    source: Source
    dependencies: Mapping[str, Any] | None = None
    yanked: bool = False
    reason: str = ""
    published: str = ""
    pin: Pin | None = None
    digest: Digest | None = None


class Provider(Protocol):
    """Knows what sources lead to today. Every call is for several skills, so that several places are asked at once."""

    def versions(
        self, wanted: Mapping[SkillName, Source], *, dated: bool = False
    ) -> Mapping[SkillName, Sequence[AvailableVersion]]:
        """List the versions of skills that are asked for by range (whatever the range), in any order.

        A name that nobody knows is left out. A resolver asks once for each name and place. Only when `dated` is wanted
        does it say when each was published, where that has to be asked for.
        """

    def pin(self, wanted: Mapping[SkillName, Source]) -> Mapping[SkillName, PinnedSkill]:
        """Make sources exact, the newest that each allows. Raises `NotFoundError` for what is not there."""
