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
from skillpm.fetchers.base import FetchedSkill
from skillpm.fetchers.bundled import BundledFetcher
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.formats.index_sources import NAMING_HINT, ConfiguredIndex
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import IndexPin
from skillpm.requirements.source import IndexSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.indexes.client.index_client import IndexClient


class IndexFetcher:
    """Asks the indexes in their order, and last what ships with the tool; relative folders start at `base`."""

    def __init__(
        self,
        settings: Settings,
        base: str,
        store: Store,
        reporter: Reporter,
        load_indexes: Callable[[], Sequence[ConfiguredIndex]],
    ) -> None:
        self.settings = settings
        self.base = base
        self.store = store
        self.reporter = reporter
        self._load_indexes = load_indexes
        self._client: IndexClient | None = None

    def pin(self, sources: Mapping[SkillName, IndexSource]) -> dict[SkillName, FetchedSkill]:
        """Take the newest version of each that its range allows.

        Raises `NotFoundError` for what no index has, `FetchError` for an index that cannot be reached.
        """
        desk = self.open_client(allow_unconfigured=_has_site(sources))
        offered = {} if desk is None else desk.find_releases(sources)
        _check_configured(sources, desk)
        rest = {name: source for name, source in sources.items() if offered.get(name) is None}
        for name, source in rest.items():
            if source.index or (desk is not None and source.name not in bundled_names()):
                raise self._not_found_error(name, source, desk)
        found = BundledFetcher(self.store, self.reporter).pin(rest) if rest else {}
        if desk is not None:
            found |= desk.fetch_newest({name: sources[name] for name in sources if name not in rest}, offered)
        return found

    def versions(
        self,
        sources: Mapping[SkillName, IndexSource],
        *,
        dated: bool = False,  # noqa: ARG002  (an index says it anyway)
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        """List all versions of each in the first index that knows it, else the one that ships with the tool."""
        desk = self.open_client(allow_unconfigured=_has_site(sources))
        _check_configured(sources, desk)
        offered = {} if desk is None else desk.find_releases(sources)
        found = {} if desk is None else desk.list_versions(sources, offered)
        rest = {name: source for name, source in sources.items() if offered.get(name) is None and not source.index}
        return found | (BundledFetcher(self.store, self.reporter).versions(rest) if rest else {})

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Take exactly the locked archives; give what is missing offline."""
        pins = {name: skill for name, skill in locked.items() if isinstance(skill.pin, IndexPin)}
        if self.settings.offline:
            return [f"{name} ({pin.url})" for name, pin in _remote_pins(pins).items()] + self._fetch(
                _local_skills(pins)
            )
        return self._fetch(pins)

    def find_newest(self, source: IndexSource, cutoff: Cutoff) -> str | None:
        """Give the newest version that an index offers in a range and that is not too new, empty for one without a
        number; None where no index knows the name.
        """
        desk = self.open_client(allow_unconfigured=bool(source.index_url))
        name = SkillName(source.name)
        _check_configured({name: source}, desk)
        return None if desk is None else desk.find_newest(name, source, cutoff)

    def list_skills(self, url: str) -> list[tuple[str, str]] | None:
        """Give all skills of the index at an address, name and description; None where there is no index."""
        desk = self.open_client(allow_unconfigured=True)
        return None if desk is None else desk.index_at(url).list_skills()

    def open_client(self, *, allow_unconfigured: bool = False) -> "IndexClient | None":
        """Open the indexes; none where none is configured, unless one is named by its address."""
        places = () if self._client is not None else tuple(self._load_indexes())
        if self._client is None and (places or allow_unconfigured):
            from skillpm.indexes.client.index_client import IndexClient  # noqa: PLC0415  (httpx and more; see the module's head)

            self._client = IndexClient(self.settings, self.base, self.store, self.reporter, places)
        return self._client

    def _not_found_error(self, name: SkillName, source: IndexSource, client: "IndexClient | None") -> NotFoundError:
        from skillpm.core.suggestions import closest_matches  # noqa: PLC0415

        places = [] if client is None else [index.config for index in client.indexes_for(source)]
        asked = [f"{place.name} ({place.url})" for place in places]
        if source.index_url:
            hint = f"what it has: skillpm install {source.index_url} --list"
            return NotFoundError(f"the index {asked[0]} has no skill `{source.name}`", hint=hint)
        names = self._suggest_names(places, source.name)
        look = f"`skillpm search {source.name}` looks for it by its words"
        if source.index:
            hint = f"did you mean {', '.join(names)}?" if names else look
            return NotFoundError(f"the index {asked[0]} has no skill `{source.name}`", hint=hint)
        similar = closest_matches(source.name, bundled_names())
        lead = f"did you mean {', '.join(similar)}, which ships with skillpm? " if similar else f"{look}; "
        lead = f"did you mean {', '.join(names)}? " if names else lead
        return NotFoundError(
            f"no index has a skill `{name}` (asked: {', '.join(asked)}), and none ships with skillpm",
            hint=f"{lead}from a repository: owner/repo@{name}",
        )

    def _suggest_names(self, configs: Sequence[ConfiguredIndex], name: str) -> list[str]:
        """Give the names in the catalogues at hand that may have been meant; no server is asked."""
        from skillpm.indexes.search.catalogs import Catalogs  # noqa: PLC0415  (sqlite, only after a mistake)

        catalogues = Catalogs(self.settings.replace(offline=True), self.base, self.reporter, can_write_cache=False)
        known = [it.database for it in map(catalogues.open_index, configs) if it.database is not None]
        return list(dict.fromkeys(near for it in known for near in it.suggest_names(name, 3, lambda _: False)))[:3]

    def _fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        desk = self.open_client(
            allow_unconfigured=any(isinstance(it.pin, IndexPin) and "://" in it.pin.index for it in locked.values())
        )
        if locked and desk is None:
            name = min(locked)
            raise NotFoundError(
                f"`{name}` is locked to an index, and no index is configured",
                hint=NAMING_HINT,
            )
        if desk is not None:
            desk.fetch(locked)
        return []


def _has_site(sources: Mapping[SkillName, IndexSource]) -> bool:
    return any(source.index_url for source in sources.values())


def _remote_pins(locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, IndexPin]:
    return {
        name: skill.pin for name, skill in locked.items() if isinstance(skill.pin, IndexPin) and "://" in skill.pin.url
    }


def _local_skills(locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, LockedSkill]:
    remote = _remote_pins(locked)
    return {name: skill for name, skill in locked.items() if name not in remote}


def _check_configured(sources: Mapping[SkillName, IndexSource], client: "IndexClient | None") -> None:
    """Refuse an index by a name that nobody gave one."""
    known = [] if client is None else [index.config.name for index in client.indexes]
    for name, source in sources.items():
        if source.index and not source.index_url and source.index not in known:
            hint = f"configured are: {', '.join(known)}" if known else NAMING_HINT
            raise NotFoundError(
                f"`{name}` is wanted from the index `{source.index}`, which nobody configured", hint=hint
            )
