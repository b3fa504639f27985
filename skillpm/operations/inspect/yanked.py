"""What the indexes said last of what is locked: that it was yanked, or is another version. Nobody is asked for it."""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.errors import SkillpmError
from skillpm.files import read_text
from skillpm.formats.index_releases import Release, read_releases
from skillpm.formats.index_sources import is_local
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import IndexPin
from skillpm.indexes.client.http_cache import Remembered
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope


def yanked_among(scope: Scope, tools: Tools, locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, str]:
    """Say which of these skills are versions that were yanked, and why: `1.2.0 was yanked: deletes files`."""
    return {name: said for name, said in said_of(scope, tools, locked).items() if " was yanked" in said}


def tell_yanks(scope: Scope, tools: Tools, before: Lockfile, after: Lockfile, names: Collection[str]) -> None:
    """Warn of each of these skills whose locked version was yanked: it gave way for that, or nothing took its place."""
    there = {name: skill for name, skill in before.skills.items() if name in names and name in after.skills}
    for name, said in yanked_among(scope, tools, there).items():
        gave_way = after.skills[name].version != there[name].version
        tools.reporter.warning(f"{name}: {said}{'' if gave_way else '; nothing that fits takes its place'}")


def said_of(scope: Scope, tools: Tools, locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, str]:
    """Give what their indexes say against these skills: one that was yanked, one that bears another one's version."""
    found = {}
    for name, skill in sorted(locked.items()):
        if isinstance(skill.pin, IndexPin) and skill.version:
            releases = _heard(scope, tools, name, skill.pin)
            if said := _yanked(skill, releases) or _mislabelled(skill, releases):
                found[name] = said
    return found


def _yanked(skill: LockedSkill, releases: Sequence[Release]) -> str:
    for release in releases:
        if release.yanked and release.version == skill.version:
            return f"{show(skill.version, 40)} was yanked" + (f": {show(release.reason)}" if release.reason else "")
    return ""


def _mislabelled(skill: LockedSkill, releases: Sequence[Release]) -> str:
    """Say that a lockfile calls by a version what is not its content: an old one, passed off as a new one."""
    if not any(release.version == skill.version and release.digest != skill.digest for release in releases):
        return ""
    real = next((release.version for release in releases if release.digest == skill.digest), "")
    more = f", this is {show(real, 40)}" if real else ""
    return f"what the index has as {show(skill.version, 40)} is other content{more}: see who changed skills.lock"


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
