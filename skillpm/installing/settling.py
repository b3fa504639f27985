"""Staged folders on their way to the disk while other work goes on: an fsync is mostly waiting."""

import os
from threading import Thread

from skillpm.errors import FileError
from skillpm.files import sync_folder, told


class Settling:
    """Asks the system, beside other work, to keep all folders below one over a power loss; files only by their entry.

    `wait` before anything is written that relies on them. Without `fsync` nothing is asked.
    """

    def __init__(self, folder: str, *, fsync: bool) -> None:
        self._folder = folder
        self._failed: FileError | None = None
        self._thread = Thread(target=self._settle) if fsync else None
        if self._thread is not None:
            self._thread.start()

    def wait(self) -> None:
        """Wait until all are there. Raises `FileError` when one could not be kept."""
        if self._thread is not None:
            self._thread.join()
        if self._failed is not None:
            raise self._failed

    def _settle(self) -> None:
        try:
            with told("keep staged folders", self._folder):
                for folder, _, _ in os.walk(self._folder, topdown=False):
                    sync_folder(folder)
        except FileError as error:
            self._failed = error
