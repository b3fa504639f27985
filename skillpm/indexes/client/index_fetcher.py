"""The fetcher for skills of indexes. A skill comes from the first index that contains its name.

Slow imports wait until an index is configured: without one, a plain name is the usual way to install a bundled skill.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.errors import NotFoundError
from skillpm.events import Reporter
from skillpm.fetchers.bundled import BundledFetcher
from skillpm.fetchers.bundled_paths import bundled_names
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.fetchers.common.destinations import Destinations
from skillpm.formats.index_sources import NAMING_HINT, ConfiguredIndex
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.index import IndexPin, IndexSource
from skillpm.resolver.provider import AvailableVersion
from skillpm.settings import Settings
from skillpm.store import Store

if TYPE_CHECKING:
    from skillpm.indexes.client.index_client import IndexClient


class IndexFetcher:
    """Fetches from the indexes in order, then from the bundled skills. Relative folders are relative to `base`."""

    def __init__(
        self,
        settings: Settings,
        base: str,
        store: Store,
        reporter: Reporter,
        load_indexes: Callable[[], Sequence[ConfiguredIndex]],
        destinations: Destinations,
    ) -> None:
        self.settings = settings
        self.base = base
        self.store = store
        self.reporter = reporter
        self._load_indexes = load_indexes
        self._destinations = destinations
        self._client: IndexClient | None = None

    def pin(self, sources: Mapping[SkillName, IndexSource]) -> dict[SkillName, FetchedSkill]:
        """Fetch the newest version in the range of each source.

        Raises `NotFoundError` for a skill that no index contains, `FetchError` for an index that cannot be reached.
        """
        client = self.open_client(allow_unconfigured=_has_site(sources))
        releases = {} if client is None else client.find_releases(sources)
        _check_configured(sources, client)
        bundled = {name: source for name, source in sources.items() if releases.get(name) is None}
        for name, source in bundled.items():
            if source.index or (client is not None and source.name not in bundled_names()):
                raise self._not_found_error(name, source, client)
        skills = BundledFetcher(self.store, self.reporter).pin(bundled) if bundled else {}
        if client is not None:
            skills |= client.fetch_newest({name: sources[name] for name in sources if name not in bundled}, releases)
        return skills

    def versions(
        self,
        sources: Mapping[SkillName, IndexSource],
        *,
        dated: bool = False,  # noqa: ARG002  (an index always publishes dates)
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        """Return all versions of each skill in the first index that contains it, or its bundled version."""
        client = self.open_client(allow_unconfigured=_has_site(sources))
        _check_configured(sources, client)
        releases = {} if client is None else client.find_releases(sources)
        available = {} if client is None else client.list_versions(sources, releases)
        bundled = {name: source for name, source in sources.items() if releases.get(name) is None and not source.index}
        return available | (BundledFetcher(self.store, self.reporter).versions(bundled) if bundled else {})

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Fetch the locked archives. Returns descriptions of those that cannot be fetched offline."""
        pins = {name: skill.pin for name, skill in locked.items() if isinstance(skill.pin, IndexPin)}
        missing = {name: pin for name, pin in pins.items() if self.settings.offline and "://" in pin.url}
        available = {name: skill for name, skill in locked.items() if name in pins and name not in missing}
        client = self.open_client(allow_unconfigured=any("://" in pins[name].index for name in available))
        if client is not None:
            client.fetch(available)
        elif available:
            raise NotFoundError(
                f"`{min(available)}` is locked to an index, but no index is configured", hint=NAMING_HINT
            )
        return [f"{name} ({pin.url})" for name, pin in missing.items()]

    def contains(self, source: IndexSource) -> bool:
        """Return whether an index contains a skill."""
        client, name = self.open_client(), SkillName(source.name)
        return client is not None and client.find_releases({name: source})[name] is not None

    def list_skills(self, url: str) -> list[tuple[str, str]] | None:
        """Return the names and descriptions of all skills in the index at a URL; None if there is no index."""
        client = self.open_client(allow_unconfigured=True)
        return None if client is None else client.index_at(url).list_skills()

    def find_signatures(self, name: SkillName, pin: IndexPin) -> Sequence[bytes]:
        """Return the signatures that an index publishes beside a version, none of them verified."""
        client = self.open_client(allow_unconfigured="://" in pin.index)
        return () if client is None else client.find_signatures(name, pin)

    def open_client(self, *, allow_unconfigured: bool = False) -> "IndexClient | None":
        """Return the client of the indexes; None if no index is configured, unless `allow_unconfigured`."""
        configs = () if self._client is not None else tuple(self._load_indexes())
        if self._client is None and (configs or allow_unconfigured):
            from skillpm.indexes.client.index_client import IndexClient  # noqa: PLC0415  (imports httpx)

            self._client = IndexClient(self.settings, self.base, self.store, self.reporter, configs, self._destinations)
        return self._client

    def _not_found_error(self, name: SkillName, source: IndexSource, client: "IndexClient | None") -> NotFoundError:
        from skillpm.core.suggestions import closest_matches, did_you_mean  # noqa: PLC0415

        configs = [] if client is None else [index.config for index in client.indexes_for(source)]
        searched = [f"{config.name} ({config.url})" for config in configs]
        if url := source.index_url or source.site:
            hint = f"list its skills with `skillpm install {shell_word(url)} --list`"
            return NotFoundError(f"`{source.name}` was not found in the index {searched[0]}", hint=hint)
        names = self._suggest_names(configs, source.name)
        search = f"search with `skillpm search {shell_word(source.name)}`"
        if source.index:
            hint = did_you_mean(names) or search
            return NotFoundError(f"`{source.name}` was not found in the index {searched[0]}", hint=hint)
        similar = closest_matches(source.name, bundled_names())
        first = f"{did_you_mean(similar)} (bundled with skillpm) " if similar else f"{search}; "
        first = f"{did_you_mean(names)} " if names else first
        if searched:
            message = f"`{name}` was not found in any index (searched: {', '.join(searched)}) and"
        else:  # a site was asked for another skill
            message = f"no index is configured, and `{name}`"
        return NotFoundError(
            f"{message} is not bundled with skillpm",
            hint=f"{first}to install from a repository: owner/repo@{name}",
        )

    def _suggest_names(self, configs: Sequence[ConfiguredIndex], name: str) -> list[str]:
        """Return up to three similar names from the cached catalogs, without any requests."""
        from skillpm.indexes.client.catalogs import Catalogs  # noqa: PLC0415  (imports sqlite3)

        catalogs = Catalogs(self.settings.replace(offline=True), self.base, self.reporter, can_write_cache=False)
        databases = [it.database for it in map(catalogs.open_index, configs) if it.database is not None]
        names = (similar for it in databases for similar in it.suggest_names(name, 3, lambda _: False))
        return list(dict.fromkeys(names))[:3]


def _has_site(sources: Mapping[SkillName, IndexSource]) -> bool:
    return any(source.index_url or source.site for source in sources.values())


def _check_configured(sources: Mapping[SkillName, IndexSource], client: "IndexClient | None") -> None:
    """Raise `NotFoundError` for a source that names an index which is not configured."""
    configured = [] if client is None else [index.config.name for index in client.indexes]
    for name, source in sources.items():
        if source.index and not source.index_url and source.index not in configured:
            hint = f"configured indexes: {', '.join(configured)}" if configured else NAMING_HINT
            raise NotFoundError(f"`{name}` requires the index `{source.index}`, which is not configured", hint=hint)
