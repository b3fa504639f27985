"""Suggest the skills beside a new skill to which its SKILL.md links. As they are not declared, none is installed."""

import os
import posixpath
from collections.abc import Collection, Iterator

from skillpm.core.git_syntax import abbreviate_url
from skillpm.core.names import SkillName, is_skill_name
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.pin import GitPin, PathPin, Pin
from skillpm.installer.skill_file import read_skill_file
from skillpm.operations.context.scope import Scope
from skillpm.skillmd.body_references import find_sibling_names
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

MAX_SUGGESTIONS = 3


def sibling_notes(scope: Scope, lockfile: Lockfile, names: Collection[SkillName]) -> list[str]:
    """Return a note for each skill that is linked by one of these new skills, and not installed."""
    installed = {(pin.url, pin.path) for skill in lockfile.skills.values() if isinstance(pin := skill.pin, GitPin)}
    notes: dict[str, str] = {}
    for name in sorted({*names} & lockfile.skills.keys()):
        pin = lockfile.skills[name].pin
        for sibling in _find_linked(scope, name):
            place = posixpath.join(posixpath.dirname(pin.path), sibling) if isinstance(pin, GitPin) else ""
            spec = _sibling_spec(pin, sibling)
            is_there = sibling in lockfile.skills or os.path.lexists(scope.layout.skill_path(sibling))
            if spec and not is_there and not (isinstance(pin, GitPin) and (pin.url, place) in installed):
                notes.setdefault(spec, f"{name} links to ../{sibling}/SKILL.md: `{scope.command('install', spec)}`")
    rest = len(notes) - MAX_SUGGESTIONS
    return [*notes.values()][:MAX_SUGGESTIONS] + ([f"and {rest} more such links"] if rest > 0 else [])


def _find_linked(scope: Scope, name: SkillName) -> Iterator[str]:
    try:
        body = read_skill(read_skill_file(scope.layout.skill_path(name))).body
    except (NotLoadable, OSError):
        return
    yield from (sibling for sibling in find_sibling_names(body) if is_skill_name(sibling))


def _sibling_spec(pin: Pin, sibling: str) -> str:
    """Return the SPEC of a skill beside a pinned one; empty if its source has no such place."""
    if isinstance(pin, GitPin) and pin.path != ".":
        ref = pin.ref.removeprefix("refs/heads/").removeprefix("refs/tags/") or pin.commit
        return abbreviate_url(pin.url) + (f"#{ref}" if ref != "HEAD" else "") + f"@{sibling}"
    return posixpath.join(posixpath.dirname(pin.path), sibling) if isinstance(pin, PathPin) else ""
