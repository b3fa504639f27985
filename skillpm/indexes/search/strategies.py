"""The ways to search a catalog, in the order in which they are tried: all words, words like them, some of the words.

Shell, Python and MCP all search with these.
"""

from collections.abc import Callable, Mapping

from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.indexes.search.full_text import TIER_STEM, BodyIndex, Hit, Hits, SearchDatabase
from skillpm.indexes.search.query import Corrections, MatchKind, Query

UNLIMITED = 1_000_000
MIN_CORRECTED_LENGTH = 5


class SearchableCatalog(Value):
    """What is searched."""

    database: SearchDatabase
    # Name -> text of each skill, if words should also be found within other words.
    texts: Mapping[str, str] = EMPTY_MAPPING
    # Returns an index of whole skills, if there is one, for a search by some of the words.
    open_bodies: Callable[[], BodyIndex] | None = None
    # Word -> other words that count like it.
    synonyms: Corrections = EMPTY_MAPPING


class Matches(Value):
    """What was found, and typed word -> the words that matched instead."""

    hits: Hits
    corrections: Corrections = EMPTY_MAPPING


def find_matches(
    catalog: SearchableCatalog, query: Query, kind: MatchKind, limit: int, is_hidden: Callable[[str], bool]
) -> Matches:
    """Return the skills that match a query in one way, best first."""
    database, words = catalog.database, catalog.synonyms
    synonyms = {word: (word, *words[word]) for word in query.words if word in words}
    if kind == "all":
        return Matches(hits=_match_all_words(catalog, query, limit, is_hidden, synonyms))
    similar = {**database.suggest_words(query.words, is_hidden), **synonyms}
    if kind == "some":
        return Matches(hits=_match_any_word(catalog, query, limit, is_hidden, similar))
    hits = database.search_all_words(query, limit, is_hidden, similar) if similar else Hits()
    if not hits.total:
        return Matches(hits=hits)

    def has_hits(typed: str, word: str) -> bool:
        return bool(database.search_all_words(query, 1, is_hidden, {**similar, typed: (word,)}).total)

    corrected = {typed: words for typed, words in similar.items() if typed not in synonyms}
    used = {typed: tuple(word for word in words if has_hits(typed, word)) for typed, words in corrected.items()}
    return Matches(hits=hits, corrections=used)


def _match_any_word(
    catalog: SearchableCatalog, query: Query, limit: int, is_hidden: Callable[[str], bool], similar: Corrections
) -> Hits:
    if catalog.open_bodies is None:
        return catalog.database.search_any_word(query, limit, is_hidden, similar)
    # A word that is nowhere may also be right, so only a near one is taken for it.
    corrected = [
        word
        for typed, words in similar.items()
        for word in words
        if len(typed) >= MIN_CORRECTED_LENGTH and word[0] == typed[0]
    ]
    names = catalog.open_bodies().search([*query.words, *corrected], is_hidden)
    best = tuple(Hit(entry=catalog.database.get_entry(name), tier=TIER_STEM) for name in names[:limit])
    return Hits(best=best, total=len(names))


def _match_all_words(
    catalog: SearchableCatalog, query: Query, limit: int, is_hidden: Callable[[str], bool], synonyms: Corrections
) -> Hits:
    if not catalog.texts:
        return catalog.database.search_all_words(query, limit, is_hidden, synonyms)
    hits = catalog.database.search_all_words(query, UNLIMITED, is_hidden)
    known = {hit.entry.name for hit in hits.best}
    within = sorted(
        name
        for name, text in catalog.texts.items()
        if name not in known and query.words and all(word in text for word in query.words) and not is_hidden(name)
    )
    more = tuple(Hit(entry=catalog.database.get_entry(name), tier=TIER_STEM) for name in within)
    return Hits(best=(*hits.best, *more)[:limit], total=hits.total + len(more))
