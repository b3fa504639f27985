"""Interfaces of fetchers, and the values that they return."""

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName, choose_install_name
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import RefusedError
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.base import Pin, Source
from skillpm.kinds.git import GitSource
from skillpm.kinds.index import IndexSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.store import Proofs, Store


class FetchedSkill(Value):
    """A resolved source: what the lockfile records, and what else SKILL.md declares.

    `digest` is None for a live link. `nested_skills` are the paths of SKILL.md files below its own.
    """

    pin: Pin
    digest: Digest | None
    version: str = ""
    declared_name: str = ""
    dependencies: Mapping[str, Any] = EMPTY_MAPPING
    warnings: tuple[str, ...] = ()
    nested_skills: tuple[str, ...] = ()


class AvailableSkill(Value):
    """A skill of a source with several skills; `source` is its own."""

    name: str
    description: str
    source: Source
    # What identifies its content, if that is known without fetching it.
    content: str = ""
    # Why it cannot be loaded, as far as its SKILL.md shows that.
    problem: str = ""
    # Why its links cannot be installed, as far as they show that without what they lead to.
    link_problem: str = ""
    # The folders of skills of the same name with other content.
    others: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its folder in a repository; empty for other sources."""
        return self.source.repository_path

    @property
    def install_name(self) -> SkillName | None:
        """The name that it is installed under; None if it has no valid one."""
        return choose_install_name(self.name, posixpath.basename(self.path) if self.path != "." else self.name)


ListingRequest = tuple[GitSource, str]
"""A source, and the path that its URL means if it was copied from a browser."""

Listing = tuple[GitSource, Sequence[AvailableSkill]]
"""The source, with its kind of ref and that path, and the skills that it matches."""


class Fetcher(Protocol):
    """Fetcher for one kind of source."""

    def pin(self, sources: Mapping[SkillName, Source]) -> Mapping[SkillName, FetchedSkill]:
        """Resolve sources to their newest content, and add it to the store."""

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> Sequence[str]:
        """Add locked content to the store; return descriptions of what is missing offline."""


class VersionLister(Protocol):
    """Fetcher for a kind of source that has versions."""

    def versions(
        self, sources: Mapping[SkillName, Source], *, dated: bool = False
    ) -> Mapping[SkillName, Sequence[AvailableVersion]]:
        """List all versions of each skill, regardless of its range; unknown skills are left out."""


class CollectionFetcher(Protocol):
    """Fetcher for a kind of source with several skills."""

    def list_available_skills(self, source: Source) -> Sequence[AvailableSkill]:
        """List the skills of a source."""


class SignatureFinder(Protocol):
    """Fetcher for a kind of source with signatures beside the content."""

    def find_signatures(self, name: SkillName, pin: Pin) -> Sequence[bytes]:
        """Return the signatures that are published beside the content of a skill, none of them verified."""


class LocalFetcher(Protocol):
    """Fetcher for a kind of source that is on this machine."""

    def find_absence(self, source: Source) -> str:
        """Return that the folder or the package of a source is missing; empty if it is there."""


class IndexQueries(Protocol):
    """The additional queries of the fetcher for indexes."""

    def contains(self, source: IndexSource) -> bool:
        """Return whether an index has a skill."""

    def list_skills(self, url: str) -> list[tuple[str, str]] | None:
        """Return name and description of all skills of the index at a URL; None if it is not an index."""


def too_large_error(name: str, what: str, setting: str) -> RefusedError:
    """Return the error for a skill over a limit, that of `SKILLPM_MAX_{setting}`."""
    hint = f"if you trust it, raise SKILLPM_MAX_{setting}"
    return RefusedError(f"skill {sanitize(name)}: {what}", hint=hint, skills=[name])


def is_proved(name: SkillName, skill: LockedSkill, store: Store, proofs: Proofs) -> bool:
    """Return whether the content of a locked skill is stored, and was proved to be that of its source."""
    if skill.digest is None:
        return True
    return store.has(skill.digest, skill.pin.store_variant()) and proofs.has(name, skill)
