"""The cache: whether it can be written, and every byte in it."""

import os
import re
from collections.abc import Iterator

from skillpm.errors import SkillpmError
from skillpm.fetchers.git.limits import Deadline
from skillpm.fetchers.git.process import Children, GitFailed
from skillpm.fetchers.git.repository_cache import is_sound as is_sound_repository
from skillpm.locks import is_held
from skillpm.operations.cache.contents import look_into, root_of
from skillpm.operations.context.temporary_cache import can_be_written
from skillpm.operations.doctor.diagnostics import Finding, Patient
from skillpm.store import is_sound

URL = re.compile(r'\turl = "([^"\\]+)"\n')
FIX = "`skillpm doctor --fix` removes it; it is fetched anew when it is needed"


def cache(patient: Patient) -> Iterator[Finding]:
    """Look whether the cache can be written, and what is left over in it."""
    settings = patient.settings
    if os.path.lexists(settings.cache_dir) and not os.path.isdir(settings.cache_dir):
        yield Finding(check="cache", message="the cache is no folder", where=settings.cache_dir, hint="move it away")
    elif not can_be_written(settings.cache_dir):
        message = "the cache cannot be written: what is fetched is forgotten after each command"
        hint = "check who owns that place, or choose another with SKILLPM_CACHE_DIR"
        yield Finding(check="cache", message=message, where=root_of(settings), hint=hint)
    contents = look_into(settings)
    if contents.leftovers or contents.older:
        count = len(contents.leftovers) + len(contents.older)
        message = f"killed commands or older versions left something in the cache: {count}"
        yield Finding(check="cache", message=message, where=contents.root, hint="`skillpm cache prune`", is_note=True)


def store(patient: Patient) -> Iterator[Finding]:
    """Read every entry of the store."""
    for path in damaged_entries(patient):
        yield Finding(check="store", message="an entry of the store is damaged", where=path, hint=FIX)


def repositories(patient: Patient) -> Iterator[Finding]:
    """Have git read every byte of the cached repositories."""
    for path in damaged_repositories(patient):
        yield Finding(check="repositories", message="a cached repository is damaged", where=path, hint=FIX)


def damaged_entries(patient: Patient) -> Iterator[str]:
    """Give the paths of store entries that are not what their names promise."""
    for thing in look_into(patient.settings).of("store"):
        try:
            if not is_sound(thing.path):
                yield thing.path
        except FileNotFoundError:
            continue
        except OSError:
            yield thing.path


def damaged_repositories(patient: Patient) -> Iterator[str]:
    """Give the paths of cached repositories that are not as skillpm and git left them; those in use are passed over."""
    for thing in look_into(patient.settings).of("git"):
        if not is_held(f"{thing.path}.lock") and not _is_whole(thing.path, patient):
            yield thing.path


def _is_whole(path: str, patient: Patient) -> bool:
    try:
        with open(os.path.join(path, "config"), encoding="utf-8", errors="replace") as file:
            url = URL.search(file.read(10_000))
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
            seconds = patient.settings.network_timeout
            words = [f"--git-dir={path}", "verify-pack", *indexes]
            Children().run(words, patient.settings.environ, empty, deadline=Deadline("git", seconds))
    except GitFailed:
        return False
    except SkillpmError:
        return True  # no git, or no time: whoever needs it will see
    return True
