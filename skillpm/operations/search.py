"""`search`: one ranked list of installed skills, skills of every index, and bundled skills.

A search looks for all words first; if no skill has them, for similarly spelled words; then for any of the words.
Without an index, and if nothing has all words, public skills are suggested.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from heapq import nsmallest

from skillpm.core.shell import shell_word
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.searched_catalog import CatalogEntry
from skillpm.indexes.client.catalogs import BUNDLED_KEY, SearchedIndex
from skillpm.indexes.search.full_text import Hits
from skillpm.indexes.search.query import MATCH_KINDS, Corrections, MatchKind, Query, nearest_words, parse_query
from skillpm.indexes.search.strategies import UNLIMITED, find_matches
from skillpm.operations.search_catalogs import INSTALLED, SearchCatalog, open_catalogs, open_refreshed
from skillpm.operations.suggestions import Suggestion, suggest
from skillpm.registry.card import Card
from skillpm.scope.project import Project
from skillpm.serving.service import SkillService

MAX_SUGGESTIONS = 3


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
    suggested: tuple[Suggestion, ...]  # public skills, if no index is configured or nothing has all words
    next_spec: str  # what to install next: the best result, or a suggestion that matches better; empty if none is new
    searched_indexes: tuple[SearchedIndex, ...]
    counts: Mapping[str, int]  # skills searched in each catalog, if nothing matches


class SearchOptions(Value):
    """How many results are returned, and where to search if not everywhere."""

    limit: int
    index: str = ""  # this one only
    only_installed: bool = False
    refreshed: tuple[str, ...] = ()  # only these indexes and repositories, which are fetched


def search(project: Project, service: SkillService, text: str, options: SearchOptions) -> SearchResults:
    """Find skills by words. An index that cannot be read does not fail the search; see `searched_indexes`.

    Raises `NotFoundError` for an index that is not configured.
    """
    limit, index, only_installed = options.limit, options.index, options.only_installed
    if options.refreshed:
        catalogs, searched_indexes = open_refreshed(project, service, options.refreshed)
    else:
        catalogs, searched_indexes = open_catalogs(project, service, index=index, only_installed=only_installed)
    run = _CatalogSearch(parse_query(text), limit, service)
    match_kind, hits = run.find_first_match(catalogs)
    total = sum(each.total for each in hits)
    hides, installed = service.rules.hides, service.registry.snapshot.cards
    is_complete = not any(it.error for it in searched_indexes)  # else what was not searched may have it
    is_answered = bool(total) and match_kind != "some"
    is_suggesting = is_complete and not (
        index or only_installed or options.refreshed or (searched_indexes and is_answered)
    )
    suggested = suggest(project, text, limit, lambda it: hides(it) or it in installed) if is_suggesting else ()
    results = tuple(_merge_hits(catalogs, hits, service, limit)) if total else ()
    return SearchResults(
        results=results,
        total=total,
        match_kind=match_kind,
        corrections=run.corrections if total else EMPTY_MAPPING,
        suggestions=() if total else tuple(run.suggest_names(catalogs)),
        suggested=suggested,
        next_spec=_choose_next(results, installed, () if is_answered else suggested),
        searched_indexes=searched_indexes,
        counts={} if total else {it.index or it.url: it.searched.database.count_visible(hides) for it in catalogs},
    )


def _choose_next(results: Sequence[SearchResult], installed: Container[str], suggested: Sequence[Suggestion]) -> str:
    """Return the SPEC of the best result that is not installed, or of a suggestion: one that has all words, or if the
    result is not from an index of the user.
    """
    best = next((it for it in results if it.spec and it.entry.name not in installed), None)
    if suggested and (best is None or not best.index or suggested[0].match_kind != "some"):
        return shell_word(suggested[0].skill.spec)
    return best.spec if best else ""


class _CatalogSearch:
    """One query over all catalogs."""

    def __init__(self, query: Query, limit: int, service: SkillService) -> None:
        self.query = query
        self.limit = limit
        self.service = service
        self.corrections: dict[str, tuple[str, ...]] = {}

    def find_first_match(self, catalogs: Sequence[SearchCatalog]) -> tuple[MatchKind, list[Hits]]:
        """Return the first kind of match that has hits, and the hits in each catalog."""
        attempts = ((kind, self.search_catalogs(catalogs, kind)) for kind in MATCH_KINDS)
        return next((attempt for attempt in attempts if any(hits.total for hits in attempt[1])), ("all", []))

    def search_catalogs(self, catalogs: Sequence[SearchCatalog], kind: MatchKind) -> list[Hits]:
        """Search every catalog, without duplicates.

        A skill found among the installed ones is hidden in the index it came from; a bundled skill is hidden if a skill
        of its name is installed.
        """
        denied, hits, installed = self.service.rules.hides, [], set[str]()
        for catalog in catalogs:
            duplicates = frozenset(name for name, local in catalog.installed_names.items() if local in installed)
            if catalog.url == BUNDLED_KEY:
                duplicates = frozenset(self.service.registry.snapshot.cards)
            limit = UNLIMITED if catalog.url == INSTALLED else self.limit
            is_hidden = partial(_is_hidden, duplicates, denied)
            matches = find_matches(catalog.searched, self.query, kind, limit, is_hidden)
            hits.append(matches.hits)
            self.corrections = {**matches.corrections, **self.corrections}
            if catalog.url == INSTALLED:
                installed = {hit.entry.name for hit in hits[-1].best}
        return hits

    def suggest_names(self, catalogs: Sequence[SearchCatalog]) -> Iterator[str]:
        """Yield names similar to the query."""
        denied = self.service.rules.hides
        names = {
            name
            for it in catalogs
            for name in it.searched.database.suggest_names(self.query.name, MAX_SUGGESTIONS, denied)
        }
        yield from nearest_words(self.query.name, ((name, 0) for name in sorted(names)), MAX_SUGGESTIONS)


def _is_hidden(duplicates: frozenset[str], is_denied: Callable[[str], bool], name: str) -> bool:
    return name in duplicates or is_denied(name)


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
    if name in catalog.specs:
        return catalog.specs[name]
    earlier = catalogs[: catalogs.index(catalog)]
    if not any(other.searched.database.has(name) for other in earlier if other.index):
        return name
    return f"{name} --index {shell_word(catalog.index)}" if catalog.index else f"{BUNDLED_KEY}:{name}"
