"""Paths of local folders and archives in a manifest: where they lead, and that no link of a checkout leads them out."""

import os

from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import RefusedError
from skillpm.files import find_link_out


class LocalPaths(Value):
    """How relative paths are resolved."""

    # The folder of the manifest, where they start.
    base: str
    home: str
    # No link inside it may lead out of it: a checkout brought that link. Empty for the user's own scope.
    boundary: str = ""

    def expand(self, path: str) -> str:
        """Return the absolute path, with its links."""
        return os.path.join(self.base, self.home + path[1:] if path == "~" or path.startswith("~/") else path)

    def check(self, path: str, name: str = "") -> str:
        """Return the real path. Raises `RefusedError` if a link inside the boundary leads out of it.

        The manifest of a checkout may name a folder of the user: people see that when they review it. But a path that
        looks like a folder of the checkout, and leads to one of the user, would copy private files to where `git add`
        takes them.
        """
        whole = self.expand(path)
        target = os.path.realpath(whole)
        if self.boundary and (link := find_link_out(whole, self.boundary)):
            raise RefusedError(
                f"{f'skill {sanitize(name)}: ' if name else ''}{sanitize(path)} leads out of the project",
                where=f"{sanitize(link)} -> {sanitize(os.readlink(link))}",
                hint=f"a checkout could show your own files to others; if you want what is there, name it: "
                f"{shell_word(target)}",
                skills=[name] if name else [],
            )
        return target
