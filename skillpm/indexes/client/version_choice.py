"""Choose a version of a skill among the releases of an index, or explain why there is none."""

from collections.abc import Sequence

from skillpm.core.exclude_newer import NO_CUTOFF, Cutoff, all_yanked_hint
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.versions import ANY, filter_versions, matches
from skillpm.errors import NotFoundError
from skillpm.indexes.client.index import IndexRelease
from skillpm.kinds.index import IndexSource


def choose_newest(
    name: SkillName, source: IndexSource, releases: Sequence[IndexRelease], cutoff: Cutoff = NO_CUTOFF
) -> IndexRelease:
    """Return the newest release in a range that is neither yanked nor too new. `releases` are sorted, newest first.

    A pre-release is chosen only if there is nothing else or the range names one. A single release without a version is
    returned as it is: its version is not known before it is downloaded. Raises `NotFoundError`.
    """
    if len(releases) == 1 and not releases[0].version:
        return releases[0]
    eligible = [item for item in releases if not item.yanked and not cutoff.excludes(item.published)]
    in_range = {*filter_versions(source.version, [item.version for item in eligible])}
    candidates = [item for item in eligible if item.version in in_range]
    if candidates:
        return candidates[0]
    excluded = [item for item in releases if not item.yanked and cutoff.excludes(item.published)]
    if too_new := filter_versions(source.version, [item.version for item in excluded]):
        raise NotFoundError(
            f"`{name}`{'' if source.version == ANY else f' {source.version}'}: no version is old enough: "
            f"{too_new[0]} is {cutoff.description} (exclude-newer)",
            hint=cutoff.allow_hint(too_new[0]),
        )
    yanked = [item for item in releases if matches(source.version, item.version)]
    index = f"the index {releases[0].index.name}" if releases else "the index"
    if yanked:
        reason = f": {sanitize(yanked[0].reason)}" if yanked[0].reason else ""
        raise NotFoundError(
            f"`{name}` {yanked[0].version} was yanked from {index}{reason}",
            hint=_available_hint(releases, all_yanked_hint(name)),
        )
    raise NotFoundError(
        f"`{name}`: no version in {index} satisfies {source.version}",
        hint=_available_hint(releases, "require another version"),
    )


def _available_hint(releases: Sequence[IndexRelease], fallback: str) -> str:
    versions = [item.version for item in releases if item.version and not item.yanked]
    return f"available: {', '.join(versions[:10])}{' and more' if len(versions) > 10 else ''}" if versions else fallback  # noqa: PLR2004
