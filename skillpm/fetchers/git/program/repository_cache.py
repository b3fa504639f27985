"""Cache of git objects: one bare repository per URL, shared by all skills, commands and processes of a user."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256

from skillpm.cachedir import retry_if_emptied, tag_cache_folder, translate_cache_errors
from skillpm.files import discard_file, read_text, remove_tree, write_document
from skillpm.locks import hold_lock

# Not configured as a partial clone, so that reading reports missing objects instead of fetching them. Only calls that
# fetch are configured that way (ADR 3).
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
        with translate_cache_errors("create the git cache", self.folder):
            retry_if_emptied(self._make_folders, os.path.dirname(self.folder))

    def _make_folders(self) -> None:
        tag_cache_folder(os.path.dirname(self.folder))
        if os.path.isdir(self.empty_folder) and not os.access(self.empty_folder, os.R_OK | os.X_OK):
            os.rmdir(self.empty_folder)
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

        The repository may not exist, or be damaged: see `cache_check`.
        """
        path = self.path_for(url)
        self.prepare()  # again: the cache may have been deleted since the last use
        with ExitStack() as held:
            with translate_cache_errors("lock a git cache", path):
                lock = hold_lock(path + ".lock", timeout, f"the cache of {url}", on_wait, is_stopped)
                descriptor = held.enter_context(lock)
            yield path, descriptor


def create_repository(path: str, url: str) -> None:
    """Create an empty cache repository, as `git init` would, without its process and templates."""
    with translate_cache_errors("create a git cache", path):
        retry_if_emptied(lambda: _create_files(path, url), os.path.dirname(path))


def _create_files(path: str, url: str) -> None:
    remove_tree(path)
    os.mkdir(path, 0o700)
    try:
        for folder in (PACKS_DIR, REFS_DIR):
            os.makedirs(os.path.join(path, folder), mode=0o700)
        write_document(os.path.join(path, "HEAD"), HEAD_CONTENT, fsync=False)
        write_document(os.path.join(path, "config"), render_config(url), fsync=False)
    except OSError:
        with suppress(OSError):
            remove_tree(path)
        raise


def render_config(url: str) -> bytes:
    """Return the configuration of a cache repository."""
    # The URL has passed `normalize_git_url`: no control characters, spaces or credentials.
    quoted = '"' + url.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return CONFIG_TEMPLATE.format(url=quoted).encode()


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
    with translate_cache_errors("write to the git cache", path):
        write_document(path, data, fsync=False)


def remove_leftovers(path: str) -> None:
    """Remove lock files and partial packs of a killed git; the caller holds the lock, so none is in use."""
    objects = os.path.join(path, "objects")
    with translate_cache_errors("clean up a git cache", path):
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
