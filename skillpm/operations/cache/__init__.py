"""`cache info`, `cache prune`, `cache clean`."""
