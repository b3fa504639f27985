"""The fetcher for skills of indexes: the first index that knows a name is the only one asked for it.

Nothing that costs is imported before there is an index to ask: a bare name is an ordinary way to install what ships
with the tool.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.core.exclude_newer import Cutoff
from skillpm.core.names import SkillName
from skillpm.errors import NotFoundError
from skillpm.events import Reporter
from skillpm.fetchers.base import Found
from skillpm.fetchers.bundled import BundledFetcher
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.formats.index_sources import NAME_IT, IndexPlace
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import IndexPin
from skillpm.requirements.source import IndexSource
from skillpm.resolver.provider import Offered
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.indexes.client.index_client import Desk


class IndexFetcher:
    """Asks the indexes in their order, and last what ships with the tool; relative folders start at `base`."""

    def __init__(
        self,
        settings: Settings,
        base: str,
        store: Store,
        reporter: Reporter,
        places: Callable[[], Sequence[IndexPlace]],
    ) -> None:
        self.settings = settings
        self.base = base
        self.store = store
        self.reporter = reporter
        self._places = places
        self._desk: Desk | None = None

    def pin(self, wanted: Mapping[SkillName, IndexSource]) -> dict[SkillName, Found]:
        """Take the newest version of each that its range allows.

        Raises `NotFoundError` for what no index has, `FetchError` for an index that cannot be reached.
        """
        desk = self.desk(anywhere=_sites(wanted))
        offered = {} if desk is None else desk.offered(wanted)
        _check_named(wanted, desk)
        rest = {name: source for name, source in wanted.items() if offered.get(name) is None}
        for name, source in rest.items():
            if source.index or (desk is not None and source.name not in bundled_names()):
                raise self._unknown(name, source, desk)
        found = BundledFetcher(self.store, self.reporter).pin(rest) if rest else {}
        if desk is not None:
            found |= desk.take({name: wanted[name] for name in wanted if name not in rest}, offered)
        return found

    def versions(
        self,
        wanted: Mapping[SkillName, IndexSource],
        *,
        dated: bool = False,  # noqa: ARG002  (an index says it anyway)
    ) -> dict[SkillName, Sequence[Offered]]:
        """List all versions of each in the first index that knows it, else the one that ships with the tool."""
        desk = self.desk(anywhere=_sites(wanted))
        _check_named(wanted, desk)
        offered = {} if desk is None else desk.offered(wanted)
        found = {} if desk is None else desk.listed(wanted, offered)
        rest = {name: source for name, source in wanted.items() if offered.get(name) is None and not source.index}
        return found | (BundledFetcher(self.store, self.reporter).versions(rest) if rest else {})

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Take exactly the locked archives; give what is missing offline."""
        pins = {name: skill for name, skill in locked.items() if isinstance(skill.pin, IndexPin)}
        if self.settings.offline:
            return [f"{name} ({pin.url})" for name, pin in _remote(pins).items()] + self._fetched(_local(pins))
        return self._fetched(pins)

    def knows(self, source: IndexSource, cutoff: Cutoff) -> str | None:
        """Give the newest version that an index offers in a range and that is not too new, empty for one without a
        number; None where no index knows the name.
        """
        desk = self.desk(anywhere=bool(source.site))
        name = SkillName(source.name)
        _check_named({name: source}, desk)
        return None if desk is None else desk.knows(name, source, cutoff)

    def listed(self, url: str) -> list[tuple[str, str]] | None:
        """Give all skills of the index at an address, name and description; None where there is no index."""
        desk = self.desk(anywhere=True)
        return None if desk is None else desk.at(url).listing()

    def desk(self, *, anywhere: bool = False) -> "Desk | None":
        """Open the indexes; none where none is configured, unless one is named by its address."""
        places = () if self._desk is not None else tuple(self._places())
        if self._desk is None and (places or anywhere):
            from skillpm.indexes.client.index_client import Desk  # noqa: PLC0415  (httpx and more; see the module's head)

            self._desk = Desk(self.settings, self.base, self.store, self.reporter, places)
        return self._desk

    def _unknown(self, name: SkillName, source: IndexSource, desk: "Desk | None") -> NotFoundError:
        from skillpm.core.suggestions import near  # noqa: PLC0415

        places = [] if desk is None else [index.place for index in desk.indexes_for(source)]
        asked = [f"{place.name} ({place.url})" for place in places]
        if source.site:
            hint = f"what it has: skillpm install {source.site} --list"
            return NotFoundError(f"the index {asked[0]} has no skill `{source.name}`", hint=hint)
        names = self._near_in(places, source.name)
        look = f"`skillpm search {source.name}` looks for it by its words"
        if source.index:
            hint = f"did you mean {', '.join(names)}?" if names else look
            return NotFoundError(f"the index {asked[0]} has no skill `{source.name}`", hint=hint)
        similar = near(source.name, bundled_names())
        lead = f"did you mean {', '.join(similar)}, which ships with skillpm? " if similar else f"{look}; "
        lead = f"did you mean {', '.join(names)}? " if names else lead
        return NotFoundError(
            f"no index has a skill `{name}` (asked: {', '.join(asked)}), and none ships with skillpm",
            hint=f"{lead}from a repository: owner/repo@{name}",
        )

    def _near_in(self, places: Sequence[IndexPlace], name: str) -> list[str]:
        """Give the names in the catalogues at hand that may have been meant; no server is asked."""
        from skillpm.indexes.search.catalogs import Catalogues  # noqa: PLC0415  (sqlite, only after a mistake)

        catalogues = Catalogues(self.settings.but(offline=True), self.base, self.reporter, is_kept=False)
        known = [it.searchable for it in map(catalogues.look, places) if it.searchable is not None]
        return list(dict.fromkeys(near for it in known for near in it.near_names(name, 3, lambda _: False)))[:3]

    def _fetched(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        desk = self.desk(anywhere=any(isinstance(it.pin, IndexPin) and "://" in it.pin.index for it in locked.values()))
        if locked and desk is None:
            name = min(locked)
            raise NotFoundError(
                f"`{name}` is locked to an index, and no index is configured",
                hint=NAME_IT,
            )
        if desk is not None:
            desk.fetch(locked)
        return []


def _sites(wanted: Mapping[SkillName, IndexSource]) -> bool:
    return any(source.site for source in wanted.values())


def _remote(locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, IndexPin]:
    return {
        name: skill.pin for name, skill in locked.items() if isinstance(skill.pin, IndexPin) and "://" in skill.pin.url
    }


def _local(locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, LockedSkill]:
    remote = _remote(locked)
    return {name: skill for name, skill in locked.items() if name not in remote}


def _check_named(wanted: Mapping[SkillName, IndexSource], desk: "Desk | None") -> None:
    """Refuse an index by a name that nobody gave one."""
    known = [] if desk is None else [index.place.name for index in desk.indexes]
    for name, source in wanted.items():
        if source.index and not source.site and source.index not in known:
            hint = f"configured are: {', '.join(known)}" if known else NAME_IT
            raise NotFoundError(
                f"`{name}` is wanted from the index `{source.index}`, which nobody configured", hint=hint
            )
