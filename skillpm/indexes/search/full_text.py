"""Searching in a catalogue: an SQLite database with its full-text index (FTS5), which others make (`database.py`).

A search gives what it finds in tiers: the skill of that name, names that begin with it, names that begin with a part
of a word (of few words first), names that have the words, then tags and categories, then descriptions, last what has
only kindred words. Within a tier SQLite's bm25 decides, and where that says nothing, the name.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import FileError
from skillpm.formats.catalog_stream import CatalogEntry
from skillpm.indexes.search.query import Query, build_expression, max_edits, nearest_words, spellings, stems

# How much a word counts in a name, a tag, a category, a description.
COLUMN_WEIGHTS = "10.0, 6.0, 4.0, 1.0"
MAX_SUGGESTIONS = 4
TIER_EXACT, TIER_PREFIX, TIER_PARTIAL_WORD, TIER_NAME, TIER_LABELS, TIER_TEXT, TIER_STEM = range(7)


class Hit(Value):
    """A skill that was found, and in which tier; the lower the better."""

    entry: CatalogEntry
    tier: int


class Hits(Value):
    """What was found: the best of it, and how much there is in all."""

    best: tuple[Hit, ...] = ()
    total: int = 0


class SearchDatabase:
    """A catalogue that can be searched. For one thread at a time."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def search_all_words(
        self,
        query: Query,
        max_results: int,
        is_hidden: Callable[[str], bool],
        corrections: Mapping[str, tuple[str, ...]] = EMPTY_MAPPING,
    ) -> Hits:
        """Find the skills that have all words of a query, or in place of a word one of those that it was `meant` to be.

        Of a skill that `hides` hides nothing is told.
        """
        if not query.words:
            return Hits()
        name = query.corrected_name(corrections)
        strict = build_expression(_expand_words(query, corrections, spellings))
        wide = build_expression(_expand_words(query, corrections, self._expand_stem))
        in_names = self._matching_rows(f"{{name}} : ({strict})")
        in_labels = self._matching_rows(f"{{name tags category}} : ({strict})")
        anywhere = self._matching_rows(strict) if wide != strict else None

        def tier(row: int, found: str) -> int:
            if found == name:
                return TIER_EXACT
            if found.startswith(name):
                return TIER_PREFIX if found[len(name)] == "-" else TIER_PARTIAL_WORD
            if row in in_names:
                return TIER_NAME
            if row in in_labels:
                return TIER_LABELS
            return TIER_TEXT if anywhere is None or row in anywhere else TIER_STEM

        return self._rank(wide, max_results, is_hidden, tier)

    def search_any_word(
        self,
        query: Query,
        max_results: int,
        is_hidden: Callable[[str], bool],
        corrections: Mapping[str, tuple[str, ...]] = EMPTY_MAPPING,
    ) -> Hits:
        """Find the skills that have some of the words of a query."""
        if not query.words:
            return Hits()
        some = build_expression(_expand_words(query, corrections, self._expand_stem), match_all=False)
        return self._rank(some, max_results, is_hidden, lambda _row, _name: TIER_STEM)

    def suggest_words(self, words: Iterable[str], is_hidden: Callable[[str], bool]) -> dict[str, tuple[str, ...]]:
        """Give for each word that stands nowhere those that may have been meant, if there are any.

        A word that only skills have which `hides` hides is none.
        """
        found = {}
        for word in words:
            slips = max_edits(word)
            if slips and not self._has_visible_match(build_expression([self._expand_stem(word)]), is_hidden):
                lengths = (len(word) - slips, len(word) + slips)
                terms = dict(self._query("SELECT term, weight FROM terms WHERE length(term) BETWEEN ? AND ?", *lengths))
                while near := nearest_words(word, terms.items(), MAX_SUGGESTIONS):
                    unseen = [term for term in near if not self._has_visible_match(f'"{term}"', is_hidden)]
                    if not unseen:
                        found[word] = near
                        break
                    for term in unseen:
                        del terms[term]
        return found

    def suggest_names(self, name: str, max_results: int, is_hidden: Callable[[str], bool]) -> tuple[str, ...]:
        """Give the names of skills that a mistyped one may be."""
        names = (row[0] for row in self._query("SELECT name FROM skills"))
        return nearest_words(name, ((found, 0) for found in names if not is_hidden(found)), max_results)

    def count(self) -> int:
        """Tell how many skills there are."""
        return int(self._query("SELECT count(*) FROM skills")[0][0])

    def count_visible(self, is_hidden: Callable[[str], bool]) -> int:
        """Tell how many skills there are that `hides` does not hide."""
        return sum(not is_hidden(row[0]) for row in self._query("SELECT name FROM skills"))

    def get_entry(self, name: str) -> CatalogEntry:
        """Give a skill that is in the catalogue."""
        return self._read_entry(self._query("SELECT id FROM skills WHERE name = ?", name)[0][0])

    def has(self, name: str) -> bool:
        """Tell whether a skill is in the catalogue."""
        return bool(self._query("SELECT 1 FROM skills WHERE name = ?", name))

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def _rank(
        self, match: str, max_results: int, is_hidden: Callable[[str], bool], tier_of: Callable[[int, str], int]
    ) -> Hits:
        rows = self._query(
            f"SELECT skills.id, skills.name, bm25(words, {COLUMN_WEIGHTS}) FROM words JOIN skills ON skills.id = words.rowid "  # noqa: S608  (our own constant)
            "WHERE words MATCH ?",
            match,
        )
        found = []
        for row, name, score in rows:
            if not is_hidden(name):
                level = tier_of(row, name)
                found.append((level, name.count("-") if level == TIER_PARTIAL_WORD else 0, score, name, row))
        best = tuple(Hit(entry=self._read_entry(row), tier=level) for level, *_, row in sorted(found)[:max_results])
        return Hits(best=best, total=len(found))

    def _expand_stem(self, word: str) -> tuple[str, ...]:
        """Give the spellings of a word, and the beginning of kindred ones: of `deploying` also `deployment`, where
        `deploy` is a word here.
        """
        found = stems(word)
        if any(self._query("SELECT 1 FROM terms WHERE term = ?", stem) for stem in found):
            return (*spellings(word), f'"{found[0]}" *')
        return spellings(word)

    def _has_visible_match(self, match: str, is_hidden: Callable[[str], bool]) -> bool:
        names = self._query("SELECT name FROM skills WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?)", match)
        return any(not is_hidden(row[0]) for row in names)

    def _matching_rows(self, match: str) -> set[int]:
        return {row[0] for row in self._query("SELECT rowid FROM words WHERE words MATCH ?", match)}

    def _read_entry(self, row: int) -> CatalogEntry:
        query = "SELECT name, version, category, tags, description FROM skills WHERE id = ?"
        ((name, version, category, tags, description),) = self._query(query, row)
        return CatalogEntry(
            name=SkillName(name),
            version=version,
            category=category,
            tags=tuple(tags.split("\n")) if tags else (),
            description=description,
        )

    def _query(self, sql: str, *values: Any) -> list[Any]:
        try:
            return self._database.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise FileError(f"a catalogue cannot be searched: {error}", hint="run the command again") from error


def _expand_words(
    query: Query, corrections: Mapping[str, tuple[str, ...]], expand: Callable[[str], tuple[str, ...]]
) -> list[list[str]]:
    return [[form for word in corrections.get(typed, (typed,)) for form in expand(word)] for typed in query.words]
