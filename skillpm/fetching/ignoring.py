"""What git ignores in a local folder is no part of the skill: build products, caches, secrets in `.env`."""

import os

from pathspec import GitIgnoreSpec

from skillpm.fetching.reading import read_regular

LARGEST_RULES = 1_000_000


class Ignored:
    """The `.gitignore` files that hold for a folder: those above it up to the git root, and those within."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._specs: list[tuple[str, GitIgnoreSpec]] = []
        outer = _outer_folders(folder)
        for above in outer:
            self._read(above)
        if any(spec.match_file(os.path.relpath(folder, above) + "/") for above, spec in self._specs):
            # Somebody names a folder that git ignores: then they mean what is in it.
            self._specs.clear()

    def enter(self, prefix: str) -> None:
        """Take in the `.gitignore` of a folder within, before its entries are asked for."""
        self._read(os.path.join(self.folder, prefix).rstrip("/"))

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether git ignores a path below the folder; the innermost file that speaks of it decides."""
        whole = os.path.join(self.folder, path)
        verdict = False
        for base, spec in self._specs:
            if whole.startswith(base + os.sep):
                found = spec.check_file(os.path.relpath(whole, base) + ("/" if is_folder else "")).include
                verdict = verdict if found is None else found
        return verdict

    def _read(self, folder: str) -> None:
        try:
            data = read_regular(os.path.join(folder, ".gitignore"), LARGEST_RULES)
        except OSError:
            return
        if data is not None:
            self._specs.append((folder, GitIgnoreSpec.from_lines(data.decode("utf-8", "replace").splitlines())))


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
