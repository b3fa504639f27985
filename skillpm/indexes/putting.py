"""Files into the folder of an index: all of them or none, and readable for a web server."""

import os
from collections.abc import Iterable

from skillpm.files import discard_file, read_document, sync_file, sync_folder, told, write_new


def put(folder: str, files: Iterable[tuple[str, bytes]], *, fsync: bool) -> list[str]:
    """Write files of an index where they differ, and give which: paths below its folder.

    All are on the disk before the first takes its place, and half-written ones are gone if one cannot be written.
    """
    ready: dict[str, str] = {}
    with told("write an index", folder):
        try:
            for path, data in files:
                whole = os.path.join(folder, path)
                if not (os.path.isfile(whole) and read_document(whole) == data):
                    _make_folder(os.path.dirname(whole))
                    ready[path] = f"{whole}.{os.getpid()}.tmp"
                    discard_file(ready[path])
                    write_new(ready[path], data, 0o644)
            if fsync:
                # One after the other when all are written: the first takes the others along, or nearly so.
                for temporary in ready.values():
                    sync_file(temporary)
            for path, temporary in ready.items():
                os.replace(temporary, os.path.join(folder, path))
        except BaseException:
            for temporary in ready.values():
                discard_file(temporary)
            raise
        if fsync:
            for changed in sorted({os.path.dirname(os.path.join(folder, path)) for path in ready}):
                sync_folder(changed)
    return [*ready]


def _make_folder(folder: str) -> None:
    """Make a folder that a web server can look into, whatever the umask is; the files are as open."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        os.mkdir(each)
        os.chmod(each, 0o755)  # noqa: S103  (what is published is for everybody)


def nearest(folder: str) -> str:
    """Give the folder, or the nearest one above it that is there."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder
