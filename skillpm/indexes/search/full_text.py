"""Full-text search in the database of a catalog (built by `database`).

Results are ranked in tiers that can be explained to users: the skill of that name; names that begin with the query and
a hyphen; other names that begin with it, those of fewer words first; names that contain the words; tags and categories;
descriptions; other forms of the words. Within a tier, results are sorted by bm25, then by name. bm25 alone would rank a
long description that repeats a word above the skill of that name.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import FileError
from skillpm.formats.searched_catalog import CatalogEntry
from skillpm.indexes.search.query import (
    Corrections,
    Query,
    build_expression,
    max_edits,
    nearest_words,
    spellings,
    stems,
)

# bm25 weights of name, tags, category and description.
COLUMN_WEIGHTS = "10.0, 6.0, 4.0, 1.0"
MAX_SUGGESTIONS = 4
TIER_EXACT, TIER_PREFIX, TIER_PARTIAL_WORD, TIER_NAME, TIER_LABELS, TIER_TEXT, TIER_STEM = range(7)
# Of name, labels, description and body: found with `bench/retrieval.py`.
BODY_WEIGHTS = "4.0, 2.0, 2.0, 0.2"
BODY_SQL = """
CREATE VIRTUAL TABLE texts USING fts5(
    name, labels, description, body, tokenize = 'porter unicode61 remove_diacritics 2'
)
"""


class Hit(Value):
    """A search result."""

    entry: CatalogEntry
    # One of the `TIER` constants; lower is better.
    tier: int


class Hits(Value):
    """The results of a search."""

    best: tuple[Hit, ...] = ()
    # The number of all results, not only of the best.
    total: int = 0


class SearchDatabase:
    """A searchable catalog. Not thread-safe."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def search_all_words(
        self,
        query: Query,
        max_results: int,
        is_hidden: Callable[[str], bool],
        corrections: Corrections = EMPTY_MAPPING,
    ) -> Hits:
        """Find the skills that contain all words of a query, or for a word any of its `corrections`.

        Skills for which `is_hidden` is true are neither returned nor counted.
        """
        if not query.words:
            return Hits()
        name = query.corrected_name(corrections)
        strict = build_expression(_expand_words(query, corrections, spellings))
        wide = build_expression(_expand_words(query, corrections, self._expand_stem))
        in_names = self._matching_rows(f"{{name}} : ({strict})")
        in_labels = self._matching_rows(f"{{name tags category}} : ({strict})")
        anywhere = self._matching_rows(strict) if wide != strict else None

        def tier(row: int, skill: str) -> int:
            if skill == name:
                return TIER_EXACT
            if skill.startswith(name):
                return TIER_PREFIX if skill[len(name)] == "-" else TIER_PARTIAL_WORD
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
        corrections: Corrections = EMPTY_MAPPING,
    ) -> Hits:
        """Find the skills that contain at least one word of a query."""
        if not query.words:
            return Hits()
        any_word = build_expression(_expand_words(query, corrections, self._expand_stem), match_all=False)
        return self._rank(any_word, max_results, is_hidden, lambda _row, _name: TIER_STEM)

    def suggest_words(self, words: Iterable[str], is_hidden: Callable[[str], bool]) -> dict[str, tuple[str, ...]]:
        """Return corrections of the words that occur in no skill. Words of hidden skills are not suggested."""
        corrections = {}
        for word in words:
            edits = max_edits(word)
            if edits and not self._has_visible_match(build_expression([self._expand_stem(word)]), is_hidden):
                lengths = (len(word) - edits, len(word) + edits)
                terms = dict(self._query("SELECT term, weight FROM terms WHERE length(term) BETWEEN ? AND ?", *lengths))
                # A suggestion from a hidden skill would reveal it; without it, others may be the nearest.
                while nearest := nearest_words(word, terms.items(), MAX_SUGGESTIONS):
                    hidden = [term for term in nearest if not self._has_visible_match(f'"{term}"', is_hidden)]
                    if not hidden:
                        corrections[word] = nearest
                        break
                    for term in hidden:
                        del terms[term]
        return corrections

    def suggest_names(self, name: str, max_results: int, is_hidden: Callable[[str], bool]) -> tuple[str, ...]:
        """Return the skill names that are similar to a mistyped one."""
        names = (row[0] for row in self._query("SELECT name FROM skills"))
        return nearest_words(name, ((other, 0) for other in names if not is_hidden(other)), max_results)

    def count(self) -> int:
        """Return the number of skills."""
        return int(self._query("SELECT count(*) FROM skills")[0][0])

    def count_visible(self, is_hidden: Callable[[str], bool]) -> int:
        """Return the number of skills that are not hidden."""
        return sum(not is_hidden(row[0]) for row in self._query("SELECT name FROM skills"))

    def get_entry(self, name: str) -> CatalogEntry:
        """Return the entry of a skill that is in the catalog."""
        return self._read_entry(self._query("SELECT id FROM skills WHERE name = ?", name)[0][0])

    def has(self, name: str) -> bool:
        """Return whether a skill is in the catalog."""
        return bool(self._query("SELECT 1 FROM skills WHERE name = ?", name))

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _rank(
        self, match: str, max_results: int, is_hidden: Callable[[str], bool], tier_of: Callable[[int, str], int]
    ) -> Hits:
        rows = self._query(
            f"SELECT skills.id, skills.name, bm25(words, {COLUMN_WEIGHTS}) FROM words "  # noqa: S608  (a constant)
            "JOIN skills ON skills.id = words.rowid WHERE words MATCH ?",
            match,
        )
        ranked = []
        for row, name, score in rows:
            if not is_hidden(name):
                tier = tier_of(row, name)
                ranked.append((tier, name.count("-") if tier == TIER_PARTIAL_WORD else 0, score, name, row))
        best = tuple(Hit(entry=self._read_entry(row), tier=tier) for tier, *_, row in sorted(ranked)[:max_results])
        return Hits(best=best, total=len(ranked))

    def _expand_stem(self, word: str) -> tuple[str, ...]:
        """Return the spellings of a word, and a prefix for its other forms: `deploying` also finds `deployment`.

        The stem must be a word of this catalog: otherwise `evening` would find `events`.
        """
        candidates = stems(word)
        if any(self._query("SELECT 1 FROM terms WHERE term = ?", stem) for stem in candidates):
            return (*spellings(word), f'"{candidates[0]}" *')
        return spellings(word)

    def _has_visible_match(self, match: str, is_hidden: Callable[[str], bool]) -> bool:
        names = self._query("SELECT name FROM skills WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?)", match)
        return any(not is_hidden(row[0]) for row in names)

    def _matching_rows(self, match: str) -> set[int]:
        return {row[0] for row in self._query("SELECT rowid FROM words WHERE words MATCH ?", match)}

    def _read_entry(self, row: int) -> CatalogEntry:
        query = "SELECT name, version, category, tags, description, folder FROM skills WHERE id = ?"
        ((name, version, category, tags, description, folder),) = self._query(query, row)
        return CatalogEntry(
            name=SkillName(name),
            version=version,
            category=category,
            tags=tuple(tags.split("\n")) if tags else (),
            description=description,
            folder=folder,
        )

    def _query(self, sql: str, *values: Any) -> list[Any]:
        try:
            return self._database.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise FileError(f"cannot search a catalog: {error}", hint="run the command again") from error


