"""Manifests of agent hosts in folders on disk, where a host finds more than skillpm would install."""

import os
from collections.abc import Iterator
from contextlib import suppress

from skillpm.core.names import fold_file_name
from skillpm.skillmd.host_manifests import MANIFESTS, HostManifest, find_host_manifests

# Folders in which a manifest is, instead of being one.
PARENTS = frozenset(path.partition("/")[0] for path in MANIFESTS if "/" in path)


def find_folder_manifests(folder: str) -> tuple[HostManifest, ...]:
    """Return the manifests in a folder: files, links, empty folders, and what git ignores. Raises `OSError`."""
    return find_host_manifests(_list_entries(folder))


def _list_entries(folder: str) -> Iterator[str]:
    for name in os.listdir(folder):
        yield name
        if fold_file_name(name) in PARENTS:
            with suppress(OSError):  # a file
                yield from (f"{name}/{child}" for child in os.listdir(os.path.join(folder, name)))
