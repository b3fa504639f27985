"""The mark of a cache of ours: a `CACHEDIR.TAG` in the folder that carries the number of the cache's format.

Programs that make backups leave a tagged folder out (https://bford.info/cachedir/), and skillpm empties no folder that
lacks the tag: whoever once set SKILLPM_CACHE_DIR to HOME by mistake loses nothing else that lies there.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from skillpm.files import NOFOLLOW, NONBLOCK, discard_file, sweep_beside, write_temporary

TAG = "CACHEDIR.TAG"
SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of skillpm"
TEXT = SIGNATURE + b" and may be deleted at any time.\n# About this file: https://bford.info/cachedir/\n"
DAY = 86_400.0
TRIES = 5
Result = TypeVar("Result")


def mark(folder: str) -> None:
    """Make a folder a cache of ours, where it is none yet. Raises `OSError`."""
    if is_marked(folder):
        return
    put(os.path.join(folder, TAG), TEXT)


def put(path: str, data: bytes) -> None:
    """Put a file into the cache, whole or not at all; halves of those who died doing so go. Raises `OSError`."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    sweep_beside(path)
    temporary = f"{path}.{os.getpid()}-{threading.get_ident()}.new"
    try:
        write_temporary(temporary, data, 0o644)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            discard_file(temporary)
        raise


def insist(work: Callable[[], Result], folder: str) -> Result:
    """Do something in a folder of the cache, again where somebody emptied the cache this very moment."""
    for _ in range(TRIES):
        with suppress(FileNotFoundError):
            return work()
        with suppress(FileNotFoundError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
    return work()


def is_marked(folder: str) -> bool:
    """Tell whether a folder is a cache that skillpm made. A link to one is not."""
    try:
        if os.path.islink(folder):
            return False
        descriptor = os.open(os.path.join(folder, TAG), os.O_RDONLY | NOFOLLOW | NONBLOCK)
        with open(descriptor, "rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError:
        return False


def note_use(path: str) -> None:
    """Remember, to the day, that something in the cache was used: `cache prune` goes by it."""
    with suppress(OSError):
        now = time.time()
        if not now - DAY < os.stat(path, follow_symlinks=False).st_mtime <= now:
            os.utime(path, (now, now), follow_symlinks=False)
