"""The cache: whether it can be written, and every byte in it."""

import os
import re
from collections.abc import Iterator

from skillpm.errors import SkillpmError
from skillpm.fetchers.git.limits import GitLimits
from skillpm.fetchers.git.process import GitFailed, GitProcesses
from skillpm.fetchers.git.repository_cache import is_sound as is_sound_repository
from skillpm.locks import is_held
from skillpm.operations.cache.contents import cache_root, inspect_cache
from skillpm.operations.context.temporary_cache import is_writable
from skillpm.operations.doctor.diagnostics import Diagnostic, DoctorContext
from skillpm.store import is_intact

URL_PATTERN = re.compile(r'\turl = "([^"\\]+)"\n')
FIX_HINT = "`skillpm doctor --fix` removes it; it is fetched anew when it is needed"


def check_cache(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Look whether the cache can be written, and what is left over in it."""
    settings = doctor.settings
    if os.path.lexists(settings.cache_dir) and not os.path.isdir(settings.cache_dir):
        yield Diagnostic(check="cache", message="the cache is no folder", where=settings.cache_dir, hint="move it away")
    elif not is_writable(settings.cache_dir):
        message = "the cache cannot be written: what is fetched is forgotten after each command"
        hint = "check who owns that place, or choose another with SKILLPM_CACHE_DIR"
        yield Diagnostic(check="cache", message=message, where=cache_root(settings), hint=hint)
    contents = inspect_cache(settings)
    if contents.leftovers or contents.older_formats:
        count = len(contents.leftovers) + len(contents.older_formats)
        message = f"killed commands or older versions left something in the cache: {count}"
        yield Diagnostic(
            check="cache", message=message, where=contents.root, hint="`skillpm cache prune`", is_note=True
        )


def check_store(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Read every entry of the store."""
    for path in find_damaged_entries(doctor):
        yield Diagnostic(check="store", message="an entry of the store is damaged", where=path, hint=FIX_HINT)


def check_repositories(doctor: DoctorContext) -> Iterator[Diagnostic]:
    """Have git read every byte of the cached repositories."""
    for path in find_damaged_repositories(doctor):
        yield Diagnostic(check="repositories", message="a cached repository is damaged", where=path, hint=FIX_HINT)


def find_damaged_entries(doctor: DoctorContext) -> Iterator[str]:
    """Give the paths of store entries that are not what their names promise."""
    for thing in inspect_cache(doctor.settings).in_bucket("store"):
        try:
            if not is_intact(thing.path):
                yield thing.path
        except FileNotFoundError:
            continue
        except OSError:
            yield thing.path


def find_damaged_repositories(doctor: DoctorContext) -> Iterator[str]:
    """Give the paths of cached repositories that are not as skillpm and git left them; those in use are passed over."""
    for thing in inspect_cache(doctor.settings).in_bucket("git"):
        if not is_held(f"{thing.path}.lock") and not _is_intact(thing.path, doctor):
            yield thing.path


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
        return True  # no git, or no time: whoever needs it will see
    return True
