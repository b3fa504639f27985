"""Staged folders on their way to the disk while other work goes on: an fsync is mostly waiting."""

import os
from queue import Queue
from threading import Thread

from skillpm.errors import FileError
from skillpm.files import sync_file, sync_folder, told

AT_ONCE = 8  # fsyncs that wait together are carried out together: three hundred take 50 ms instead of 400


class Settling:
    """Asks the system, beside other work, to keep folders and all that is in them over a power loss.

    `begin` with each folder when all is in it, and `wait` before anything is written that relies on them. Without
    `fsync` nothing is asked.
    """

    def __init__(self, *, fsync: bool) -> None:
        self._fsync = fsync
        self._places: Queue[tuple[str, bool]] = Queue()
        self._failed: FileError | None = None
        self._threads: list[Thread] = []

    def begin(self, place: str) -> None:
        """Begin with a folder and all that is below it, or with a file."""
        if self._fsync:
            self._places.put((place, os.path.isdir(place) and not os.path.islink(place)))
            while len(self._threads) < AT_ONCE:
                # Whoever fails before `wait` leaves them waiting for more: that must not keep the process from ending.
                self._threads.append(Thread(target=self._settle, daemon=True))
                self._threads[-1].start()

    def wait(self) -> None:
        """Wait until all are there. Raises `FileError` when one could not be kept."""
        self._places.join()
        if self._failed is not None:
            raise self._failed

    def _settle(self) -> None:
        while True:
            place, is_folder = self._places.get()
            try:
                with told("keep a staged folder", place):
                    if is_folder:
                        self._settle_folder(place)
                    else:
                        sync_file(place)
            except FileError as error:
                self._failed = error
            finally:
                self._places.task_done()

    def _settle_folder(self, place: str) -> None:
        with os.scandir(place) as entries:
            for entry in entries:
                self._places.put((entry.path, entry.is_dir(follow_symlinks=False)))
        sync_folder(place)
