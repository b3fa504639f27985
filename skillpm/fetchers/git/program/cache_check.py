"""Check cached repositories: cheaply before each use, and every byte where something failed.

What git prints about a damaged cache often looks like an error of the server: a pack that was cut off is "Out of
memory", an index that may not be read is "Permission denied". So the cache is checked, rather than git's texts.
"""

import os
import stat
from collections.abc import Mapping

from skillpm.errors import SkillpmError
from skillpm.fetchers.git.program.errors import GitFailed
from skillpm.fetchers.git.program.limits import GitLimits
from skillpm.fetchers.git.program.process import GitProcesses
from skillpm.fetchers.git.program.repository_cache import HEAD_CONTENT, PACKS_DIR, REFS_DIR, render_config

CHECKSUM_SIZE = 20


def is_sound(path: str, url: str) -> bool:
    """Return whether a cache repository is ours, readable, with the configuration that we wrote and whole packs.

    Git obeys the configuration in a repository, which can name programs to run. So a link, another owner, or a single
    different byte disqualifies it.
    """
    try:
        status = os.lstat(path)
        return (
            stat.S_ISDIR(status.st_mode)
            and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())
            and _read_bytes(os.path.join(path, "config")) == render_config(url)
            and _read_bytes(os.path.join(path, "HEAD")) == HEAD_CONTENT
            and all(_is_usable_folder(os.path.join(path, folder)) for folder in ("objects", PACKS_DIR, REFS_DIR))
            and _is_readable(os.path.join(path, "shallow"))
            and _has_whole_packs(os.path.join(path, PACKS_DIR))
        )
    except OSError:
        return False


def is_intact(
    path: str, url: str, processes: GitProcesses, environment: Mapping[str, str], folder: str, seconds: float
) -> bool:
    """Return whether every byte of a sound repository is as git wrote it; True if that takes too long.

    `folder` is the empty folder that git runs in.
    """
    if not is_sound(path, url):
        return False
    packs = os.path.join(path, PACKS_DIR)
    indexes = sorted(os.path.join(packs, name) for name in os.listdir(packs) if name.endswith(".idx"))
    try:
        if indexes and os.path.isdir(folder):
            words = [f"--git-dir={path}", "verify-pack", *indexes]
            processes.run(words, environment, folder, deadline=GitLimits("git", seconds))
    except GitFailed:
        return False
    except SkillpmError:
        return True  # git is missing or timed out; the next use of the repository checks it anyway
    return True


def _is_usable_folder(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.R_OK | os.W_OK | os.X_OK)


def _is_readable(path: str) -> bool:
    return not os.path.lexists(path) or os.access(path, os.R_OK)


def _has_whole_packs(folder: str) -> bool:
    """Return whether packs and their indexes can be read, and end with the same checksum: so none was cut off."""
    names = {*os.listdir(folder)}
    for name in names:
        stem, _, suffix = name.rpartition(".")
        if suffix in {"pack", "idx", "rev"} and not os.access(os.path.join(folder, name), os.R_OK):
            return False
        if suffix != "idx" or f"{stem}.pack" not in names:
            continue  # of a killed git, which reads pairs only
        index_end = _read_end(os.path.join(folder, name), 2 * CHECKSUM_SIZE)
        if index_end[:CHECKSUM_SIZE] != _read_end(os.path.join(folder, f"{stem}.pack"), CHECKSUM_SIZE):
            return False
    return True


def _read_end(path: str, size: int) -> bytes:
    """Return the last bytes of a file; raises `OSError` for a shorter one."""
    with open(path, "rb") as file:
        file.seek(-size, os.SEEK_END)
        return file.read()


def _read_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(10_000)
