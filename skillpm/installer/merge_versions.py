"""The versions of files that could not be merged, laid out for a merge tool: `.skillpm/merge/NAME/{yours,…}/PATH`."""

import os
from collections.abc import Collection, Mapping

from skillpm.core.file_tree import SourceEntry
from skillpm.directories import make_folders, remove_file, remove_folder
from skillpm.files import remove_tree, translate_os_errors, write_new_file
from skillpm.installer.disk.layout import Layout


def merge_folder(layout: Layout, name: str) -> str:
    """Return the folder with the versions of a skill."""
    return os.path.join(layout.internal_dir, "merge", name)


def write_versions(
    layout: Layout, name: str, versions: Mapping[str, Mapping[str, SourceEntry]], paths: Collection[str]
) -> str:
    """Write these files of each version, in place of what was laid out before, and return the folder.

    A file that a version does not have, or that is a link in it, is left out. The caller holds the lock.
    """
    folder = merge_folder(layout, name)
    with translate_os_errors("write the versions to merge", folder):
        if os.path.islink(os.path.dirname(folder)):  # it may have come with a checkout
            remove_file(os.path.dirname(folder))
        remove_tree(folder)
        for version, entries in versions.items():
            make_folders(os.path.join(folder, version))
            for path in paths:
                entry = entries.get(path)
                if entry is not None and entry.kind == "file":
                    target = os.path.join(folder, version, *path.split("/"))
                    make_folders(os.path.dirname(target))
                    write_new_file(target, entry.data, 0o755 if entry.executable else 0o644)
    return folder


def remove_versions(layout: Layout, names: Collection[str]) -> None:
    """Remove what was laid out for these skills, since they have been merged or replaced."""
    folder = os.path.join(layout.internal_dir, "merge")
    if os.path.isdir(folder) and not os.path.islink(folder):
        for name in names:
            remove_tree(merge_folder(layout, name))
        if not os.listdir(folder):
            remove_folder(folder)
