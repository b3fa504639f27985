"""Warnings about locked skills from the cached answers of indexes, without a request."""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import SkillpmError
from skillpm.fetchers.http.document_cache import HttpCache
from skillpm.files import read_text
from skillpm.formats.index_releases import Release, read_releases
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.base import is_local
from skillpm.kinds.index import IndexPin
from skillpm.resolver.provider import AvailableVersion
from skillpm.scope.project import Project


def find_yanked(project: Project, locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, str]:
    """Return the yanked ones of these skills, with a message: `1.2.0 was yanked: deletes files`."""
    warnings = find_index_warnings(project, locked)
    return {name: message for name, message in warnings.items() if " was yanked" in message}


def warn_yanked(project: Project, before: Lockfile, after: Lockfile, names: Collection[str]) -> None:
    """Warn about each of these skills whose locked version was yanked, and whether another version replaced it."""
    locked = {name: skill for name, skill in before.skills.items() if name in names and name in after.skills}
    for name, message in find_yanked(project, locked).items():
        is_replaced = after.skills[name].version != locked[name].version
        project.reporter.warn(f"{name}: {message}{'' if is_replaced else '; no other version matches'}")


def find_index_warnings(project: Project, locked: Mapping[SkillName, LockedSkill]) -> dict[SkillName, str]:
    """Return a warning for each skill that was yanked, or whose content the index has under another version."""
    warnings = {}
    for name, skill in sorted(locked.items()):
        if isinstance(skill.pin, IndexPin) and skill.version:
            releases = _read_cached_releases(project, name, skill.pin)
            if message := find_yank_reason(releases, skill.version) or _wrong_version_message(skill, releases):
                warnings[name] = message
    return warnings


def find_yank_reason(versions: Sequence[AvailableVersion] | Sequence[Release], version: str) -> str:
    """Return that a version was yanked, and why; empty if it was not."""
    for item in versions:
        if item.yanked and item.version == version:
            return f"{sanitize(version, 40)} was yanked" + (f": {sanitize(item.reason)}" if item.reason else "")
    return ""


def _wrong_version_message(skill: LockedSkill, releases: Sequence[Release]) -> str:
    """Report content locked under a version of which the index has other content: an old version posing as new."""
    if not any(release.version == skill.version and release.digest != skill.digest for release in releases):
        return ""
    actual = next((release.version for release in releases if release.digest == skill.digest), "")
    note = f" (the locked content is {sanitize(actual, 40)})" if actual else ""
    return f"the index has other content as {sanitize(skill.version, 40)}{note}: check who changed skills.lock"


def _read_cached_releases(project: Project, name: SkillName, pin: IndexPin) -> tuple[Release, ...]:
    """Return the versions in the cached answer of an index; a local index is read directly."""
    address = f"{pin.index}skills/{name}.json"
    with suppress(SkillpmError, UnicodeDecodeError):
        if is_local(pin.index):
            path = address.replace("~", project.settings.home, 1) if address.startswith("~/") else address
            text = read_text(os.path.join(project.scope.base, path))
        else:
            cached = HttpCache(os.path.join(project.settings.cache_dir, "indexes")).get(address)
            text = cached.body.decode() if cached is not None and cached.body is not None else None
        return () if text is None else read_releases(text, address, name).versions
    return ()
