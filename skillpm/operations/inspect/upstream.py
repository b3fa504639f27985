"""Which versions there are of locked skills, whatever is asked for, and which of them is the newest."""

from collections.abc import Mapping, Sequence

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.versions import ANY, version_of
from skillpm.fetchers.dispatcher import Fetchers
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import GitPin
from skillpm.operations.inspect.constraints import Askers
from skillpm.requirements.dependency_spec import is_range_of, without_range
from skillpm.requirements.source import GitSource, Source
from skillpm.resolver.provider import Offered


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


def moved_tags(before: Lockfile, after: Lockfile) -> list[str]:
    """Say which tags do not mean what they meant: a tag is a promise, and somebody broke it."""
    return [f"{name}: {said}" for name, said in tags_that_moved(before, after).items()]


def tags_that_moved(before: Lockfile, after: Lockfile) -> dict[SkillName, str]:
    """Give what is to be said of each skill whose tag moved."""
    messages = {}
    for name, skill in sorted(after.skills.items()):
        old = before.skills.get(name)
        if (
            old is not None
            and isinstance(old.pin, GitPin)
            and isinstance(skill.pin, GitPin)
            and old.pin.ref == skill.pin.ref
            and old.pin.url == skill.pin.url
            and old.pin.commit != skill.pin.commit
            and skill.pin.ref.startswith("refs/tags/")
        ):
            tag = skill.pin.ref.removeprefix("refs/tags/")
            moved = f"{short_commit(old.pin.commit)} → {short_commit(skill.pin.commit)}"
            messages[name] = f"tag {tag} moved {moved}"
    return messages
