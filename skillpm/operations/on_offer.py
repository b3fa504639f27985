"""Which versions there are of locked skills, whatever is asked for, and which of them is the newest."""

from collections.abc import Mapping, Sequence

from skillpm.documents.lockfile import LockedSkill
from skillpm.documents.names import SkillName
from skillpm.documents.text import show
from skillpm.documents.versions import ANY, version_of
from skillpm.fetching.front import Fetchers
from skillpm.operations.asking import Askers
from skillpm.resolution.provider import Offered
from skillpm.sources.needs import is_range_of, without_range
from skillpm.sources.source import GitSource, Source


def offers_of(askers: Askers, fetchers: Fetchers, *, dated: bool) -> Mapping[SkillName, Sequence[Offered]]:
    """Give the versions there are of each skill that is asked for by range or by tag, whatever is asked for."""
    places: dict[SkillName, Source] = {}
    for name, asks in askers.items():
        for ask in asks:
            if is_range_of(ask.source):
                places.setdefault(name, without_range(ask.source))
            elif isinstance(ask.source, GitSource) and ask.source.kind == "tag":
                places.setdefault(name, ask.source.but(kind="version", ref=ANY))
    lists = fetchers.versions(places, dated=dated) if places else {}
    return {name: [*offered] for name, offered in lists.items()}


def best_of(offered: Sequence[Offered]) -> Offered | None:
    """Give the newest that is neither yanked nor, where there is another, a pre-release."""
    known = [(version, item) for item in offered if not item.yanked and (version := version_of(item.version))]
    final = [pair for pair in known if not pair[0].is_prerelease]
    return max(final or known, key=lambda pair: pair[0])[1] if known else None


def newer_than(best: Offered | None, wanted: LockedSkill, pinned: str) -> str:
    """Give the newest version there is, where it is another than what is wanted; a pinned one may be newer than all."""
    if best is None or best.version == wanted.version or (pinned and not _is_newer(best.version, wanted.version)):
        return ""
    return best.version


def yanked_why(offered: Sequence[Offered], version: str) -> str:
    """Say that a version was yanked, and why; nothing where it was not."""
    for item in offered:
        if item.yanked and item.version == version:
            return f"{show(version, 40)} was yanked" + (f": {show(item.reason)}" if item.reason else "")
    return ""


def _is_newer(version: str, than: str) -> bool:
    """Tell whether a version is newer than another; what is no version is newer than nothing."""
    one, other = version_of(version), version_of(than)
    return one is not None and other is not None and one > other
