"""The skills that ship with the tool: in the wheel as `skillpm/_bundled`, in a checkout beside the package."""

import os
from collections.abc import Mapping, Sequence

from skillpm.core.digest import shorten_digest, shorten_distinct_digests
from skillpm.core.file_tree import FileTree, Limits
from skillpm.core.names import SkillName
from skillpm.core.suggestions import closest_matches
from skillpm.core.versions import filter_versions
from skillpm.errors import DigestMismatch, NotFoundError
from skillpm.events import Reporter
from skillpm.fetchers.base import FetchedSkill
from skillpm.fetchers.bundled_paths import bundled_folder, bundled_names
from skillpm.fetchers.local import read_skill_folder
from skillpm.fetchers.metadata import read_metadata
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import BundledPin
from skillpm.requirements.source import BundledSource, IndexSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.store import Store


class BundledFetcher:
    """The fetcher for bundled skills, and for bare names that no index knows."""

    def __init__(self, store: Store, reporter: Reporter) -> None:
        self.store = store
        self.reporter = reporter

    def pin(self, sources: Mapping[SkillName, BundledSource | IndexSource]) -> dict[SkillName, FetchedSkill]:
        """Give the shipped version of each, if it lies in the range asked for."""
        found = {}
        for name, source in sources.items():
            lead = "no index is configured, and " if isinstance(source, IndexSource) else ""
            tree = read_bundled_skill(source.name, message_prefix=lead)
            pin = BundledPin(name=source.name)
            shipped = read_metadata(tree, pin, name)
            if isinstance(source, IndexSource) and not filter_versions(source.version, [shipped.version]):
                raise NotFoundError(
                    f"`{source.name}` {source.version} is not there: this skillpm ships {shipped.version}",
                    hint="ask for another version, or name the repository it is in",
                )
            self.store.add(tree)
            found[name] = shipped
        return found

    def versions(
        self,
        sources: Mapping[SkillName, IndexSource],
        *,
        dated: bool = False,  # noqa: ARG002  (what ships with the tool is as old as the tool)
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        """Give the one version that ships with the tool of each that does."""
        shipped = {name: source.name for name, source in sources.items() if source.name in bundled_names()}
        return {
            name: [
                AvailableVersion(
                    version=found.version, source=BundledSource(name=shipped[name]), dependencies=found.dependencies
                )
            ]
            for name, found in self.pin({name: BundledSource(name=called) for name, called in shipped.items()}).items()
        }

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Put the locked bytes into the store when they are still the shipped ones."""
        for name, skill in locked.items():
            if isinstance(skill.pin, BundledPin):
                tree = read_bundled_skill(skill.pin.name)
                if tree.digest != skill.digest:
                    shipped = read_metadata(tree, skill.pin, name).version
                    if shipped == skill.version:
                        came_from = f"the bundled skills, version {shipped}"
                        says, there = shorten_distinct_digests(skill.digest or "", tree.digest)
                        raise DigestMismatch(name, locked=says, actual=there, origin=came_from)
                    is_locked = skill.version or shorten_digest(skill.digest or "")
                    raise NotFoundError(
                        f"`{name}` is locked to {is_locked}, this skillpm ships {shipped}",
                        hint=f"run `skillpm update {name}`",
                    )
                self.store.add(tree)
        return []


def read_bundled_skill(name: str, *, message_prefix: str = "") -> FileTree:
    """Give a bundled skill. Raises `NotFoundError` that names the nearest ones; `lead` says where else was looked."""
    names = bundled_names()
    if name not in names:
        similar = closest_matches(name, names)
        guess = f"did you mean {', '.join(similar)}? " if similar else ""
        raise NotFoundError(
            f"{message_prefix}no skill called `{name}` ships with skillpm",
            hint=f"{guess}bundled are: {', '.join(names)}; from a repository: owner/repo@{name}",
        )
    return read_skill_folder(os.path.join(bundled_folder(), name), name, Limits())
