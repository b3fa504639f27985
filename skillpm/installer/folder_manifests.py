"""Manifests of agent hosts in folders on disk, where a host finds more than skillpm would install."""

import os
from collections.abc import Iterator
from contextlib import suppress

from skillpm.skillmd.host_manifests import HostManifest, find_host_manifests

# Hosts do not look for skills in there.
SKIPPED = frozenset([".git", "node_modules"])


def find_folder_manifests(folder: str) -> tuple[HostManifest, ...]:
    """Return the manifests in a folder: files, links, empty folders, and what git ignores. Raises `OSError`."""
    return find_host_manifests(_list_entries(folder))


def _list_entries(folder: str) -> Iterator[str]:
    """Yield the paths of all entries, relative to the folder; linked folders are followed, each folder once."""
    todo, seen = [""], set[tuple[int, int]]()
    while todo:
        parent = todo.pop()
        path = os.path.join(folder, parent)
        state = os.stat(path)
        if (state.st_dev, state.st_ino) in seen:
            continue
        seen.add((state.st_dev, state.st_ino))
        with os.scandir(path) as entries:
            for entry in entries:
                relative = f"{parent}/{entry.name}" if parent else entry.name
                yield relative
                with suppress(OSError):
                    if entry.name not in SKIPPED and entry.is_dir():
                        todo.append(relative)
