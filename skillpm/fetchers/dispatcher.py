"""The fetcher in front of all: each source and pin goes to the one that knows its kind.

The kinds are imported when a source of that kind is met: a command that needs no git never loads it.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, cast

from skillpm.core.exclude_newer import Cutoff
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING
from skillpm.errors import DigestMismatch, DigestMismatches, SkillpmError
from skillpm.events import Reporter
from skillpm.fetchers.base import AvailableSkill, FetchedSkill, Fetcher, IndexQueries, VersionLister
from skillpm.files import is_below
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import BundledPin, GitPin, IndexPin, PathPin, UrlPin
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, PathSource, Source, UrlSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.settings import Settings
from skillpm.store import Store

MAX_MISMATCH_CHECKS = 50
KINDS: Mapping[type[Any], str] = {
    GitSource: "git", GitPin: "git", PathSource: "path", PathPin: "path", BundledSource: "bundled",
    IndexSource: "index", BundledPin: "bundled", UrlSource: "url", UrlPin: "url", IndexPin: "index",
}  # fmt: skip


class FetcherDispatcher:
    """All fetchers of a run. `base` is the folder relative paths start at; `git_cache` tells where that cache lies,
    asked when it is needed. The one for indexes is made upstairs, by `index`. `locked` is what those who ask know to be
    locked already (`knowing`).
    """

    def __init__(
        self,
        settings: Settings,
        base: str,
        store: Store,
        reporter: Reporter,
        locate_git_cache: Callable[[], str],
        make_index_fetcher: Callable[[], IndexQueries],
    ) -> None:
        self.settings = settings
        self.base = base
        self.store = store
        self.reporter = reporter
        self.locate_git_cache = locate_git_cache
        self.make_index_fetcher = make_index_fetcher
        self.locked: Mapping[SkillName, LockedSkill] = EMPTY_MAPPING
        self._fetchers: dict[str, Fetcher] = {}

    def with_locked(self, locked: Mapping[SkillName, LockedSkill]) -> "FetcherDispatcher":
        """Give the same fetchers, as they are asked where these skills are locked already: nothing is told again of
        what is locked as it is found.
        """
        asked = copy(self)  # what was made is shared: no place is asked twice
        asked.locked = locked
        return asked

    def versions(
        self, sources: Mapping[SkillName, Source], *, dated: bool = False
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        """List the versions of skills that are asked for by range: of an index, of a repository's tags."""
        found: dict[SkillName, Sequence[AvailableVersion]] = {}
        for kind, names in _group_by_kind(sources).items():
            found |= self._version_lister(kind).versions({name: sources[name] for name in names}, dated=dated)
        return found

    def pin(self, sources: Mapping[SkillName, Source], *, quiet: bool = False) -> dict[SkillName, FetchedSkill]:
        """Make all these sources exact. `quietly` is for who only asks what a skill is called."""
        found: dict[SkillName, FetchedSkill] = {}
        for kind, names in _group_by_kind(sources).items():
            found |= self._fetcher(kind).pin({name: sources[name] for name in names})
        if not quiet and any(it.warnings or it.nested_skills for it in found.values()):
            from skillpm.fetchers.notices import report_warnings  # noqa: PLC0415  (few skills have any)

            report_warnings(found, self.locked, self.reporter)
        return found

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Put all these into the store; give everything that is missing offline."""
        missing: list[str] = []
        wrong: list[DigestMismatch] = []
        for kind, names in _group_by_kind({name: skill.pin for name, skill in locked.items()}).items():
            try:
                missing.extend(self._fetcher(kind).fetch({name: locked[name] for name in names}))
            except DigestMismatch as error:
                wrong.extend(self._find_mismatches(kind, error, {name: locked[name] for name in names}))
        if wrong:
            raise (wrong[0] if len(wrong) == 1 else DigestMismatches(wrong)).with_lockfile(self._lockfile_path())
        return missing

    def _find_mismatches(
        self, kind: str, first: DigestMismatch, locked: Mapping[SkillName, LockedSkill]
    ) -> list[DigestMismatch]:
        """Give every skill of a kind whose bytes are not the locked ones, found one by one: the first one found ended
        the work on all, so a new fetcher looks.
        """
        found = {first.name: first}
        fetcher = self._create_fetcher(kind)
        for name in sorted({*locked} - {first.name})[:MAX_MISMATCH_CHECKS]:
            try:
                fetcher.fetch({name: locked[name]})
            except DigestMismatch as error:
                found[name] = error
            except SkillpmError:
                continue  # this one failed otherwise: what is told is what is known to be wrong
        return [found[name] for name in sorted(found)]

    def _lockfile_path(self) -> str:
        """Give the lockfile as it is called from here: it lies beside the manifest."""
        path = os.path.join(self.base, "skills.lock")
        here = self.settings.working_directory
        return os.path.relpath(path, here) if is_below(self.base, here) or is_below(here, self.base) else path

    def has_folder(self, source: PathSource) -> bool:
        """Tell whether the folder of a local source is there."""
        from skillpm.fetchers.local import PathFetcher  # noqa: PLC0415

        return os.path.isdir(cast("PathFetcher", self._fetcher("path")).resolve_folder(source.path))

    def list_available_skills(self, source: GitSource, browser_path: str) -> Sequence[AvailableSkill]:
        """List what a git source may mean."""
        from skillpm.fetchers.git.git_fetcher import GitFetcher  # noqa: PLC0415  (the lazy door, see the module's head)

        return cast("GitFetcher", self._fetcher("git")).list_available_skills(source, browser_path)

    def find_commit_with_tree(self, source: GitSource, ref: str, tree: str) -> str:
        """Give the newest commit on a ref in which a folder has this tree id, or nothing."""
        from skillpm.fetchers.git.git_fetcher import GitFetcher  # noqa: PLC0415

        return cast("GitFetcher", self._fetcher("git")).find_commit_with_tree(source, ref, tree)

    def _version_lister(self, kind: str) -> VersionLister:
        """Give the fetcher of a kind that has versions: only such sources are ever asked for by range."""
        return cast("VersionLister", self._fetcher(kind))

    def find_in_index(self, source: IndexSource, cutoff: Cutoff) -> str | None:
        """Give the newest version that an index has of a name and that may be taken; None where no index knows it."""
        return cast("IndexQueries", self._fetcher("index")).find_newest(source, cutoff)

    def list_index_skills(self, url: str) -> list[tuple[str, str]] | None:
        """Give all skills of the index at an address, name and description; None where there is no index."""
        return cast("IndexQueries", self._fetcher("index")).list_skills(url)

    def _fetcher(self, kind: str) -> Fetcher:
        if kind not in self._fetchers:
            self._fetchers[kind] = self._create_fetcher(kind)
        return self._fetchers[kind]

    def _create_fetcher(self, kind: str) -> Fetcher:
        if kind == "git":
            from skillpm.fetchers.git.git_fetcher import GitFetcher  # noqa: PLC0415

            return cast("Fetcher", GitFetcher(self.settings, self.store, self.reporter, self.locate_git_cache()))
        if kind == "path":
            from skillpm.fetchers.local import PathFetcher  # noqa: PLC0415

            limits, home = self.settings.limits, self.settings.home
            return cast("Fetcher", PathFetcher(self.base, home, limits, self.store, self.reporter))
        if kind == "bundled":
            from skillpm.fetchers.bundled import BundledFetcher  # noqa: PLC0415

            return cast("Fetcher", BundledFetcher(self.store, self.reporter))
        if kind == "url":
            from skillpm.fetchers.url import UrlFetcher  # noqa: PLC0415

            return cast("Fetcher", UrlFetcher(self.settings, self.base, self.store, self.reporter))
        return cast("Fetcher", self.make_index_fetcher())


def _group_by_kind(sources_or_pins: Mapping[SkillName, Any]) -> dict[str, list[SkillName]]:
    groups: dict[str, list[SkillName]] = {}
    for name, thing in sources_or_pins.items():
        groups.setdefault(KINDS[type(thing)], []).append(name)
    return dict(sorted(groups.items()))
