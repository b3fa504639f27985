"""Where a change goes: the skills directory, the documents that belong to it, the agents' folders."""

import os
from collections.abc import Mapping

from skillpm.errors import ConflictError
from skillpm.files import is_below
from skillpm.installing.layout import Layout
from skillpm.values import Value


class LinkFolders(Value):
    """How the folders of a receipt become paths: relative ones below `root`, `~` is `home`.

    `fence`: what a folder must stay below, links resolved; empty for the user's own scope.
    """

    root: str
    home: str
    fence: str = ""
    mode: str = ""

    def path(self, folder: str) -> str:
        """Give the path of an agent folder. Raises `ConflictError` when it leads out of the project."""
        path = os.path.join(self.root, self.home + folder[1:] if folder.startswith("~/") else folder)
        if self.fence and not is_below(os.path.realpath(path), os.path.realpath(self.fence)):
            raise ConflictError(
                f"{folder} leads out of the project", where=path, hint="it is a link to elsewhere; remove it first"
            )
        return path


class Target(Value):
    """A skills directory and the documents that belong to it: where each role of a document lies."""

    layout: Layout
    documents: Mapping[str, str]
    links: LinkFolders
    fsync: bool
