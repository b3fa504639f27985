"""What the user should know of skills that were made exact, told once: when they come, not each time they are seen."""

from collections.abc import Mapping

from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.events import Reporter
from skillpm.fetchers.base import Found
from skillpm.formats.lockfile import LockedSkill

MOST_NAMED = 3


def tell_remarks(found: Mapping[SkillName, Found], locked: Mapping[SkillName, LockedSkill], reporter: Reporter) -> None:
    """Warn of what is new to a lockfile; of what is locked as it is, it was told then, and `--verbose` tells again.

    Skills inside of skills are told of a few one by one, of many in one line, and with `--verbose` of each.
    """
    news = {name: it for name, it in found.items() if not _is_locked(it, locked.get(name))}
    for name, it in found.items():
        for remark in it.remarks:
            (reporter.warning if name in news else reporter.note)(remark)
    inner = {name: it.inner for name, it in news.items() if it.inner}
    few = sum(map(len, inner.values())) <= MOST_NAMED
    for name, it in found.items():
        for path in it.inner:
            tell = reporter.warning if few and name in news else reporter.note
            tell(f"{show(name)}: it holds another skill at {show(path)}, which some hosts load too")
    if not few:
        names = ", ".join(show(name, 64) for name in sorted(inner)[:MOST_NAMED])
        more = f" and {len(inner) - MOST_NAMED} more" if len(inner) > MOST_NAMED else ""
        who = "1 skill holds" if len(inner) == 1 else f"{len(inner)} skills hold"
        reporter.warning(f"{who} other skills inside, which some hosts load too: {names}{more} (-v names the files)")


def _is_locked(found: Found, locked: LockedSkill | None) -> bool:
    """Tell whether a lockfile has this very content. A live link has none there: the same link is the same."""
    if locked is None or found.version != locked.version or found.digest != locked.digest:
        return False
    return found.digest is not None or found.pin == locked.pin
