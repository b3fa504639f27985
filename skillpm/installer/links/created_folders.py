"""Track the agent folders that skillpm created for links: only these are ever removed."""

import os
from posixpath import dirname

from skillpm.formats.receipt import Receipt
from skillpm.installer.target import LinkFolders


def record_created_folders(old_receipt: Receipt, new_receipt: Receipt, folders: LinkFolders) -> Receipt:
    """Return the receipt with the folders that its links require to be created.

    These are the agent folders that do not exist before the first link, and in a project also the host's folder above
    (`.claude` for `.claude/skills`). Folders without links are dropped from the record.
    """
    linked = {folder for folder, links in new_receipt.links.items() if links}
    created = {*old_receipt.folders}
    for folder in linked - old_receipt.links.keys():
        path = folders.path(folder)
        if not os.path.lexists(path):
            created.add(folder)
            if folders.boundary and not os.path.lexists(os.path.dirname(path)):
                created.add(dirname(folder))
    used = linked | {dirname(folder) for folder in linked}
    return new_receipt.replace(folders=tuple(sorted(created & used)))


def remove_if_created(folder: str, old_receipt: Receipt, folders: LinkFolders) -> None:
    """Remove a folder that was created for links if it is empty now, and the host's folder above it likewise."""
    path = folders.path(folder)
    if folder not in old_receipt.folders or os.path.islink(path):
        return
    try:
        os.rmdir(path)
        if folders.boundary and dirname(folder) in old_receipt.folders:
            os.rmdir(os.path.dirname(path))
    except OSError:
        return
