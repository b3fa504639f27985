"""Fetch skills from installed packages: the project's virtual environment, and node_modules."""
