"""Fetch the content of locked skills from mirrors."""
