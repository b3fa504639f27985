"""What git ignores in a local folder is no part of the skill: build products, caches, secrets in `.env`."""

import os

from pathspec import GitIgnoreSpec

from skillpm.core.names import SKILL_FILES
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError
from skillpm.fetchers.regular_file import read_regular_file

MAX_RULES_SIZE = 1_000_000
MAX_RULE_LENGTH = 1_000
MAX_WILDCARDS = 6  # each more makes a hopeless match many times slower


class GitIgnore:
    """The `.gitignore` files that hold for a folder: those above it up to the git root, and those within."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._specs: list[tuple[str, GitIgnoreSpec]] = []
        outer = _enclosing_folders(folder)
        for above in outer:
            self._load_rules(above)
        if any(spec.match_file(os.path.relpath(folder, above) + "/") for above, spec in self._specs):
            # Somebody names a folder that git ignores: then they mean what is in it.
            self._specs.clear()

    def load_folder(self, prefix: str) -> None:
        """Take in the `.gitignore` of a folder within, before its entries are asked for."""
        self._load_rules(os.path.join(self.folder, prefix).rstrip("/"))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether git ignores a path below the folder; the innermost file that speaks of it decides."""
        if path in SKILL_FILES:
            return False  # without it there is no skill, whatever somebody's rules say of Markdown
        whole = os.path.join(self.folder, path)
        verdict = False
        for base, spec in self._specs:
            if whole.startswith(base + os.sep):
                found = spec.check_file(os.path.relpath(whole, base) + ("/" if is_folder else "")).include
                verdict = verdict if found is None else found
        return verdict

    def _load_rules(self, folder: str) -> None:
        path = os.path.join(folder, ".gitignore")
        try:
            data = read_regular_file(path, MAX_RULES_SIZE)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError:
            data = None
        if data is None and os.path.isdir(path):
            return
        if data is None or len(data) > MAX_RULES_SIZE:
            raise RefusedError(
                f"{sanitize(path)} is no file of rules that can be read", hint="remove it, or make it one"
            )
        lines = data.decode("utf-8", "replace").splitlines()
        self._specs.append((folder, GitIgnoreSpec.from_lines(line for line in lines if _is_valid_rule(line))))


def _is_valid_rule(line: str) -> bool:
    """Tell whether a line is a pattern that can be matched in reasonable time; any other one is no rule."""
    if len(line) > MAX_RULE_LENGTH or line.count("*") > MAX_WILDCARDS:
        return False
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _enclosing_folders(folder: str) -> list[str]:
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
