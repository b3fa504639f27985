"""Warnings about fetched skills, printed once: when a skill is new or changed, not on every command."""

from collections.abc import Mapping

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.events import Reporter
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.formats.lockfile import LockedSkill

MAX_NAMED = 3


def report_warnings(
    skills: Mapping[SkillName, FetchedSkill], locked: Mapping[SkillName, LockedSkill], reporter: Reporter
) -> None:
    """Warn about skills that are new to the lockfile, or changed; about all others only with `--verbose`.

    A few nested skills get a warning each; many are summarized in one, with `--verbose` listing them.
    """
    new = {name: skill for name, skill in skills.items() if not _is_locked(skill, locked.get(name))}
    for name, skill in skills.items():
        for warning in skill.warnings:
            (reporter.warn if name in new else reporter.log_verbose)(warning)
    nested = {name: skill.nested_skills for name, skill in new.items() if skill.nested_skills}
    are_few = sum(map(len, nested.values())) <= MAX_NAMED
    for name, skill in skills.items():
        for path in skill.nested_skills:
            report = reporter.warn if are_few and name in new else reporter.log_verbose
            report(f"{sanitize(name)}: contains another skill at {sanitize(path)}, which some hosts also load")
    if not are_few:
        names = ", ".join(sanitize(name, 64) for name in sorted(nested)[:MAX_NAMED])
        more = f" and {len(nested) - MAX_NAMED} more" if len(nested) > MAX_NAMED else ""
        subject = "1 skill contains" if len(nested) == 1 else f"{len(nested)} skills contain"
        reporter.warn(f"{subject} nested skills, which some hosts also load: {names}{more} (-v lists the files)")


def _is_locked(skill: FetchedSkill, locked: LockedSkill | None) -> bool:
    """Return whether the lockfile has exactly this content. Live links have no digest: the pin decides."""
    if locked is None or skill.version != locked.version or skill.digest != locked.digest:
        return False
    return skill.digest is not None or skill.pin == locked.pin
