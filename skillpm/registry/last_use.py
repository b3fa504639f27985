"""When each skill was last loaded: the modification time of an empty file of its name in the cache.

Catalogs with a budget keep these skills longest. Nothing else reads it, and it never leaves the machine.
"""

import os
from contextlib import suppress

from skillpm.cachedir import retry_if_emptied, tag_cache_folder
from skillpm.core.names import is_skill_name
from skillpm.files import NOFOLLOW

FOLDER = "used"


def record_last_use(cache_dir: str, name: str) -> None:
    """Record that a skill is used now. A cache that cannot be written is left as it is."""
    folder = os.path.join(cache_dir, FOLDER)
    path = os.path.join(folder, name)

    def create() -> None:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | NOFOLLOW, 0o644))

    if not is_skill_name(name):  # of another tool; it might lead out of the folder
        return
    with suppress(OSError):
        try:
            os.utime(path, follow_symlinks=False)
        except FileNotFoundError:
            tag_cache_folder(cache_dir)
            retry_if_emptied(create, folder)


def read_last_uses(cache_dir: str) -> dict[str, float]:
    """Return when each skill was last used, in seconds since 1970."""
    try:
        with os.scandir(os.path.join(cache_dir, FOLDER)) as files:
            return {file.name: file.stat(follow_symlinks=False).st_mtime for file in files}
    except OSError:
        return {}
