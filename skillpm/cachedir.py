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

from skillpm.files import NOFOLLOW, NONBLOCK, discard_file, remove_stale_temporaries, write_temporary

TAG_FILE = "CACHEDIR.TAG"
SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of skillpm"
TAG_CONTENT = SIGNATURE + b" and may be deleted at any time.\n# About this file: https://bford.info/cachedir/\n"
DAY_SECONDS = 86_400.0
MAX_ATTEMPTS = 5
Result = TypeVar("Result")


def tag_cache_folder(folder: str) -> None:
    """Make a folder a cache of ours, where it is none yet. Raises `OSError`."""
    if is_tagged(folder):
        return
    write_cache_file(os.path.join(folder, TAG_FILE), TAG_CONTENT)


def write_cache_file(path: str, data: bytes) -> None:
    """Put a file into the cache, whole or not at all; halves of those who died doing so go. Raises `OSError`."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    remove_stale_temporaries(path)
    temporary = f"{path}.{os.getpid()}-{threading.get_ident()}.new"
    try:
        write_temporary(temporary, data, 0o644)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            discard_file(temporary)
        raise


def retry_if_emptied(action: Callable[[], Result], folder: str) -> Result:
    """Do something in a folder of the cache, again where somebody emptied the cache this very moment."""
    for _ in range(MAX_ATTEMPTS):
        with suppress(FileNotFoundError):
            return action()
        with suppress(FileNotFoundError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
    return action()


def is_tagged(folder: str) -> bool:
    """Tell whether a folder is a cache that skillpm made. A link to one is not."""
    try:
        if os.path.islink(folder):
            return False
        descriptor = os.open(os.path.join(folder, TAG_FILE), os.O_RDONLY | NOFOLLOW | NONBLOCK)
        with open(descriptor, "rb") as file:
            return file.read(len(SIGNATURE)) == SIGNATURE
    except OSError:
        return False


def record_use(path: str) -> None:
    """Remember, to the day, that something in the cache was used: `cache prune` goes by it."""
    with suppress(OSError):
        now = time.time()
        if not now - DAY_SECONDS < os.stat(path, follow_symlinks=False).st_mtime <= now:
            os.utime(path, (now, now), follow_symlinks=False)
