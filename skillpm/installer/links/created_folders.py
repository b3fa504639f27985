"""Which of the folders that agents read were made for links, and not there before: only these are ever removed."""

import os
from posixpath import dirname

from skillpm.formats.receipt import Receipt
from skillpm.installer.target import LinkFolders


def record_created_folders(old_receipt: Receipt, new_receipt: Receipt, folders: LinkFolders) -> Receipt:
    """Give a receipt that knows which folders its links bring along: those that are absent where nothing is linked
    yet, and the host's folder above in a project. Those of links that are gone are forgotten.
    """
    linked = {folder for folder, links in new_receipt.links.items() if links}
    made = {*old_receipt.folders}
    for folder in linked - old_receipt.links.keys():
        place = folders.path(folder)
        if not os.path.lexists(place):
            made.add(folder)
            if folders.boundary and not os.path.lexists(os.path.dirname(place)):
                made.add(dirname(folder))
    used = linked | {dirname(folder) for folder in linked}
    return new_receipt.replace(folders=tuple(sorted(made & used)))


def remove_if_created(folder: str, old_receipt: Receipt, folders: LinkFolders) -> None:
    """Remove a folder that was made for links and holds nothing now; the host's folder above it likewise."""
    path = folders.path(folder)
    if folder not in old_receipt.folders or os.path.islink(path):
        return
    try:
        os.rmdir(path)
        if folders.boundary and dirname(folder) in old_receipt.folders:
            os.rmdir(os.path.dirname(path))
    except OSError:
        return
