"""Checks of the cache: whether it is writable, and whether its content is intact."""

import os
from collections.abc import Iterator

from skillpm.core.patterns import lazy_pattern
from skillpm.fetchers.git.program.cache_check import is_intact as is_intact_repository
from skillpm.fetchers.git.program.process import GitProcesses
from skillpm.files import is_writable
from skillpm.locks import is_held
from skillpm.operations.cache.contents import cache_root, inspect_cache, scan_folder
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext
from skillpm.store import is_intact

URL_PATTERN = lazy_pattern(r'\turl = "([^"\\]+)"\n')
FIX_HINT = "`skillpm doctor --fix` removes it; it is fetched again when needed"


def check_cache(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Check whether the cache is writable and has leftovers."""
    settings = doctor.settings
    if os.path.lexists(settings.cache_dir) and not os.path.isdir(settings.cache_dir):
        yield Diagnostic(message="the cache is not a folder", where=settings.cache_dir, hint="move it away")
    elif not is_writable(settings.cache_dir):
        message = "the cache is not writable: fetched content is discarded after each command"
        hint = "check its owner, or set SKILLPM_CACHE_DIR to another folder"
        yield Diagnostic(message=message, where=cache_root(settings), hint=hint)
    for path in find_inaccessible(doctor):
        yield Diagnostic(message="a part of the cache cannot be read or written", where=path, hint=FIX_HINT)
    contents = inspect_cache(settings)
    if contents.leftovers or contents.older_formats:
        count = len(contents.leftovers) + len(contents.older_formats)
        message = f"the cache has leftovers of killed commands or older versions: {count}"
        yield Diagnostic(message=message, where=contents.root, hint="run `skillpm cache prune`", is_note=True)


def check_store(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Check the digest of every store entry."""
    for path in find_damaged_entries(doctor):
        yield Diagnostic(message="a store entry is damaged", where=path, hint=FIX_HINT)


def check_repositories(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Check every byte of the cached repositories with git."""
    for path in find_damaged_repositories(doctor):
        yield Diagnostic(message="a cached repository is damaged", where=path, hint=FIX_HINT)


def find_inaccessible(doctor: DoctorContext) -> Iterator[str]:
    """Yield the folders and locks of a writable cache that cannot be read or written; other files are replaced."""
    cache_dir = doctor.settings.cache_dir
    pending = [cache_dir] if is_writable(cache_dir) else []
    while pending:
        for entry in scan_folder(pending.pop()):
            is_folder = entry.is_dir(follow_symlinks=False)
            needed = os.R_OK | os.W_OK | (os.X_OK if is_folder else 0)
            if (is_folder or entry.name.endswith(".lock")) and not os.access(entry.path, needed):
                yield entry.path
            elif is_folder:
                pending.append(entry.path)


def find_damaged_entries(doctor: DoctorContext) -> Iterator[str]:
    """Yield the paths of store entries whose content does not match the digest in their name."""
    for entry in inspect_cache(doctor.settings).in_bucket("store"):
        try:
            if not is_intact(entry.path):
                yield entry.path
        except FileNotFoundError:
            continue
        except OSError:
            yield entry.path


def find_damaged_repositories(doctor: DoctorContext) -> Iterator[str]:
    """Yield the paths of damaged cached repositories; those in use are skipped."""
    for entry in inspect_cache(doctor.settings).in_bucket("git"):
        if not is_held(f"{entry.path}.lock") and not _is_intact(entry.path, doctor):
            yield entry.path


def _is_intact(path: str, doctor: DoctorContext) -> bool:
    try:
        with open(os.path.join(path, "config"), encoding="utf-8", errors="replace") as file:
            url = URL_PATTERN.search(file.read(10_000))
    except OSError:
        return False
    if url is None:
        return False
    settings = doctor.settings
    # With its git configuration unread: nothing is fetched.
    empty = os.path.join(os.path.dirname(path), "empty")
    return is_intact_repository(path, url[1], GitProcesses(), settings.environ, empty, settings.network_timeout)
