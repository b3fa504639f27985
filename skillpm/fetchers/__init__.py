"""Bytes by kind of source: git, folders, archives, what ships with the tool."""
