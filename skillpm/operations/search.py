"""`search`: one ranked list of installed skills, skills of every index, and bundled skills.

A search looks for all words first; if no skill has them, for similarly spelled words; then for any of the words.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from typing import Literal

from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.searched_catalog import CatalogEntry
from skillpm.indexes.search.catalogs import BUNDLED_KEY, SearchedIndex
from skillpm.indexes.search.full_text import TIER_STEM, Hit, Hits
from skillpm.indexes.search.query import Query, nearest_words, parse_query
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.search_catalogs import INSTALLED, SearchCatalog, open_catalogs
from skillpm.registry.card import Card
from skillpm.serving.service import SkillService
from skillpm.serving.skill_search import search_cards, search_text

MAX_SUGGESTIONS = 3
UNLIMITED = 1_000_000
MatchKind = Literal["all", "alike", "some"]
Corrections = Mapping[str, tuple[str, ...]]


class SearchResult(Value):
    """A skill that matches."""

    entry: CatalogEntry
    source: str
    is_installed: bool
    index: str = ""  # name of the index that has it; empty for local and bundled skills
    spec: str = ""  # the argument for `install`; empty for an installed skill


class SearchResults(Value):
    """The outcome of a search."""

    results: tuple[SearchResult, ...]  # the best `limit` of them
    total: int
    match_kind: MatchKind  # whether they have all words, similar words, or some of them
    corrections: Corrections  # typed word -> words that matched instead
    suggestions: tuple[str, ...]  # similar names, if nothing matches
    searched_indexes: tuple[SearchedIndex, ...]
    counts: Mapping[str, int]  # skills searched in each catalog, if nothing matches


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
    """Find skills by words. An index that cannot be read does not fail the search; see `searched_indexes`.

    With `index`, only that one is searched. Raises `NotFoundError` if it is not configured.
    """
    catalogs, searched_indexes = open_catalogs(scope, context, service, index=index, only_installed=only_installed)
    run = _Search(parse_query(text), limit, service)
    match_kind, hits = run.find_first_match(catalogs)
    total = sum(each.total for each in hits)
    hides = service.rules.hides
    return SearchResults(
        results=tuple(_merge_hits(catalogs, hits, service, limit)) if total else (),
        total=total,
        match_kind=match_kind,
        corrections=run.corrections if total else EMPTY_MAPPING,
        suggestions=() if total else tuple(run.suggest_names(catalogs)),
        searched_indexes=searched_indexes,
        counts={} if total else {it.index or it.url: it.database.count_visible(hides) for it in catalogs},
    )


class _Search:
    """One query over all catalogs."""

    def __init__(self, query: Query, limit: int, service: SkillService) -> None:
        self.query = query
        self.limit = limit
        self.service = service
        self.corrections: dict[str, tuple[str, ...]] = {}

    def find_first_match(self, catalogs: Sequence[SearchCatalog]) -> tuple[MatchKind, list[Hits]]:
        """Return the first kind of match that has hits, and the hits in each catalog."""
        strategies: list[tuple[MatchKind, _SearchFunction]] = [
            ("all", self.match_all_words),
            ("alike", self.match_similar_words),
            ("some", self.match_any_word),
        ]
        attempts = ((kind, self.search_catalogs(catalogs, search_one)) for kind, search_one in strategies)
        return next((attempt for attempt in attempts if any(hits.total for hits in attempt[1])), ("all", []))

    def search_catalogs(self, catalogs: Sequence[SearchCatalog], search_one: "_SearchFunction") -> list[Hits]:
        """Search every catalog, without duplicates.

        A skill found among the installed ones is hidden in the index it came from; a bundled skill is hidden if a skill
        of its name is installed.
        """
        denied, hits, installed = self.service.rules.hides, [], set[str]()
        for catalog in catalogs:
            duplicates = frozenset(name for name, local in catalog.installed_names.items() if local in installed)
            if catalog.url == BUNDLED_KEY:
                duplicates = frozenset(self.service.registry.snapshot.cards)
            hits.append(search_one(catalog, partial(_is_hidden, duplicates, denied)))
            if catalog.url == INSTALLED:
                installed = {hit.entry.name for hit in hits[-1].best}
        return hits

    def match_all_words(self, catalog: SearchCatalog, is_hidden: Callable[[str], bool]) -> Hits:
        """Find skills with all words; in installed skills, words also match as part of other words."""
        if catalog.url != INSTALLED:
            return catalog.database.search_all_words(self.query, self.limit, is_hidden)
        hits = catalog.database.search_all_words(self.query, UNLIMITED, is_hidden)
        known = {hit.entry.name for hit in hits.best}
        texts = [(search_text(card), card) for card in self.service.visible.values()]
        more = [card.name for card in search_cards(" ".join(self.query.words), texts)]
        rest = tuple(Hit(entry=catalog.database.get_entry(name), tier=TIER_STEM) for name in more if name not in known)
        return Hits(best=(*hits.best, *rest), total=hits.total + len(rest))

    def match_similar_words(self, catalog: SearchCatalog, is_hidden: Callable[[str], bool]) -> Hits:
        """Find skills with all words, each possibly misspelled."""
        similar = catalog.database.suggest_words(self.query.words, self.service.rules.hides)
        hits = (
            catalog.database.search_all_words(self.query, self._limit_for(catalog), is_hidden, similar)
            if similar
            else Hits()
        )
        if hits.total:

            def has_hits(typed: str, word: str) -> bool:
                correction = {**similar, typed: (word,)}
                return bool(catalog.database.search_all_words(self.query, 1, is_hidden, correction).total)

            used = {typed: tuple(word for word in words if has_hits(typed, word)) for typed, words in similar.items()}
            self.corrections = {**used, **self.corrections}
        return hits

    def match_any_word(self, catalog: SearchCatalog, is_hidden: Callable[[str], bool]) -> Hits:
        """Find skills with any of the words."""
        similar = catalog.database.suggest_words(self.query.words, self.service.rules.hides)
        return catalog.database.search_any_word(self.query, self._limit_for(catalog), is_hidden, similar)

    def suggest_names(self, catalogs: Sequence[SearchCatalog]) -> Iterator[str]:
        """Yield names similar to the query."""
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


def _merge_hits(
    catalogs: Sequence[SearchCatalog], hits: Sequence[Hits], service: SkillService, limit: int
) -> list[SearchResult]:
    """Merge the hits of all catalogs, and return the first: by tier, and within a tier by rank in their own catalog.

    Scores of two catalogs are not comparable: each weighs a word by how rare it is in that catalog.
    """
    ranked = []
    for number, (catalog, catalog_hits) in enumerate(zip(catalogs, hits, strict=True)):
        ranks: dict[int, int] = {}
        for hit in catalog_hits.best:
            ranks[hit.tier] = ranks.get(hit.tier, 0) + 1
            ranked.append((hit.tier, ranks[hit.tier], number, hit.entry.name, catalog, hit.entry))
    visible = service.visible
    return [
        _make_result(catalogs, catalog, entry, visible)
        for _, _, _, _, catalog, entry in nsmallest(limit, ranked, key=lambda it: it[:4])
    ]


def _make_result(
    catalogs: Sequence[SearchCatalog], catalog: SearchCatalog, entry: CatalogEntry, visible: Mapping[str, Card]
) -> SearchResult:
    if catalog.url == INSTALLED:
        source = visible[entry.name].entry.get("source", "")
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
    """Return the SPEC that installs this very skill: of two indexes with the name, `install` takes the first."""
    earlier = catalogs[: catalogs.index(catalog)]
    if not any(other.database.has(name) for other in earlier if other.index):
        return name
    return f"{name} --index {catalog.index}" if catalog.index else f"{BUNDLED_KEY}:{name}"
