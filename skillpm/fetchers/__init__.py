"""Fetch skills by kind of source: git, local folders, archives, bundled skills."""
