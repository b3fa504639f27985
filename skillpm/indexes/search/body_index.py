"""A full-text index of whole skills, body included, for tasks in the words of a user.

Descriptions are short, and users say it differently: the body has more of their words. Words are reduced to their stem
(Porter), any of them counts, and bm25 ranks.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence

from skillpm.core.values import Value
from skillpm.errors import FileError

# Of name, labels, description and body: found with `bench/retrieval.py`.
COLUMN_WEIGHTS = "4.0, 2.0, 2.0, 0.2"
CREATE_SQL = """
CREATE VIRTUAL TABLE texts USING fts5(
    name, labels, description, body, tokenize = 'porter unicode61 remove_diacritics 2'
)
"""


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
            self._database.execute(CREATE_SQL)
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
        sql = f"SELECT name FROM texts WHERE texts MATCH ? ORDER BY bm25(texts, {COLUMN_WEIGHTS}), name"  # noqa: S608
        return [name for (name,) in self._database.execute(sql, (query,)) if not is_hidden(name)]
