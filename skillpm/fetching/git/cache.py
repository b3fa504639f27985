"""The cache of git objects: one bare repository per URL, shared by all skills, runs and processes of a user."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

from skillpm.files import discard_file, remove_tree, told, write_document
from skillpm.locking import locked

# At rest it is no partial clone: so a reading call reports what is missing, and can never go and fetch it. That it
# lacks objects by intent is told only to the calls that fetch (docs/adr/0003-git.md).
CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = true
[remote "origin"]
\turl = {url}
"""
LEFT_BY_A_KILLED_GIT = ("shallow.lock", "config.lock", "packed-refs.lock", "HEAD.lock")


class GitCache:
    """The folder of cache repositories, an empty folder to run git in, and a lock per repository."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.empty = os.path.join(folder, "empty")

    def prepare(self) -> None:
        """Make the folders."""
        with told("make the git cache", self.folder):
            os.makedirs(self.empty, mode=0o700, exist_ok=True)

    def path(self, url: str) -> str:
        """Give where the repository for a URL lies: readable, and never two URLs in one place."""
        slug = re.sub(r"[^a-z0-9]+", "-", url.lower().rpartition("://")[2])[-48:].strip("-")
        return os.path.join(self.folder, f"{slug}-{sha256(url.encode()).hexdigest()[:16]}.git")

    @contextmanager
    def held(self, url: str, timeout: float) -> Iterator[str]:
        """Hold a repository for this process; it is there afterwards, without what a killed git left behind."""
        path = self.path(url)
        with locked(path + ".lock", timeout, f"the cache of {url}"):
            if os.path.isfile(os.path.join(path, "config")):
                sweep(path)
            else:
                create(path, url)
            yield path


def create(path: str, url: str) -> None:
    """Make an empty cache repository; what `git init` would make, less a process and its templates."""
    with told("make a git cache", path):
        remove_tree(path)
        os.makedirs(os.path.join(path, "objects", "pack"), mode=0o700)
        os.makedirs(os.path.join(path, "refs"), mode=0o700)
        write_document(os.path.join(path, "HEAD"), b"ref: refs/heads/main\n", fsync=False)
        # The URL passed `clean_url`: no control character, no blank, no credentials.
        quoted = '"' + url.replace("\\", "\\\\").replace('"', '\\"') + '"'
        write_document(os.path.join(path, "config"), CONFIG.format(url=quoted).encode(), fsync=False)


def sweep(path: str) -> None:
    """Remove the lock files and half packs of a git that was killed: nobody else is here, we hold the lock."""
    for name in LEFT_BY_A_KILLED_GIT:
        discard_file(os.path.join(path, name))
    with suppress(FileNotFoundError), os.scandir(os.path.join(path, "objects", "pack")) as entries:
        for entry in entries:
            if entry.name.startswith("tmp_"):
                discard_file(entry.path)


def arriving(path: str) -> int:
    """Give the bytes of packs that are being received."""
    total = 0
    with suppress(OSError), os.scandir(os.path.join(path, "objects", "pack")) as entries:
        for entry in entries:
            if entry.name.startswith("tmp_"):
                total += entry.stat().st_size
    return total
