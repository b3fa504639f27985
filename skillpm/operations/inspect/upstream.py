"""Which versions there are of locked skills, whatever is asked for, and which of them is the newest."""

from collections.abc import Mapping, Sequence

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.versions import ANY, parse_version
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import GitPin
from skillpm.operations.inspect.constraints import ConstraintsByName
from skillpm.requirements.dependency_spec import has_open_version, without_range
from skillpm.requirements.source import GitSource, Source
from skillpm.resolver.provider import AvailableVersion


def fetch_versions(
    constraints: ConstraintsByName, fetchers: FetcherDispatcher, *, with_dates: bool
) -> Mapping[SkillName, Sequence[AvailableVersion]]:
    """Give the versions there are of each skill that is asked for by range or by tag, whatever is asked for."""
    places: dict[SkillName, Source] = {}
    for name, asks in constraints.items():
        for ask in asks:
            if has_open_version(ask.source):
                places.setdefault(name, without_range(ask.source))
            elif isinstance(ask.source, GitSource) and ask.source.kind == "tag":
                places.setdefault(name, ask.source.replace(kind="version", ref=ANY))
    lists = fetchers.versions(places, dated=with_dates) if places else {}
    return {name: [*offered] for name, offered in lists.items()}


def find_newest(versions: Sequence[AvailableVersion]) -> AvailableVersion | None:
    """Give the newest that is neither yanked nor, where there is another, a pre-release."""
    known = [(version, item) for item in versions if not item.yanked and (version := parse_version(item.version))]
    final = [pair for pair in known if not pair[0].is_prerelease]
    return max(final or known, key=lambda pair: pair[0])[1] if known else None


def find_newer_version(newest: AvailableVersion | None, compatible: LockedSkill, pin_reason: str) -> str:
    """Give the newest version there is, where it is another than what is wanted; a pinned one may be newer than all."""
    if (
        newest is None
        or newest.version == compatible.version
        or (pin_reason and not _is_newer(newest.version, compatible.version))
    ):
        return ""
    return newest.version


def find_yank_reason(versions: Sequence[AvailableVersion], version: str) -> str:
    """Say that a version was yanked, and why; nothing where it was not."""
    for item in versions:
        if item.yanked and item.version == version:
            return f"{sanitize(version, 40)} was yanked" + (f": {sanitize(item.reason)}" if item.reason else "")
    return ""


def _is_newer(version: str, other: str) -> bool:
    """Tell whether a version is newer than another; what is no version is newer than nothing."""
    parsed, parsed_other = parse_version(version), parse_version(other)
    return parsed is not None and parsed_other is not None and parsed > parsed_other


def moved_tag_messages(before: Lockfile, after: Lockfile) -> list[str]:
    """Say which tags do not mean what they meant: a tag is a promise, and somebody broke it."""
    return [f"{name}: {said}" for name, said in find_moved_tags(before, after).items()]


def find_moved_tags(before: Lockfile, after: Lockfile) -> dict[SkillName, str]:
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
