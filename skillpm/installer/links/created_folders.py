"""Which of the folders that agents read were made for links, and not there before: only these are ever removed."""

import os
from posixpath import dirname

from skillpm.formats.receipt import Receipt
from skillpm.installer.target import LinkFolders


def with_made_folders(before: Receipt, after: Receipt, folders: LinkFolders) -> Receipt:
    """Give a receipt that knows which folders its links bring along: those that are absent where nothing is linked
    yet, and the host's folder above in a project. Those of links that are gone are forgotten.
    """
    linked = {folder for folder, links in after.links.items() if links}
    made = {*before.folders}
    for folder in linked - before.links.keys():
        place = folders.path(folder)
        if not os.path.lexists(place):
            made.add(folder)
            if folders.fence and not os.path.lexists(os.path.dirname(place)):
                made.add(dirname(folder))
    used = linked | {dirname(folder) for folder in linked}
    return after.but(folders=tuple(sorted(made & used)))


def remove_if_made(folder: str, before: Receipt, folders: LinkFolders) -> None:
    """Remove a folder that was made for links and holds nothing now; the host's folder above it likewise."""
    path = folders.path(folder)
    if folder not in before.folders or os.path.islink(path):
        return
    try:
        os.rmdir(path)
        if folders.fence and dirname(folder) in before.folders:
            os.rmdir(os.path.dirname(path))
    except OSError:
        return
