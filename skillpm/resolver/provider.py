"""The interface through which the resolver queries sources."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.kinds.base import Pin, Source


class PinnedSkill(Protocol):
    """A skill at an exact version or commit; `dependencies` are in the value forms of a manifest."""

    @property
    def pin(self) -> Pin: ...  # noqa: D102
    @property
    def digest(self) -> Digest | None: ...  # noqa: D102
    @property
    def version(self) -> str: ...  # noqa: D102
    @property
    def dependencies(self) -> Mapping[str, Any]: ...  # noqa: D102


class AvailableVersion(Value):
    """A version that a repository or an index provides, before any of it is fetched."""

    # As spelled by its publisher.
    version: str
    # An exact source for `Provider.pin`: a tag of a repository, `==1.2.0` of an index.
    source: Source
    # In the value forms of a manifest; None if the skill has to be fetched to know them.
    dependencies: Mapping[str, Any] | None = None
    yanked: bool = False
    # Why it was yanked.
    reason: str = ""
    # ISO 8601, UTC; empty if unknown.
    published: str = ""
    # Returns where it can be fetched, if its index says so.
    find_pin: Callable[[], Pin] | None = None
    digest: Digest | None = None


class Provider(Protocol):
    """Queries repositories and indexes. Every method takes several skills, so that requests run concurrently."""

    def versions(
        self, wanted: Mapping[SkillName, Source], *, dated: bool = False
    ) -> Mapping[SkillName, Sequence[AvailableVersion]]:
        """Return all versions of skills, whatever their ranges, in any order.

        Unknown names are left out. The resolver calls this once for each name and source. Publication times that take a
        request of their own are only filled in if `dated` is set.
        """

    def pin(self, wanted: Mapping[SkillName, Source]) -> Mapping[SkillName, PinnedSkill]:
        """Return the newest version or commit that each source allows. Raises `NotFoundError` if there is none."""

    def pin_siblings(self, pin: Pin, names: Sequence[SkillName]) -> Mapping[SkillName, PinnedSkill]:
        """Return those of these skills that a repository has at the commit of a pin."""
