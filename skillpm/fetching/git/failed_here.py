"""What fails on this machine when git runs: an old git, a full disk, a cache that cannot be written."""

import errno
import os
import re
import shutil

from skillpm.errors import FetchError, FileError, SkillpmError
from skillpm.fetching.git.bounds import too_much
from skillpm.fetching.git.signs import has_any, quoted
from skillpm.files import REASONS

NO_ROOM_FOR_GIT = "there is no room for the git cache"
MAKE_ROOM = "free some space, or set SKILLPM_CACHE_DIR"
LITTLE = 1 << 16
NO_ROOM = ("No space left on device", "Disk quota exceeded", "Out of diskspace")
# It is our own disk: the server sends no such words but behind `remote:`.
CANNOT_WRITE = re.compile(
    r"write error|fsync error|unable to (?:create|write|rename)|cannot (?:store|pwrite|fsync|update ref|lock ref)"
    r"|could(?:n't| not) (?:write|set)|could not open .* for writing|failed to write|unable to append",
    re.IGNORECASE,
)
OF_THE_DISK = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ENOSPC, errno.EDQUOT)
ENDED = "fatal: fetch-pack: invalid index-pack output"  # and not a word of why


def failed_here(said: str, url: str) -> SkillpmError | None:
    """Give the error where it is this machine that was not up to it, most often where the cache should be written."""
    if "usage: git" in said:
        return FetchError("this git is too old for skillpm", hint="install git 2.36 or newer")
    if "Out of memory" in said:
        return too_much(url)
    if has_any(NO_ROOM, said):
        return FileError(NO_ROOM_FOR_GIT, hint=MAKE_ROOM)
    own = [line for line in said.splitlines() if not line.startswith("remote:") and CANNOT_WRITE.search(line)]
    for line in own:
        if why := next((REASONS[number] for number in OF_THE_DISK if os.strerror(number) in line), ""):
            hint = "check who owns that place and whether the disk is sound, or set SKILLPM_CACHE_DIR"
            return FileError(f"cannot write into the git cache: {why}", hint=hint)
    unsaid = next(
        (found for line in own if (found := re.search(r"could(?:n't| not) (?:write|set) '(.+)'", line))), None
    )
    if unsaid:  # git does not say why
        if os.path.isabs(unsaid[1]) and is_full(os.path.dirname(unsaid[1])):  # else it is the name of a ref
            return FileError(NO_ROOM_FOR_GIT, hint=MAKE_ROOM)
        hint = "look for room and rights there, or set SKILLPM_CACHE_DIR"
        return FileError(f"cannot write into the git cache{quoted(said)}", hint=hint)
    if said == ENDED:
        return FileError(
            "git was ended while it wrote into its cache",
            hint="look for a quota or a limit on the size of files (`ulimit -f`), or set SKILLPM_CACHE_DIR",
        )
    return None


def is_full(folder: str) -> bool:
    """Tell whether hardly a byte can be written below a folder; the nearest that is there counts."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return shutil.disk_usage(folder).free < LITTLE
