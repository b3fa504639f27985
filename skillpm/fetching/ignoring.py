"""What git ignores in a local folder is no part of the skill: build products, caches, secrets in `.env`."""

import os

from pathspec import GitIgnoreSpec

from skillpm.errors import RefusedError
from skillpm.files import read_regular

LARGEST_RULES = 1_000_000


class Ignored:
    """The `.gitignore` files that hold for a folder: those above it up to the git root, and those within."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._specs: list[tuple[str, GitIgnoreSpec]] = []
