"""Where a change goes: the skills directory, the documents that belong to it, the agents' folders."""

import os
from collections.abc import Callable, Iterable, Mapping

from skillpm.core.values import Value
from skillpm.errors import ConflictError, FileError
from skillpm.files import is_below
from skillpm.installer.layout import Layout


class LinkFolders(Value):
    """How the folders of a receipt become paths: relative ones below `root`, `~` is `home`.

    `fence`: what a folder must stay below, links resolved; empty for the user's own scope.
    """

    root: str
    home: str
    boundary: str = ""
    mode: str = ""

    def path(self, folder: str) -> str:
        """Give the path of an agent folder. Raises `ConflictError` when it leads out of the project."""
        path = os.path.join(self.root, self.home + folder[1:] if folder.startswith("~/") else folder)
        if self.boundary and not is_below(os.path.realpath(path), os.path.realpath(self.boundary)):
            raise ConflictError(
                f"{folder} leads out of the project", where=path, hint="it is a link to elsewhere; remove it first"
            )
        return path


class InstallTarget(Value):
    """A skills directory and the documents that belong to it: where each role of a document lies. `reads_skills` tells
    whether a folder of a receipt is one that an agent host reads.
    """

    layout: Layout
    documents: Mapping[str, str]
    link_folders: LinkFolders
    fsync: bool
    is_agent_folder: Callable[[str], bool]

    def raise_if_unwritable(self, roles: Iterable[str], folders: Iterable[str]) -> None:
        """Refuse now what the file system would refuse in the midst of a change: documents by role, agent folders.

        Raises `FileError`, or `ConflictError` for an agent folder that leads out of the project.
        """
        for role in sorted(roles):
            _raise_if_not_writable(os.path.dirname(os.path.realpath(self.documents[role])))
        for folder in sorted(folders):
            _raise_if_not_writable(self.link_folders.path(folder))


def _raise_if_not_writable(folder: str) -> None:
    """Raise `FileError` when a folder is none, cannot be made, or may not be written into."""
    at = folder
    while not os.path.lexists(at):
        at = os.path.dirname(at)
    if not os.path.isdir(at):
        raise FileError(f"cannot write into {folder}", where=at, hint="it is no folder; move it away first")
    if not os.access(at, os.W_OK | os.X_OK):
        raise FileError(f"cannot write into {folder}: permission denied", where=at, hint="check who owns that place")
