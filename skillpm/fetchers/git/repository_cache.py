"""Cache of git objects: one bare repository per URL, shared by all skills, commands and processes of a user."""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

from skillpm.cachedir import retry_if_emptied, tag_cache_folder
from skillpm.files import discard_file, read_text, remove_tree, translate_os_errors, write_document
from skillpm.locks import hold_lock

# Not configured as a partial clone, so that reading reports missing objects instead of fetching them. Only calls that
# fetch are configured that way (docs/adr/0003-git.md).
CONFIG_TEMPLATE = """\
[core]
\trepositoryformatversion = 0
\tbare = true
[remote "origin"]
\turl = {url}
"""
HEAD_CONTENT = b"ref: refs/heads/main\n"
REFS_DIR = os.path.join("refs", "skillpm")
PACKS_DIR = os.path.join("objects", "pack")


class GitCache:
    """Directory of cache repositories, with an empty folder to run git in and a lock for each repository."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.empty_folder = os.path.join(folder, "empty")

    def prepare(self) -> None:
        """Create the folders, readable by their owner only: private repositories may be cached."""
        with translate_os_errors("create the git cache", self.folder):
            retry_if_emptied(self._make_folders, os.path.dirname(self.folder))

    def _make_folders(self) -> None:
        tag_cache_folder(os.path.dirname(self.folder))
        for folder in (self.folder, self.empty_folder):
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)

    def path_for(self, url: str) -> str:
        """Return the path of the repository for a URL: readable, and different for every URL."""
        slug = re.sub(r"[^a-z0-9]+", "-", url.lower().rpartition("://")[2])[-48:].strip("-")
        return os.path.join(self.folder, f"{slug}-{sha256(url.encode()).hexdigest()[:16]}.git")

    @contextmanager
    def lock_repository(
        self, url: str, timeout: float, on_wait: Callable[[str], None], is_stopped: Callable[[], bool]
    ) -> Iterator[tuple[str, int]]:
        """Lock a repository for this process; yield its path and the lock's descriptor, to be inherited by git.

        The repository may not exist, or be damaged: see `is_sound`.
        """
        path = self.path_for(url)
        self.prepare()  # again: the cache may have been deleted since the last use
        with hold_lock(path + ".lock", timeout, f"the cache of {url}", on_wait, is_stopped) as lock:
            yield path, lock


def is_sound(path: str, url: str) -> bool:
    """Return whether a cache repository is ours, with the configuration that we wrote.

    Git obeys the configuration in a repository, which can name programs to run. So a link, another owner, or a single
    different byte disqualifies it.
    """
    try:
        status = os.lstat(path)
        return (
            stat.S_ISDIR(status.st_mode)
            and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())
            and _read_bytes(os.path.join(path, "config")) == _render_config(url)
            and _read_bytes(os.path.join(path, "HEAD")) == HEAD_CONTENT
            and all(os.path.isdir(os.path.join(path, folder)) for folder in (PACKS_DIR, REFS_DIR))
        )
    except OSError:
        return False


def create_repository(path: str, url: str) -> None:
    """Create an empty cache repository, as `git init` would, without its process and templates."""
    with translate_os_errors("create a git cache", path):
        retry_if_emptied(lambda: _create_files(path, url), os.path.dirname(path))


def _create_files(path: str, url: str) -> None:
    remove_tree(path)
    os.mkdir(path, 0o700)
    try:
        for folder in (PACKS_DIR, REFS_DIR):
            os.makedirs(os.path.join(path, folder), mode=0o700)
        write_document(os.path.join(path, "HEAD"), HEAD_CONTENT, fsync=False)
        write_document(os.path.join(path, "config"), _render_config(url), fsync=False)
    except OSError:
        with suppress(OSError):
            remove_tree(path)
        raise


def is_empty(path: str) -> bool:
    """Return whether a cache repository certainly has no objects, as after its creation."""
    try:
        return os.listdir(os.path.join(path, "objects")) == ["pack"] and not os.listdir(os.path.join(path, PACKS_DIR))
    except OSError:
        return False


def write_ref(path: str, ref: str, oid: str) -> None:
    """Let a ref of a cache repository name an object (gitrepository-layout)."""
    _replace_file(os.path.join(path, ref), f"{oid}\n".encode())


def add_shallow_commits(path: str, commits: Iterable[str]) -> None:
    """Record that a cache repository does not have the parents of some commits (gitrepository-layout, `shallow`)."""
    file = os.path.join(path, "shallow")
    known = (read_text(file) or "").split()
    _replace_file(file, "".join(f"{oid}\n" for oid in sorted({*known, *commits})).encode())


def _replace_file(path: str, data: bytes) -> None:
    with translate_os_errors("write to the git cache", path):
        write_document(path, data, fsync=False)


def remove_leftovers(path: str) -> None:
    """Remove lock files and partial packs of a killed git; the caller holds the lock, so none is in use."""
    objects = os.path.join(path, "objects")
    with translate_os_errors("clean up a git cache", path):
        for folder, _, names in os.walk(path, onerror=_raise):
            for name in names:
                # Below `refs`, a name that starts with `tmp_` may be that of a branch.
                if name.endswith(".lock") or (folder.startswith(objects) and _is_temporary(name)):
                    discard_file(os.path.join(folder, name))


def measure_incoming(path: str) -> int:
    """Return the size of the packs that git is receiving, in bytes."""
    total = 0
    with suppress(OSError), os.scandir(os.path.join(path, PACKS_DIR)) as entries:
        for entry in entries:
            if _is_temporary(entry.name):
                total += entry.stat().st_size
    return total


def _raise(error: OSError) -> None:
    raise error


def _is_temporary(name: str) -> bool:
    return name.startswith("tmp_")


def _render_config(url: str) -> bytes:
    # The URL has passed `normalize_git_url`: no control characters, spaces or credentials.
    quoted = '"' + url.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return CONFIG_TEMPLATE.format(url=quoted).encode()


def _read_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(10_000)
