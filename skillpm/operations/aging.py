"""`outdated`: what could be newer. Skills directory, manifest and lockfile stay as they are; caches may fill."""

from collections.abc import Mapping, Sequence

from skillpm.documents.lockfile import Lockfile
from skillpm.documents.names import SkillName
from skillpm.documents.pin import describe_shortly
from skillpm.documents.text import show
from skillpm.documents.versions import version_of
from skillpm.fetching.front import Fetchers
from skillpm.installing.plan import label
from skillpm.operations.holding_back import cutoff_of
from skillpm.operations.paperwork import Paperwork, read_paperwork
from skillpm.operations.relock import Strictness, make_fetchers, relocked
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.resolution.provider import Offered
from skillpm.sources.needs import is_range_of, read_needs, without_range
from skillpm.sources.source import Source
from skillpm.values import Value


class Aged(Value):
    """A skill that could be newer: what is locked, what `update` would take, and the newest there is at all.

    `held` says why the newest is not taken where it is too young, or that the one there is was yanked.
    """

    name: SkillName
    current: str
    wanted: str
    latest: str
    source: str
    held: str = ""


def outdated_skills(scope: Scope, tools: Tools) -> list[Aged]:
    """Give the locked skills for which there is something newer, within what the manifest asks or beyond it."""
    papers, fetchers = read_paperwork(scope, tools), make_fetchers(scope, tools)
    locked = papers.lockfile
    after = relocked(scope, papers, fetchers, Strictness(), tuple(locked.skills))
    cutoff = cutoff_of(papers.manifest, tools.settings)
    offers = _offers(papers, after, fetchers, dated=bool(cutoff.moment))
    rows = []
    for name, skill in sorted(locked.skills.items()):
        new = after.skills.get(name, skill)
        wanted = label(skill) if new == skill else label(new)
        if new != skill and wanted == label(skill):
            wanted = describe_shortly(new.pin)  # the same version from another commit
        best, yanked = _best(offers.get(name, ())), _yanked(offers.get(name, ()), skill.version)
        latest = best.version if best else wanted
        if {wanted, latest} != {label(skill)} or yanked:
            young = best is not None and wanted != latest and cutoff.hides(best.published)
            held = f"{show(latest, 40)} is {cutoff.said} (exclude-newer)" if young else yanked
            source = describe_shortly(skill.pin)
            rows.append(Aged(name=name, current=label(skill), wanted=wanted, latest=latest, source=source, held=held))
    return rows


def _offers(
    papers: Paperwork, after: Lockfile, fetchers: Fetchers, *, dated: bool
) -> Mapping[SkillName, Sequence[Offered]]:
    """Give the versions there are of each skill that is asked for by range, whatever the range."""
    places: dict[SkillName, Source] = {}
    asked = [papers.overrides, papers.requirements]
    asked += [read_needs(skill.dependencies, f"`{name}`") for name, skill in after.skills.items() if skill.dependencies]
    for sources in asked:
        for name, source in sources.items():
            if is_range_of(source) and name in after.skills:
                places.setdefault(name, without_range(source))
    lists = fetchers.versions(places, dated=dated) if places else {}
    return {name: [*offered] for name, offered in lists.items()}


def _yanked(offered: Sequence[Offered], version: str) -> str:
    """Say that a version was yanked, and why; nothing where it was not."""
    for item in offered:
        if item.yanked and item.version == version:
            return f"{show(version, 40)} was yanked" + (f": {show(item.reason)}" if item.reason else "")
    return ""


def _best(offered: Sequence[Offered]) -> Offered | None:
    """Give the newest that is neither yanked nor, where there is another, a pre-release."""
    known = [(version, item) for item in offered if not item.yanked and (version := version_of(item.version))]
    final = [pair for pair in known if not pair[0].is_prerelease]
    return max(final or known, key=lambda pair: pair[0])[1] if known else None
