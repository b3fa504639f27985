"""Searching in a catalogue: an SQLite database with its full-text index (FTS5), which others make (`database.py`).

A search gives what it finds in tiers: the skill of that name, names that begin with it, names that begin with a part
of a word (of few words first), names that have the words, then tags and categories, then descriptions, last what has
only kindred words. Within a tier SQLite's bm25 decides, and where that says nothing, the name.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from skillpm.core.names import SkillName
from skillpm.core.values import NOTHING, Value
from skillpm.errors import FileError
from skillpm.formats.catalog_stream import Entry
from skillpm.indexes.search.query import Query, expression, nearest, reach, spellings, stems

# How much a word counts in a name, a tag, a category, a description.
WEIGHTS = "10.0, 6.0, 4.0, 1.0"
MOST_ALIKE = 4
EXACT, BEGUN, UNFINISHED, IN_NAME, IN_LABELS, ANYWHERE, KINDRED = range(7)


class Hit(Value):
    """A skill that was found, and in which tier; the lower the better."""

    entry: Entry
    tier: int


class Hits(Value):
    """What was found: the best of it, and how much there is in all."""

    best: tuple[Hit, ...] = ()
    total: int = 0


class Searchable:
    """A catalogue that can be searched. For one thread at a time."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def all_words(
        self, query: Query, most: int, hides: Callable[[str], bool], meant: Mapping[str, tuple[str, ...]] = NOTHING
    ) -> Hits:
        """Find the skills that have all words of a query, or in place of a word one of those that it was `meant` to be.

        Of a skill that `hides` hides nothing is told.
        """
        if not query.words:
            return Hits()
        name = query.name_as(meant)
        strict = expression(_forms(query, meant, spellings))
        wide = expression(_forms(query, meant, self._kindred))
        in_names = self._rows(f"{{name}} : ({strict})")
        in_labels = self._rows(f"{{name tags category}} : ({strict})")
        anywhere = self._rows(strict) if wide != strict else None

        def tier(row: int, found: str) -> int:
            if found == name:
                return EXACT
            if found.startswith(name):
                return BEGUN if found[len(name)] == "-" else UNFINISHED
            if row in in_names:
                return IN_NAME
            if row in in_labels:
                return IN_LABELS
            return ANYWHERE if anywhere is None or row in anywhere else KINDRED

        return self._ranked(wide, most, hides, tier)

    def any_words(
        self, query: Query, most: int, hides: Callable[[str], bool], meant: Mapping[str, tuple[str, ...]] = NOTHING
    ) -> Hits:
        """Find the skills that have some of the words of a query."""
        if not query.words:
            return Hits()
        some = expression(_forms(query, meant, self._kindred), together=False)
        return self._ranked(some, most, hides, lambda _row, _name: KINDRED)

    def alike(self, words: Iterable[str], hides: Callable[[str], bool]) -> dict[str, tuple[str, ...]]:
        """Give for each word that stands nowhere those that may have been meant, if there are any.

        A word that only skills have which `hides` hides is none.
        """
        found = {}
        for word in words:
            slips = reach(word)
            if slips and not self._is_seen(expression([self._kindred(word)]), hides):
                lengths = (len(word) - slips, len(word) + slips)
                terms = dict(self._asked("SELECT term, weight FROM terms WHERE length(term) BETWEEN ? AND ?", *lengths))
                while near := nearest(word, terms.items(), MOST_ALIKE):
                    unseen = [term for term in near if not self._is_seen(f'"{term}"', hides)]
                    if not unseen:
                        found[word] = near
                        break
                    for term in unseen:
                        del terms[term]
        return found

    def near_names(self, name: str, most: int, hides: Callable[[str], bool]) -> tuple[str, ...]:
        """Give the names of skills that a mistyped one may be."""
        names = (row[0] for row in self._asked("SELECT name FROM skills"))
        return nearest(name, ((found, 0) for found in names if not hides(found)), most)

    def count(self) -> int:
        """Tell how many skills there are."""
        return int(self._asked("SELECT count(*) FROM skills")[0][0])

    def seen(self, hides: Callable[[str], bool]) -> int:
        """Tell how many skills there are that `hides` does not hide."""
        return sum(not hides(row[0]) for row in self._asked("SELECT name FROM skills"))

    def entry(self, name: str) -> Entry:
        """Give a skill that is in the catalogue."""
        return self._entry(self._asked("SELECT id FROM skills WHERE name = ?", name)[0][0])

    def has(self, name: str) -> bool:
        """Tell whether a skill is in the catalogue."""
        return bool(self._asked("SELECT 1 FROM skills WHERE name = ?", name))

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def _ranked(self, match: str, most: int, hides: Callable[[str], bool], tier: Callable[[int, str], int]) -> Hits:
        rows = self._asked(
            f"SELECT skills.id, skills.name, bm25(words, {WEIGHTS}) FROM words JOIN skills ON skills.id = words.rowid "  # noqa: S608  (our own constant)
            "WHERE words MATCH ?",
            match,
        )
        found = []
        for row, name, score in rows:
            if not hides(name):
                level = tier(row, name)
                found.append((level, name.count("-") if level == UNFINISHED else 0, score, name, row))
        best = tuple(Hit(entry=self._entry(row), tier=level) for level, *_, row in sorted(found)[:most])
        return Hits(best=best, total=len(found))

    def _kindred(self, word: str) -> tuple[str, ...]:
        """Give the spellings of a word, and the beginning of kindred ones: of `deploying` also `deployment`, where
        `deploy` is a word here.
        """
        found = stems(word)
        if any(self._asked("SELECT 1 FROM terms WHERE term = ?", stem) for stem in found):
            return (*spellings(word), f'"{found[0]}" *')
        return spellings(word)

    def _is_seen(self, match: str, hides: Callable[[str], bool]) -> bool:
        names = self._asked("SELECT name FROM skills WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?)", match)
        return any(not hides(row[0]) for row in names)

    def _rows(self, match: str) -> set[int]:
        return {row[0] for row in self._asked("SELECT rowid FROM words WHERE words MATCH ?", match)}

    def _entry(self, row: int) -> Entry:
        query = "SELECT name, version, category, tags, description FROM skills WHERE id = ?"
        ((name, version, category, tags, description),) = self._asked(query, row)
        return Entry(
            name=SkillName(name),
            version=version,
            category=category,
            tags=tuple(tags.split("\n")) if tags else (),
            description=description,
        )

    def _asked(self, question: str, *values: Any) -> list[Any]:
        try:
            return self._database.execute(question, values).fetchall()
        except sqlite3.Error as error:
            raise FileError(f"a catalogue cannot be searched: {error}", hint="run the command again") from error


def _forms(
    query: Query, meant: Mapping[str, tuple[str, ...]], forms: Callable[[str], tuple[str, ...]]
) -> list[list[str]]:
    return [[form for word in meant.get(typed, (typed,)) for form in forms(word)] for typed in query.words]
