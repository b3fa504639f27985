"""What a search looks at: the installed skills, every index, and last what ships with the tool."""

import os
from collections.abc import Mapping, Sequence

from skillpm.core.names import SkillName
from skillpm.core.text import one_line
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import NotFoundError
from skillpm.files import read_text
from skillpm.formats.catalog_stream import CatalogEntry
from skillpm.formats.index_sources import NAMING_HINT, ConfiguredIndex
from skillpm.formats.lockfile import read_lockfile
from skillpm.formats.pin import IndexPin, describe_pin
from skillpm.indexes.search.catalogs import BUNDLED_KEY, Catalogs, SearchedIndex
from skillpm.indexes.search.database import build_in_memory
from skillpm.indexes.search.full_text import SearchDatabase
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.context.temporary_cache import is_writable
from skillpm.registry.card import Card
from skillpm.serving.service import SkillService

MAX_WORKERS = 4
INSTALLED = "installed"


class SearchCatalog(Value):
    """One place that is searched: `url` of an index, `index` what it is called here.

    `mine` are the names of its skills that are installed, as they are called here; of the installed skills, what is
    told of each.
    """

    url: str
    database: SearchDatabase
    index: str = ""
    installed_names: Mapping[str, str] = EMPTY_MAPPING


class SearchCatalogs(Value):
    """All that is searched, in the order in which `install` would ask, and how it went with each index."""

    catalogs: tuple[SearchCatalog, ...]
    searched_indexes: tuple[SearchedIndex, ...] = ()


def open_catalogs(
    scope: Scope, context: Context, service: SkillService, *, index: str, only_installed: bool
) -> SearchCatalogs:
    """Open everything, or one index, or only what is installed.

    Raises `NotFoundError` for an index that nobody configured; of one that cannot be read `looked` tells.
    """
    here = SearchCatalog(url=INSTALLED, database=build_in_memory(map(_catalog_entry, service.visible.values())))
    if only_installed:
        return SearchCatalogs(catalogs=(here,))
    places = configured_indexes(scope, context.settings)
    if index and index not in {place.name for place in places}:
        known = ", ".join(place.name for place in places)
        hint = f"configured are: {known}" if known else NAMING_HINT
        raise NotFoundError(f"there is no index `{index}`", hint=hint)
    is_kept = is_writable(os.path.join(context.settings.cache_dir, "search"))
    catalogues = Catalogs(context.settings, os.path.dirname(scope.manifest), context.reporter, can_write_cache=is_kept)
    looked = _search_indexes(catalogues, [place for place in places if index in {"", place.name}])
    mine = _find_installed_names(scope, service)
    shelves = [
        SearchCatalog(
            url=it.config.url,
            index=it.config.name,
            database=it.database,
            installed_names=mine.get(it.config.url, EMPTY_MAPPING),
        )
        for it in looked
        if it.database is not None
    ]
    if not index:
        shelves = [here, *shelves, SearchCatalog(url=BUNDLED_KEY, database=catalogues.open_bundled())]
    return SearchCatalogs(catalogs=tuple(shelves), searched_indexes=looked)


def _search_indexes(catalogues: Catalogs, indexes: Sequence[ConfiguredIndex]) -> tuple[SearchedIndex, ...]:
    """Look at the indexes, several at once where one has to be asked."""
    if len(indexes) < 2 or all(catalogues.is_fresh(place) for place in indexes):  # noqa: PLR2004  (nothing to share out)
        return tuple(catalogues.open_index(place) for place in indexes)
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (10 ms, and most have one index)

    with ThreadPoolExecutor(MAX_WORKERS) as pool:
        return tuple(pool.map(catalogues.open_index, indexes))


def _find_installed_names(scope: Scope, service: SkillService) -> dict[str, dict[str, str]]:
    """Give for each index the skills that were installed from it: their names there, and here."""
    text = read_text(scope.lockfile)
    found: dict[str, dict[str, str]] = {}
    for name, skill in (read_lockfile(text, scope.lockfile).skills if text is not None else {}).items():
        card = service.registry.shelf.cards.get(name)
        if card is not None and isinstance(skill.pin, IndexPin) and card.entry.get("source") == describe_pin(skill.pin):
            found.setdefault(skill.pin.index, {})[card.declared] = name
    return found


def _catalog_entry(card: Card) -> CatalogEntry:
    return CatalogEntry(
        name=SkillName(card.name),
        description=one_line(card.description),
        category=card.category,
        tags=tuple(dict.fromkeys([*card.tags, *card.triggers])),
        version=card.version,
    )
