"""Which of the versions that an index offers is taken, and what to say when none is."""

from collections.abc import Sequence

from skillpm.core.exclude_newer import EVERYTHING, Cutoff, ask_publisher, take_younger
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.versions import ANY, matches, matching
from skillpm.errors import NotFoundError
from skillpm.indexes.client.index import Offering
from skillpm.requirements.source import IndexSource


def newest(name: SkillName, source: IndexSource, offered: Sequence[Offering], cutoff: Cutoff = EVERYTHING) -> Offering:
    """Choose the newest version in a range: never a yanked one or one that is too new, a pre-release only where
    there is nothing else or the range speaks of one. A skill without versions is looked at later.
    """
    if len(offered) == 1 and not offered[0].version:
        return offered[0]
    free = [item for item in offered if not item.yanked and not cutoff.hides(item.published)]
    inside = matching(source.version, [item.version for item in free])
    taken = [item for item in free if item.version in inside]
    if taken:
        return taken[0]
    young = [item for item in offered if not item.yanked and cutoff.hides(item.published)]
    if fresh := matching(source.version, [item.version for item in young]):
        raise NotFoundError(
            f"`{name}`{'' if source.version == ANY else f' {source.version}'} is not there: "
            f"{fresh[0]} is {cutoff.said} (exclude-newer)",
            hint=take_younger(fresh[0]),
        )
    fitting = [item for item in offered if matches(source.version, item.version)]
    where = f"the index {offered[0].index.name}" if offered else "the index"
    if fitting:
        why = f": {show(fitting[0].reason)}" if fitting[0].reason else ""
        raise NotFoundError(
            f"`{name}` {fitting[0].version} was yanked from {where}{why}", hint=_has(offered, ask_publisher(name))
        )
    raise NotFoundError(f"{where} has no `{name}` {source.version}", hint=_has(offered, "ask for another version"))


def _has(offered: Sequence[Offering], advice: str) -> str:
    versions = [item.version for item in offered if item.version and not item.yanked]
    return f"it has {', '.join(versions[:10])}{' and more' if len(versions) > 10 else ''}" if versions else advice  # noqa: PLR2004
