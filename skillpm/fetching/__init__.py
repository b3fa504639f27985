"""Hands that bring bytes: from git, from local folders, from what ships with the tool."""
