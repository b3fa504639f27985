"""Exclude what git ignores from a local skill: build output, caches, secrets in `.env`."""

import os
from typing import TYPE_CHECKING

from skillpm.core.names import SKILL_FILES
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError
from skillpm.fetchers.common.regular_file import read_regular_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_RULES_SIZE = 1_000_000
MAX_RULE_LENGTH = 1_000
MAX_WILDCARDS = 6  # patterns become regular expressions: each further `*` multiplies the time of a failing match


class GitIgnore:
    """The `.gitignore` files that apply to a folder: those inside it, and those above it in the work tree."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._specs: list[tuple[str, GitIgnoreSpec]] = []
        for parent in enclosing_folders(folder):
            self._load_rules(parent)
        if any(spec.match_file(os.path.relpath(folder, parent) + "/") for parent, spec in self._specs):
            # A skill in an ignored folder (a build directory) would be empty, so those rules do not apply to it.
            self._specs.clear()

    def load_folder(self, prefix: str) -> None:
        """Read the `.gitignore` of a folder inside; to be called before `ignores` is called for its entries."""
        self._load_rules(os.path.join(self.folder, prefix).rstrip("/"))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Return whether git ignores a path below the folder; the innermost file with a matching rule decides."""
        if path in SKILL_FILES:
            return False  # a rule such as `*.md` must not remove the skill itself
        full_path = os.path.join(self.folder, path)
        is_ignored = False
        for base, spec in self._specs:
            if full_path.startswith(base + os.sep):
                match = spec.check_file(os.path.relpath(full_path, base) + ("/" if is_folder else "")).include
                is_ignored = is_ignored if match is None else match
        return is_ignored

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
                f"cannot read the rules in {sanitize(path)}", hint="remove it, or replace it with a valid .gitignore"
            )
        from pathspec import GitIgnoreSpec  # noqa: PLC0415  (20 ms, and few skills have such a file)

        lines = data.decode("utf-8", "replace").splitlines()
        self._specs.append((folder, GitIgnoreSpec.from_lines(line for line in lines if _is_valid_rule(line))))


def _is_valid_rule(line: str) -> bool:
    """Return whether a line is a valid pattern that can be matched in reasonable time; others are ignored."""
    if len(line) > MAX_RULE_LENGTH or line.count("*") > MAX_WILDCARDS:
        return False
    from pathspec import GitIgnoreSpec  # noqa: PLC0415  (as above)

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def enclosing_folders(folder: str) -> list[str]:
    """Return the parent folders in the same git work tree, outermost first; none outside a work tree."""
    parents: list[str] = []
    current = folder
    while not os.path.lexists(os.path.join(current, ".git")):
        parent = os.path.dirname(current)
        if parent == current:
            return []
        parents.insert(0, parent)
        current = parent
    return parents
