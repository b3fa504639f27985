"""The SQLite database of a catalog, with a full-text index (FTS5). It is built once and never changed."""

import sqlite3
from collections.abc import Iterable

from skillpm.errors import FileError
from skillpm.formats.searched_catalog import CatalogEntry
from skillpm.indexes.search.full_text import SearchDatabase

CREATE_SQL = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE skills (id INTEGER PRIMARY KEY, name TEXT, version TEXT, category TEXT, tags TEXT, description TEXT,
    folder TEXT);
CREATE VIRTUAL TABLE words USING fts5(
    name, tags, category, description,
    content = 'skills', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
BEGIN;
"""
# `terms` are the words that a mistyped word may be corrected to. One that occurs only once or twice, and only in
# descriptions, is left out: it is probably a typing error itself.
INDEX_SQL = """
BEGIN;
CREATE INDEX names ON skills (name);
INSERT INTO words (words) VALUES ('rebuild');
INSERT INTO words (words) VALUES ('optimize');
CREATE VIRTUAL TABLE temp.found USING fts5vocab(main, words, col);
CREATE TABLE terms (term TEXT PRIMARY KEY, weight INTEGER) WITHOUT ROWID;
INSERT INTO terms
    SELECT term, sum(doc * CASE col WHEN 'description' THEN 1 ELSE 10 END) AS weight FROM temp.found
    WHERE length(term) BETWEEN 3 AND 32 GROUP BY term HAVING weight > 2;
DROP TABLE temp.found;
COMMIT;
"""


def build_database(path: str, entries: Iterable[CatalogEntry]) -> SearchDatabase:
    """Build a database of entries in an empty file, or in memory if `path` is `:memory:`. Raises `sqlite3.Error`."""
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        database.executescript(CREATE_SQL)
        database.executemany(
            "INSERT INTO skills (name, version, category, tags, description, folder) VALUES (?, ?, ?, ?, ?, ?)",
            ((it.name, it.version, it.category, "\n".join(it.tags), it.description, it.folder) for it in entries),
        )
        database.executescript(INDEX_SQL)
    except BaseException:
        database.close()
        raise
    return SearchDatabase(database)


def build_in_memory(entries: Iterable[CatalogEntry]) -> SearchDatabase:
    """Build a database of entries in memory. Raises `FileError` if SQLite lacks FTS5."""
    try:
        return build_database(":memory:", entries)
    except sqlite3.Error as error:
        raise FileError(
            f"full-text search is not available: {error}", hint="use a Python whose SQLite includes FTS5"
        ) from error


def open_database(path: str) -> SearchDatabase:
    """Open a file that `build_database` wrote. Raises `sqlite3.Error`."""
    escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23").replace("\\", "/")
    slash = "" if escaped.startswith("/") else "/"
    # `immutable`: SQLite creates no lock or journal files, and works in a read-only cache and on network file systems.
    database = sqlite3.connect(
        f"file:{slash}{escaped}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        # The query fails at once if the file is not a database of ours.
        database.executescript("PRAGMA trusted_schema = OFF; SELECT name FROM skills LIMIT 1")
    except sqlite3.Error:
        database.close()
        raise
    return SearchDatabase(database)
