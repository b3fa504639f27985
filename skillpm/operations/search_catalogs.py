"""What a search looks at: the installed skills, every index, and last what ships with the tool."""

import os
from collections.abc import Mapping, Sequence

from skillpm.core.names import SkillName
from skillpm.core.text import one_line
from skillpm.core.values import NOTHING, Value
from skillpm.errors import NotFoundError
from skillpm.files import read_text
from skillpm.formats.catalog_stream import Entry
from skillpm.formats.index_sources import NAME_IT, IndexPlace
from skillpm.formats.lockfile import read_lockfile
from skillpm.formats.pin import IndexPin, describe
from skillpm.indexes.search.catalogs import SHIPPED, Catalogues, Looked
from skillpm.indexes.search.database import in_memory
from skillpm.indexes.search.full_text import Searchable
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_indexes import configured_indexes
from skillpm.operations.context.temporary_cache import can_be_written
from skillpm.registry.card import Card
from skillpm.serving.service import SkillService

AT_ONCE = 4
INSTALLED = "installed"


class Shelf(Value):
    """One place that is searched: `url` of an index, `index` what it is called here.

    `mine` are the names of its skills that are installed, as they are called here; of the installed skills, what is
    told of each.
    """

    url: str
    searchable: Searchable
    index: str = ""
    mine: Mapping[str, str] = NOTHING


class Shelves(Value):
    """All that is searched, in the order in which `install` would ask, and how it went with each index."""

    shelves: tuple[Shelf, ...]
    looked: tuple[Looked, ...] = ()


def open_shelves(scope: Scope, tools: Tools, service: SkillService, *, index: str, only_installed: bool) -> Shelves:
    """Open everything, or one index, or only what is installed.

    Raises `NotFoundError` for an index that nobody configured; of one that cannot be read `looked` tells.
    """
    here = Shelf(url=INSTALLED, searchable=in_memory(map(_entry, service.visible.values())))
    if only_installed:
        return Shelves(shelves=(here,))
    places = configured_indexes(scope, tools.settings)
    if index and index not in {place.name for place in places}:
        known = ", ".join(place.name for place in places)
        hint = f"configured are: {known}" if known else NAME_IT
        raise NotFoundError(f"there is no index `{index}`", hint=hint)
    is_kept = can_be_written(os.path.join(tools.settings.cache_dir, "search"))
    catalogues = Catalogues(tools.settings, os.path.dirname(scope.manifest), tools.reporter, is_kept=is_kept)
    looked = _looked(catalogues, [place for place in places if index in {"", place.name}])
    mine = _origins(scope, service)
    shelves = [
        Shelf(url=it.place.url, index=it.place.name, searchable=it.searchable, mine=mine.get(it.place.url, NOTHING))
        for it in looked
        if it.searchable is not None
    ]
    if not index:
        shelves = [here, *shelves, Shelf(url=SHIPPED, searchable=catalogues.shipped())]
    return Shelves(shelves=tuple(shelves), looked=looked)


def _looked(catalogues: Catalogues, places: Sequence[IndexPlace]) -> tuple[Looked, ...]:
    """Look at the indexes, several at once where one has to be asked."""
    if len(places) < 2 or all(catalogues.is_fresh(place) for place in places):  # noqa: PLR2004  (nothing to share out)
        return tuple(catalogues.look(place) for place in places)
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (10 ms, and most have one index)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return tuple(pool.map(catalogues.look, places))


def _origins(scope: Scope, service: SkillService) -> dict[str, dict[str, str]]:
    """Give for each index the skills that were installed from it: their names there, and here."""
    text = read_text(scope.lockfile)
    found: dict[str, dict[str, str]] = {}
    for name, skill in (read_lockfile(text, scope.lockfile).skills if text is not None else {}).items():
        card = service.registry.shelf.cards.get(name)
        if card is not None and isinstance(skill.pin, IndexPin) and card.entry.get("source") == describe(skill.pin):
            found.setdefault(skill.pin.index, {})[card.declared] = name
    return found


def _entry(card: Card) -> Entry:
    return Entry(
        name=SkillName(card.name),
        description=one_line(card.description),
        category=card.category,
        tags=tuple(dict.fromkeys([*card.tags, *card.triggers])),
        version=card.version,
    )
