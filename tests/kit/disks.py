"""Where tests write: in memory, if there is room, and on another file system."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108  (what is created in it is a folder that only its user may read)
NEEDED = 2_000_000_000


def work_in_memory() -> None:
    """Let pytest create the folders of tests in memory, if it has room: commands wait for a disk half of their time.

    `--basetemp` and PYTEST_DEBUG_TEMPROOT choose another place.
    """
    usable = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    if usable and shutil.disk_usage(MEMORY).free > NEEDED:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@contextmanager
def folder_on_another_disk(path: Path) -> Iterator[Path | None]:
    """Yield a new folder on another file system than that of a path; None if there is no other that can be written."""
    device = path.stat().st_dev
    for place in (MEMORY, Path(tempfile.gettempdir()), Path(__file__).parent):
        if place.is_dir() and os.access(place, os.W_OK) and place.stat().st_dev != device:
            with tempfile.TemporaryDirectory(prefix="skillpm-disk-", dir=place) as made:
                yield Path(made)
            return
    yield None
