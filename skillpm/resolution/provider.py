"""What the resolver may ask."""

from collections.abc import Mapping
from typing import Any, Protocol

from skillpm.documents.digest import Digest
from skillpm.documents.names import SkillName
from skillpm.documents.pin import Pin
from skillpm.sources.source import Source


class Candidate(Protocol):
    """A skill made exact, as a provider found it."""

    @property
    def pin(self) -> Pin: ...  # noqa: D102
    @property
    def digest(self) -> Digest | None: ...  # noqa: D102
    @property
    def version(self) -> str: ...  # noqa: D102
    @property
    def dependencies(self) -> Mapping[str, Any]: ...  # noqa: D102


class Provider(Protocol):
    """Knows what a source leads to today. One call for all, so that it can ask several places at once."""

    def pin(self, wanted: Mapping[SkillName, Source]) -> Mapping[SkillName, Candidate]:
        """Make sources exact, the newest that each allows."""
