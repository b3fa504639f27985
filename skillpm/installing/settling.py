"""Staged folders on their way to the disk while other work goes on: an fsync is mostly waiting."""

import os
from queue import SimpleQueue
from threading import Thread

from skillpm.errors import FileError
from skillpm.files import sync_folder, told


class Settling:
    """Asks the system, beside other work, to keep folders over a power loss; files only by their entry.

    `begin` with each folder when all is in it, and `wait` before anything is written that relies on them. Without
    `fsync` nothing is asked.
    """

    def __init__(self, *, fsync: bool) -> None:
        self._fsync = fsync
        self._folders: SimpleQueue[str] = SimpleQueue()
        self._failed: FileError | None = None
        # Whoever fails before `wait` leaves it waiting for more: that must not keep the process from ending.
        self._thread = Thread(target=self._settle, daemon=True)

    def begin(self, folder: str) -> None:
        """Begin with a folder and all folders below it."""
        if self._fsync:
            if self._thread.ident is None:
                self._thread.start()
            self._folders.put(folder)

    def wait(self) -> None:
        """Wait until all are there. Raises `FileError` when one could not be kept."""
        if self._thread.ident is not None:
            self._folders.put("")
            self._thread.join()
        if self._failed is not None:
            raise self._failed

    def _settle(self) -> None:
        try:
            while top := self._folders.get():
                if os.path.islink(top):
                    continue  # a live link leads to what is not ours
                with told("keep a staged folder", top):
                    for folder, _, _ in os.walk(top, topdown=False):
                        sync_folder(folder)
        except FileError as error:
            self._failed = error