def _expand_words(query: Query, corrections: Corrections, expand: Callable[[str], tuple[str, ...]]) -> list[list[str]]:
    return [[form for word in corrections.get(typed, (typed,)) for form in expand(word)] for typed in query.words]


class SkillText(Value):
    """The text of one skill."""

    name: str
    # Category, tags and triggers.
    labels: str
    description: str
    body: str


class BodyIndex:
    """The index, in memory. Not thread-safe."""

    def __init__(self, texts: Iterable[SkillText]) -> None:
        self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            self._database.execute(BODY_SQL)
            self._database.execute("BEGIN")
            self._database.executemany(
                "INSERT INTO texts VALUES (?, ?, ?, ?)", ((it.name, it.labels, it.description, it.body) for it in texts)
            )
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            hint = "use a Python whose SQLite includes FTS5"
            raise FileError(f"full-text search is not available: {error}", hint=hint) from error

    def search(self, words: Sequence[str], is_hidden: Callable[[str], bool]) -> list[str]:
        """Return the names of the skills that contain any of these words, best first."""
        if not words:
            return []
        query = " OR ".join(f'"{word}"' for word in words)
        sql = f"SELECT name FROM texts WHERE texts MATCH ? ORDER BY bm25(texts, {BODY_WEIGHTS}), name"  # noqa: S608
        return [name for (name,) in self._database.execute(sql, (query,)) if not is_hidden(name)]
