"""Search: what is installed, what every index has, and what ships with the tool, as one list, the best first.

First for what has all words; only where nothing does, for words that are nearly those; only then for some of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.catalog_stream import CatalogEntry
from skillpm.indexes.search.catalogs import BUNDLED_KEY, SearchedIndex
from skillpm.indexes.search.full_text import TIER_STEM, Hit, Hits
from skillpm.indexes.search.query import Query, nearest_words, parse_query
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.search_catalogs import INSTALLED, SearchCatalog, open_catalogs
from skillpm.serving.service import SkillService

MAX_SUGGESTIONS = 3
UNLIMITED = 1_000_000
MatchKind = Literal["all", "alike", "some"]
Corrections = Mapping[str, tuple[str, ...]]


class SearchResult(Value):
    """A skill that was found. `index` is the name of the index that has it, empty for one that is only here or ships
    with the tool; `spec` is what to give to `install`, empty for what is installed.
    """

    entry: CatalogEntry
    source: str
    is_installed: bool
    index: str = ""
    spec: str = ""


class SearchResults(Value):
    """What a search gives: the best, how many there are in all, and whether they have `all` words, words `alike`
    (`meant` says which), or `some`. `near` are names for where there is nothing; `counts` says how many skills were
    looked at in each place, where nothing was found.
    """

    results: tuple[SearchResult, ...]
    total: int
    match_kind: MatchKind
    corrections: Corrections
    suggestions: tuple[str, ...]
    searched_indexes: tuple[SearchedIndex, ...]
    counts: Mapping[str, int]


def search(  # noqa: PLR0913  (each narrows the search)
    scope: Scope,
    context: Context,
    service: SkillService,
    text: str,
    *,
    limit: int,
    index: str = "",
    only_installed: bool = False,
) -> SearchResults:
    """Find skills by words. An index that cannot be read stops nothing; `looked` tells of it.

    With `index` only that one is searched. Raises `NotFoundError` for one that nobody configured.
    """
    opened = open_catalogs(scope, context, service, index=index, only_installed=only_installed)
    shelves, query = opened.catalogs, parse_query(text)
    run = _Search(query, limit, service)
    matched, hits = run.find_first_match(shelves)
    total = sum(found.total for found in hits)
    near = () if total else tuple(run.suggest_names(shelves))
    hides = service.rules.hides
    return SearchResults(
        results=tuple(_merge_hits(shelves, hits, service)[:limit]) if total else (),
        total=total,
        match_kind=matched,
        corrections=run.corrections if total else EMPTY_MAPPING,
        suggestions=near,
        searched_indexes=opened.searched_indexes,
        counts={} if total else {it.index or it.url: it.database.count_visible(hides) for it in shelves},
    )


class _Search:
    """One query, asked of one shelf after the other."""

    def __init__(self, query: Query, limit: int, service: SkillService) -> None:
        self.query = query
        self.limit = limit
        self.service = service
        self.corrections: dict[str, tuple[str, ...]] = {}

    def find_first_match(self, catalogs: Sequence[SearchCatalog]) -> tuple[MatchKind, list[Hits]]:
        """Give the first way to look that finds something, and what it finds on each shelf."""
        ways: list[tuple[MatchKind, _SearchFunction]] = [
            ("all", self.match_all_words),
            ("alike", self.match_similar_words),
            ("some", self.match_any_word),
        ]
        tried = ((matched, self.search_catalogs(catalogs, way)) for matched, way in ways)
        return next((found for found in tried if any(hits.total for hits in found[1])), ("all", []))

    def search_catalogs(self, catalogs: Sequence[SearchCatalog], search_one: "_SearchFunction") -> list[Hits]:
        """Ask every shelf. What is installed from an index, and found as such, is not found there once more; and what
        ships with the tool not beside an installed skill of its name.
        """
        denied, found, here = self.service.rules.hides, [], set[str]()
        for shelf in catalogs:
            twice = frozenset(name for name, called in shelf.installed_names.items() if called in here)
            if shelf.url == BUNDLED_KEY:
                twice = frozenset(self.service.registry.shelf.cards)
            found.append(search_one(shelf, partial(_is_hidden, twice, denied)))
            if shelf.url == INSTALLED:
                here = {hit.entry.name for hit in found[-1].best}
        return found

    def match_all_words(self, catalog: SearchCatalog, is_hidden: Callable[[str], bool]) -> Hits:
        """Find what has all words; of what is installed also what has them within other words."""
        if catalog.url != INSTALLED:
            return catalog.database.search_all_words(self.query, self.limit, is_hidden)
        hits = catalog.database.search_all_words(self.query, UNLIMITED, is_hidden)
        there = {hit.entry.name for hit in hits.best}
        more = [told.card.name for told in self.service.search(" ".join(self.query.words))]
        rest = tuple(Hit(entry=catalog.database.get_entry(name), tier=TIER_STEM) for name in more if name not in there)
        return Hits(best=(*hits.best, *rest), total=hits.total + len(rest))

    def match_similar_words(self, catalog: SearchCatalog, is_hidden: Callable[[str], bool]) -> Hits:
        """Find what has all words, the mistyped ones as they may have been meant."""
        meant = catalog.database.suggest_words(self.query.words, self.service.rules.hides)
        hits = (
            catalog.database.search_all_words(self.query, self._limit_for(catalog), is_hidden, meant)
            if meant
            else Hits()
        )
        if hits.total:

            def finds(typed: str, word: str) -> bool:
                return bool(
                    catalog.database.search_all_words(self.query, 1, is_hidden, {**meant, typed: (word,)}).total
                )

            told = {typed: tuple(word for word in words if finds(typed, word)) for typed, words in meant.items()}
            self.corrections = {**told, **self.corrections}
        return hits

    def match_any_word(self, catalog: SearchCatalog, is_hidden: Callable[[str], bool]) -> Hits:
        """Find what has some of the words."""
        meant = catalog.database.suggest_words(self.query.words, self.service.rules.hides)
        return catalog.database.search_any_word(self.query, self._limit_for(catalog), is_hidden, meant)

    def suggest_names(self, catalogs: Sequence[SearchCatalog]) -> Iterator[str]:
        """Give names that may have been meant where nothing was found."""
        denied = self.service.rules.hides
        names = {
            name for it in catalogs for name in it.database.suggest_names(self.query.name, MAX_SUGGESTIONS, denied)
        }
        yield from nearest_words(self.query.name, ((name, 0) for name in sorted(names)), MAX_SUGGESTIONS)

    def _limit_for(self, catalog: SearchCatalog) -> int:
        return UNLIMITED if catalog.url == INSTALLED else self.limit


def _is_hidden(duplicates: frozenset[str], is_denied: Callable[[str], bool], name: str) -> bool:
    return name in duplicates or is_denied(name)


_SearchFunction = Callable[[SearchCatalog, Callable[[str], bool]], Hits]


def _merge_hits(catalogs: Sequence[SearchCatalog], hits: Sequence[Hits], service: SkillService) -> list[SearchResult]:
    """Make one list of all: by tier, within a tier the first of each shelf, then the second.

    Scores of two shelves cannot be compared: each counts how rare a word is on it.
    """
    ranked = []
    for number, (shelf, found) in enumerate(zip(catalogs, hits, strict=True)):
        places: dict[int, int] = {}
        for hit in found.best:
            places[hit.tier] = places.get(hit.tier, 0) + 1
            ranked.append((hit.tier, places[hit.tier], number, hit.entry.name, shelf, hit.entry))
    return [
        _make_result(catalogs, shelf, entry, service)
        for _, _, _, _, shelf, entry in sorted(ranked, key=lambda it: it[:4])
    ]


def _make_result(
    catalogs: Sequence[SearchCatalog], catalog: SearchCatalog, entry: CatalogEntry, service: SkillService
) -> SearchResult:
    if catalog.url == INSTALLED:
        source = service.visible[entry.name].entry.get("source", "")
        index = next((other.index for other in catalogs if entry.name in other.installed_names.values()), "")
        return SearchResult(entry=entry, source=source, is_installed=True, index=index)
    source = catalog.url if catalog.index else f"{BUNDLED_KEY}:{entry.name}"
    return SearchResult(
        entry=entry,
        source=source,
        is_installed=entry.name in catalog.installed_names,
        index=catalog.index,
        spec="" if entry.name in catalog.installed_names else _install_spec(catalogs, catalog, entry.name),
    )


def _install_spec(catalogs: Sequence[SearchCatalog], catalog: SearchCatalog, name: str) -> str:
    """Give what to type to get exactly this one: of two indexes with one name the first counts."""
    earlier = catalogs[: catalogs.index(catalog)]
    if not any(other.database.has(name) for other in earlier if other.index):
        return name
    return f"{name} --index {catalog.index}" if catalog.index else f"{BUNDLED_KEY}:{name}"
