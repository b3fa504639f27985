"""Full-text search over the catalogs of indexes (SQLite FTS5)."""
