"""What was yanked of what is locked, as the indexes were heard last: nobody is asked for it."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from skillpm.documents.index import Release, read_releases
from skillpm.documents.index_places import is_local
from skillpm.documents.lockfile import LockedSkill
from skillpm.documents.names import SkillName
from skillpm.documents.pin import IndexPin
from skillpm.documents.text import show
from skillpm.errors import SkillpmError
from skillpm.files import read_text
from skillpm.indexes.remembered import Remembered
from skillpm.operations.paperwork import read_paperwork
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools


def yanked_here(scope: Scope, tools: Tools, names: Sequence[str] = ()) -> list[str]:
    """Say which locked skills, of these or of all, are versions that were yanked, and why."""
    found = yanked_of(scope, tools, read_paperwork(scope, tools).lockfile.skills)
    return [
        f"{name}: {said}; nothing that fits takes its place"
        for name, said in found.items()
        if not names or name in names
    ]


def yanked_of(scope: Scope, tools: Tools, locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, str]:
    """Give what there is to say of those of these skills that were yanked."""
    found = {}
    for name, skill in sorted(locked.items()):
        if isinstance(skill.pin, IndexPin) and skill.version:
            for release in _heard(scope, tools, name, skill.pin):
                if release.yanked and release.version == skill.version:
                    why = f": {show(release.reason)}" if release.reason else ""
                    found[name] = f"{show(skill.version, 40)} was yanked{why}"
    return found


def _heard(scope: Scope, tools: Tools, name: SkillName, pin: IndexPin) -> tuple[Release, ...]:
    """Give the versions that an index had when it was asked last; a folder is looked into."""
    address = f"{pin.index}skills/{name}.json"
    with suppress(SkillpmError, UnicodeDecodeError):
        if is_local(pin.index):
            whole = address.replace("~", tools.settings.home, 1) if address.startswith("~/") else address
            text = read_text(os.path.join(os.path.dirname(scope.manifest), whole))
        else:
            memory = Remembered(os.path.join(tools.settings.cache_dir, "indexes")).of(address)
            text = memory.body.decode() if memory is not None and memory.body is not None else None
        return () if text is None else read_releases(text, address, name).versions
    return ()
