"""Suggest the skills beside a new skill to which its SKILL.md links. As they are not declared, none is installed."""

import os
import posixpath
from collections.abc import Collection, Iterator

from skillpm.core.names import SkillName, is_skill_name
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import Lockfile
from skillpm.installer.disk.skill_file import is_skill_folder, read_skill_file
from skillpm.kinds.base import Pin
from skillpm.kinds.git import GitPin
from skillpm.scope.scope import Scope
from skillpm.skillmd.body_references import find_sibling_names
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

MAX_SUGGESTIONS = 3


def sibling_notes(
    scope: Scope, fetchers: FetcherDispatcher, lockfile: Lockfile, names: Collection[SkillName]
) -> list[str]:
    """Return a note for each skill that is linked by one of these new skills, is there, and not installed."""
    installed = {(pin.url, pin.path) for skill in lockfile.skills.values() if isinstance(pin := skill.pin, GitPin)}
    notes: dict[str, str] = {}
    for name in sorted({*names} & lockfile.skills.keys()):
        pin = lockfile.skills[name].pin
        for sibling in _find_linked(scope, name):
            place = posixpath.join(posixpath.dirname(pin.path), sibling) if isinstance(pin, GitPin) else ""
            spec = pin.sibling_spec(sibling)
            has_name = sibling in lockfile.skills or os.path.lexists(scope.layout.skill_path(sibling))
            is_installed = has_name or (pin.server_url(), place) in installed
            if spec and not is_installed and _exists(scope, fetchers, pin, place or spec):
                notes.setdefault(spec, f"{name} links to ../{sibling}/SKILL.md: `{scope.command('install', spec)}`")
    rest = len(notes) - MAX_SUGGESTIONS
    return [*notes.values()][:MAX_SUGGESTIONS] + ([f"and {rest} more such links"] if rest > 0 else [])


def _find_linked(scope: Scope, name: SkillName) -> Iterator[str]:
    try:
        body = read_skill(read_skill_file(scope.layout.skill_path(name))).body
    except (NotLoadable, OSError):
        return
    yield from (sibling for sibling in find_sibling_names(body) if is_skill_name(sibling))


def _exists(scope: Scope, fetchers: FetcherDispatcher, pin: Pin, place: str) -> bool:
    if isinstance(pin, GitPin):
        return fetchers.has_skill(pin, place)
    path = fetchers.settings.home + place[1:] if place.startswith("~/") else place
    return is_skill_folder(os.path.join(scope.base, path))
