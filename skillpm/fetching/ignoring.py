"""What git ignores in a local folder is no part of the skill: build products, caches, secrets in `.env`."""

import os

from skillpm.documents.text import show
from skillpm.errors import RefusedError
from skillpm.fetching.reading import read_regular
from skillpm.fetching.rules import Rule, read_rules, verdict

LARGEST_RULES = 1_000_000


class Ignored:
    """The `.gitignore` files that hold for a folder: those above it up to the git root, and those within."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._rules: list[tuple[str, tuple[Rule, ...]]] = []
        outer = _outer_folders(folder)
        for above in outer:
            self._read(above)
        if any(self._is_ignored(on_the_way, is_folder=True) for on_the_way in (*outer, folder)):
            # Somebody names a folder that git ignores: then they mean what is in it.
            self._rules.clear()

    def enter(self, prefix: str) -> None:
        """Take in the `.gitignore` of a folder within, before its entries are asked for."""
        self._read(os.path.join(self.folder, prefix).rstrip("/"))

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether git ignores a path below the folder; its SKILL.md makes it a skill, and is never left out."""
        return path != "SKILL.md" and self._is_ignored(os.path.join(self.folder, path), is_folder=is_folder)

    def _is_ignored(self, whole: str, *, is_folder: bool) -> bool:
        """Ask the innermost file first: it decides if it speaks of the path at all."""
        for base, rules in reversed(self._rules):
            if whole.startswith(base + os.sep):
                names = whole[len(base) + 1 :].split(os.sep)
                found = verdict(rules, names, is_folder=is_folder)
                if found is not None:
                    return found
        return False

    def _read(self, folder: str) -> None:
        path = os.path.join(folder, ".gitignore")
        try:
            data = read_regular(path, LARGEST_RULES)
        except OSError:
            return
        if data is not None and len(data) > LARGEST_RULES:
            raise RefusedError(f"{show(path)} is over {LARGEST_RULES} bytes, so what git ignores is not known")
        if data:
            self._rules.append((folder, read_rules(data.decode("utf-8", "surrogateescape"))))


def _outer_folders(folder: str) -> list[str]:
    """Give the folders above that belong to the same git work tree, outermost first; none outside of git."""
    above: list[str] = []
    at = folder
    while not os.path.lexists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return []
        above.insert(0, parent)
        at = parent
    return above
