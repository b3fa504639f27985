"""What the indexes said last of what is locked: that it was yanked, or is another version. Nobody is asked for it."""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import SkillpmError
from skillpm.files import read_text
from skillpm.formats.index_releases import Release, read_releases
from skillpm.formats.index_sources import is_local
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import IndexPin
from skillpm.indexes.client.http_cache import HttpCache
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope


def find_yanked(scope: Scope, context: Context, locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, str]:
    """Say which of these skills are versions that were yanked, and why: `1.2.0 was yanked: deletes files`."""
    return {name: said for name, said in find_index_warnings(scope, context, locked).items() if " was yanked" in said}


def warn_yanked(scope: Scope, context: Context, before: Lockfile, after: Lockfile, names: Collection[str]) -> None:
    """Warn of each of these skills whose locked version was yanked: it gave way for that, or nothing took its place."""
    there = {name: skill for name, skill in before.skills.items() if name in names and name in after.skills}
    for name, said in find_yanked(scope, context, there).items():
        gave_way = after.skills[name].version != there[name].version
        context.reporter.warn(f"{name}: {said}{'' if gave_way else '; nothing that fits takes its place'}")


def find_index_warnings(
    scope: Scope, context: Context, locked: Mapping[SkillName, LockedSkill]
) -> dict[SkillName, str]:
    """Give what their indexes say against these skills: one that was yanked, one that bears another one's version."""
    found = {}
    for name, skill in sorted(locked.items()):
        if isinstance(skill.pin, IndexPin) and skill.version:
            releases = _read_cached_releases(scope, context, name, skill.pin)
            if said := _yanked_message(skill, releases) or _wrong_version_message(skill, releases):
                found[name] = said
    return found


def _yanked_message(skill: LockedSkill, releases: Sequence[Release]) -> str:
    for release in releases:
        if release.yanked and release.version == skill.version:
            return f"{sanitize(skill.version, 40)} was yanked" + (
                f": {sanitize(release.reason)}" if release.reason else ""
            )
    return ""


def _wrong_version_message(skill: LockedSkill, releases: Sequence[Release]) -> str:
    """Say that a lockfile calls by a version what is not its content: an old one, passed off as a new one."""
    if not any(release.version == skill.version and release.digest != skill.digest for release in releases):
        return ""
    real = next((release.version for release in releases if release.digest == skill.digest), "")
    more = f", this is {sanitize(real, 40)}" if real else ""
    return f"what the index has as {sanitize(skill.version, 40)} is other content{more}: see who changed skills.lock"


def _read_cached_releases(scope: Scope, context: Context, name: SkillName, pin: IndexPin) -> tuple[Release, ...]:
    """Give the versions that an index had when it was asked last; a folder is looked into."""
    address = f"{pin.index}skills/{name}.json"
    with suppress(SkillpmError, UnicodeDecodeError):
        if is_local(pin.index):
            whole = address.replace("~", context.settings.home, 1) if address.startswith("~/") else address
            text = read_text(os.path.join(os.path.dirname(scope.manifest), whole))
        else:
            memory = HttpCache(os.path.join(context.settings.cache_dir, "indexes")).get(address)
            text = memory.body.decode() if memory is not None and memory.body is not None else None
        return () if text is None else read_releases(text, address, name).versions
    return ()
