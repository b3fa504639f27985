"""Interfaces of fetchers, and the values that they return."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from skillpm.core.digest import Digest, content_hash
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import RefusedError
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import GitPin, IndexPin, OciPin, PackagePin, PathPin, Pin, UrlPin
from skillpm.requirements.source import GitSource, IndexSource, Source
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


class IndexQueries(Protocol):
    """The additional queries of the fetcher for indexes."""

    def contains(self, source: IndexSource) -> bool:
        """Return whether an index has a skill."""

    def list_skills(self, url: str) -> list[tuple[str, str]] | None:
        """Return name and description of all skills of the index at a URL; None if it is not an index."""

    def find_signatures(self, name: SkillName, pin: IndexPin) -> Sequence[bytes]:
        """Return the signatures that an index publishes beside a version, none of them verified."""


def too_large_error(name: str, what: str, setting: str) -> RefusedError:
    """Return the error for a skill over a limit, that of `SKILLPM_MAX_{setting}`."""
    hint = f"if you trust it, raise SKILLPM_MAX_{setting}"
    return RefusedError(f"skill {sanitize(name)}: {what}", hint=hint, skills=[name])


def is_proved(name: SkillName, skill: LockedSkill, store: Store, proofs: Proofs) -> bool:
    """Return whether the content of a locked skill is stored, and was proved to be that of its source."""
    if skill.digest is None:
        return True
    return store.has(skill.digest, variant_of(skill.pin)) and proofs.has(name, skill)


def variant_of(pin: Pin) -> str:
    """Return what distinguishes store entries with the same digest, which does not include executable bits.

    The tree id of a git skill and the checksum of an archive or a layer do include them; the entry of a local folder or
    of an installed package is replaced each time it is read. Patterns are included, so that an entry is what they
    choose of the tree.
    """
    if isinstance(pin, UrlPin | IndexPin):
        return pin.sha256
    if isinstance(pin, OciPin):
        return pin.layer.removeprefix("sha256:")
    if isinstance(pin, GitPin) and pin.files:
        return content_hash("\n".join([pin.tree, *pin.files]).encode())
    return pin.tree if isinstance(pin, GitPin) else "path" if isinstance(pin, PathPin | PackagePin) else ""
