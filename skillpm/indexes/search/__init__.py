"""Full-text search over the catalogues of indexes (SQLite FTS5)."""
