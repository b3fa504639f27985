"""The places that a change writes to: the skills directory, its documents, and the folders of agent hosts."""

import os
from collections.abc import Callable, Iterable, Mapping

from skillpm.core.values import Value
from skillpm.errors import ConflictError, FileError
from skillpm.files import is_below
from skillpm.installer.layout import Layout


class LinkFolders(Value):
    """Turns the agent folders named in a receipt into paths."""

    # What relative folders are relative to.
    root: str
    # What `~` stands for.
    home: str
    # The folder that agent folders must stay in, links resolved; empty in user scope.
    boundary: str = ""
    # The kind of links to create (`SKILLPM_LINK_MODE`); empty: the best one the system supports.
    mode: str = ""

    def path(self, folder: str) -> str:
        """Return the path of an agent folder. Raises `ConflictError` if it is outside the project."""
        path = os.path.join(self.root, self.home + folder[1:] if folder.startswith("~/") else folder)
        if self.boundary and not is_below(os.path.realpath(path), os.path.realpath(self.boundary)):
            raise ConflictError(
                f"{folder} is a link that points outside the project", where=path, hint="remove that link first"
            )
        return path


class InstallTarget(Value):
    """A skills directory with everything that belongs to it."""

    layout: Layout
    # Document role -> path.
    documents: Mapping[str, str]
    link_folders: LinkFolders
    fsync: bool
    # Returns whether a folder, as a receipt names it, is one that an agent host reads.
    is_agent_folder: Callable[[str], bool]

    def raise_if_unwritable(self, roles: Iterable[str], folders: Iterable[str]) -> None:
        """Check beforehand that the documents of these roles and these agent folders can be written.

        A refusal in the middle of a change would leave it unfinished. Raises `FileError`, or `ConflictError` for an
        agent folder outside the project.
        """
        for role in sorted(roles):
            _raise_if_not_writable(os.path.dirname(os.path.realpath(self.documents[role])))
        for folder in sorted(folders):
            _raise_if_not_writable(self.link_folders.path(folder))


def _raise_if_not_writable(folder: str) -> None:
    """Raise `FileError` if a folder, or the parent it would be created in, is not a writable folder."""
    existing = folder
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        raise FileError(f"cannot write into {folder}", where=existing, hint="this is not a folder; move it away first")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise FileError(
            f"cannot write into {folder}: permission denied", where=existing, hint="check who owns that folder"
        )
