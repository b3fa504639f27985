"""Checks of the cache: whether it is writable, and whether its content is intact."""

import os
from collections.abc import Iterator

from skillpm.core.patterns import lazy_pattern
from skillpm.errors import SkillpmError
from skillpm.fetchers.git.errors import GitFailed
from skillpm.fetchers.git.limits import GitLimits
from skillpm.fetchers.git.process import GitProcesses
from skillpm.fetchers.git.repository_cache import is_sound as is_sound_repository
from skillpm.locks import is_held
from skillpm.operations.cache.contents import cache_root, inspect_cache
from skillpm.operations.context.runtime import is_writable
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
    if url is None or not is_sound_repository(path, url[1]):
        return False
    packs = os.path.join(path, "objects", "pack")
    names = sorted(name for name in os.listdir(packs) if name.endswith((".idx", ".pack")))
    stems = {name.rpartition(".")[0] for name in names}
    if len(names) != 2 * len(stems):
        return False
    indexes = [os.path.join(packs, f"{stem}.idx") for stem in sorted(stems)]
    empty = os.path.join(os.path.dirname(path), "empty")
    try:
        if indexes and os.path.isdir(empty):
            seconds = doctor.settings.network_timeout
            words = [f"--git-dir={path}", "verify-pack", *indexes]
            GitProcesses().run(words, doctor.settings.environ, empty, deadline=GitLimits("git", seconds))
    except GitFailed:
        return False
    except SkillpmError:
        return True  # git is missing or timed out; the next use of the repository checks it anyway
    return True
