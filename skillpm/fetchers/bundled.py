"""The skills that ship with the tool: in the wheel as `skillpm/_bundled`, in a checkout beside the package."""

import os
from collections.abc import Mapping, Sequence

from skillpm.core.digest import short, told_apart
from skillpm.core.file_tree import Limits, Tree
from skillpm.core.names import SkillName
from skillpm.core.suggestions import near
from skillpm.core.versions import matching
from skillpm.errors import DigestMismatch, NotFoundError
from skillpm.events import Reporter
from skillpm.fetchers.base import Found
from skillpm.fetchers.bundled_paths import bundled_folder, bundled_names
from skillpm.fetchers.local import read_skill_folder
from skillpm.fetchers.metadata import described
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import BundledPin
from skillpm.requirements.source import BundledSource, IndexSource
from skillpm.resolver.provider import Offered
from skillpm.store import Store


class BundledFetcher:
    """The fetcher for bundled skills, and for bare names that no index knows."""

    def __init__(self, store: Store, reporter: Reporter) -> None:
        self.store = store
        self.reporter = reporter

    def pin(self, wanted: Mapping[SkillName, BundledSource | IndexSource]) -> dict[SkillName, Found]:
        """Give the shipped version of each, if it lies in the range asked for."""
        found = {}
        for name, source in wanted.items():
            lead = "no index is configured, and " if isinstance(source, IndexSource) else ""
            tree = read_bundled(source.name, lead=lead)
            pin = BundledPin(name=source.name)
            shipped = described(tree, pin, name)
            if isinstance(source, IndexSource) and not matching(source.version, [shipped.version]):
                raise NotFoundError(
                    f"`{source.name}` {source.version} is not there: this skillpm ships {shipped.version}",
                    hint="ask for another version, or name the repository it is in",
                )
            self.store.keep(tree)
            found[name] = shipped
        return found

    def versions(
        self,
        wanted: Mapping[SkillName, IndexSource],
        *,
        dated: bool = False,  # noqa: ARG002  (what ships with the tool is as old as the tool)
    ) -> dict[SkillName, Sequence[Offered]]:
        """Give the one version that ships with the tool of each that does."""
        shipped = {name: source.name for name, source in wanted.items() if source.name in bundled_names()}
        return {
            name: [
                Offered(
                    version=found.version, source=BundledSource(name=shipped[name]), dependencies=found.dependencies
                )
            ]
            for name, found in self.pin({name: BundledSource(name=called) for name, called in shipped.items()}).items()
        }

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Put the locked bytes into the store when they are still the shipped ones."""
        for name, skill in locked.items():
            if isinstance(skill.pin, BundledPin):
                tree = read_bundled(skill.pin.name)
                if tree.digest != skill.digest:
                    shipped = described(tree, skill.pin, name).version
                    if shipped == skill.version:
                        came_from = f"the bundled skills, version {shipped}"
                        says, there = told_apart(skill.digest or "", tree.digest)
                        raise DigestMismatch(name, locked=says, found=there, came_from=came_from)
                    is_locked = skill.version or short(skill.digest or "")
                    raise NotFoundError(
                        f"`{name}` is locked to {is_locked}, this skillpm ships {shipped}",
                        hint=f"run `skillpm update {name}`",
                    )
                self.store.keep(tree)
        return []


def read_bundled(name: str, *, lead: str = "") -> Tree:
    """Give a bundled skill. Raises `NotFoundError` that names the nearest ones; `lead` says where else was looked."""
    names = bundled_names()
    if name not in names:
        similar = near(name, names)
        guess = f"did you mean {', '.join(similar)}? " if similar else ""
        raise NotFoundError(
            f"{lead}no skill called `{name}` ships with skillpm",
            hint=f"{guess}bundled are: {', '.join(names)}; from a repository: owner/repo@{name}",
        )
    return read_skill_folder(os.path.join(bundled_folder(), name), name, Limits())
