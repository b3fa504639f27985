"""Which of the versions that an index offers is taken, and what to say when none is."""

from collections.abc import Sequence

from skillpm.core.exclude_newer import NO_CUTOFF, Cutoff, all_yanked_hint, allow_newer_hint
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.versions import ANY, filter_versions, matches
from skillpm.errors import NotFoundError
from skillpm.indexes.client.index import IndexRelease
from skillpm.requirements.source import IndexSource


def choose_newest(
    name: SkillName, source: IndexSource, releases: Sequence[IndexRelease], cutoff: Cutoff = NO_CUTOFF
) -> IndexRelease:
    """Choose the newest version in a range: never a yanked one or one that is too new, a pre-release only where
    there is nothing else or the range speaks of one. A skill without versions is looked at later.
    """
    if len(releases) == 1 and not releases[0].version:
        return releases[0]
    free = [item for item in releases if not item.yanked and not cutoff.excludes(item.published)]
    inside = filter_versions(source.version, [item.version for item in free])
    taken = [item for item in free if item.version in inside]
    if taken:
        return taken[0]
    young = [item for item in releases if not item.yanked and cutoff.excludes(item.published)]
    if fresh := filter_versions(source.version, [item.version for item in young]):
        raise NotFoundError(
            f"`{name}`{'' if source.version == ANY else f' {source.version}'} is not there: "
            f"{fresh[0]} is {cutoff.description} (exclude-newer)",
            hint=allow_newer_hint(fresh[0]),
        )
    fitting = [item for item in releases if matches(source.version, item.version)]
    where = f"the index {releases[0].index.name}" if releases else "the index"
    if fitting:
        why = f": {sanitize(fitting[0].reason)}" if fitting[0].reason else ""
        raise NotFoundError(
            f"`{name}` {fitting[0].version} was yanked from {where}{why}",
            hint=_available_hint(releases, all_yanked_hint(name)),
        )
    raise NotFoundError(
        f"{where} has no `{name}` {source.version}", hint=_available_hint(releases, "ask for another version")
    )


def _available_hint(releases: Sequence[IndexRelease], fallback: str) -> str:
    versions = [item.version for item in releases if item.version and not item.yanked]
    return f"it has {', '.join(versions[:10])}{' and more' if len(versions) > 10 else ''}" if versions else fallback  # noqa: PLR2004
