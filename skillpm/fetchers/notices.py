"""What the user should know of skills that were made exact, told once: when they come, not each time they are seen."""

from collections.abc import Mapping

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.events import Reporter
from skillpm.fetchers.base import FetchedSkill
from skillpm.formats.lockfile import LockedSkill

MAX_NAMED = 3


def report_warnings(
    skills: Mapping[SkillName, FetchedSkill], locked: Mapping[SkillName, LockedSkill], reporter: Reporter
) -> None:
    """Warn of what is new to a lockfile; of what is locked as it is, it was told then, and `--verbose` tells again.

    Skills inside of skills are told of a few one by one, of many in one line, and with `--verbose` of each.
    """
    news = {name: it for name, it in skills.items() if not _is_locked(it, locked.get(name))}
    for name, it in skills.items():
        for remark in it.warnings:
            (reporter.warn if name in news else reporter.log_verbose)(remark)
    inner = {name: it.nested_skills for name, it in news.items() if it.nested_skills}
    few = sum(map(len, inner.values())) <= MAX_NAMED
    for name, it in skills.items():
        for path in it.nested_skills:
            tell = reporter.warn if few and name in news else reporter.log_verbose
            tell(f"{sanitize(name)}: it holds another skill at {sanitize(path)}, which some hosts load too")
    if not few:
        names = ", ".join(sanitize(name, 64) for name in sorted(inner)[:MAX_NAMED])
        more = f" and {len(inner) - MAX_NAMED} more" if len(inner) > MAX_NAMED else ""
        who = "1 skill holds" if len(inner) == 1 else f"{len(inner)} skills hold"
        reporter.warn(f"{who} other skills inside, which some hosts load too: {names}{more} (-v names the files)")


def _is_locked(skill: FetchedSkill, locked: LockedSkill | None) -> bool:
    """Tell whether a lockfile has this very content. A live link has none there: the same link is the same."""
    if locked is None or skill.version != locked.version or skill.digest != locked.digest:
        return False
    return skill.digest is not None or skill.pin == locked.pin
