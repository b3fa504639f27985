"""What is available of locked skills: versions, regardless of the constraints, and commits that are too new."""

from collections.abc import Mapping, Sequence

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.versions import ANY, is_newer, parse_version
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.kinds.base import Pin, Source, of_kind
from skillpm.kinds.git import GitPin, GitSource
from skillpm.locking.constraints import ConstraintsByName
from skillpm.resolver.provider import AvailableVersion


def fetch_versions(
    constraints: ConstraintsByName,
    locked: Mapping[SkillName, LockedSkill],
    fetchers: FetcherDispatcher,
    *,
    with_dates: bool,
) -> Mapping[SkillName, Sequence[AvailableVersion]]:
    """Return all available versions of each skill that is required by range or by tag.

    A skill of an index has versions only there: `update` never takes it from another one (`index_policy`).
    """
    sources: dict[SkillName, Source] = {}
    for name, each in constraints.items():
        for constraint in each:
            source = constraint.source
            if source.is_open and locked[name].pin.commit_id:
                continue  # it comes from a repository, so the versions of an index are those of another skill
            if source.has_open_version:
                sources.setdefault(name, source.without_range())
            elif isinstance(source, GitSource) and source.kind == "tag":
                sources.setdefault(name, source.replace(kind="version", ref=ANY))
    versions = fetchers.versions(sources, dated=with_dates) if sources else {}
    return {
        name: [version for version in available if not _is_elsewhere(version, locked[name].pin)]
        for name, available in versions.items()
    }


def _is_elsewhere(version: AvailableVersion, pin: Pin) -> bool:
    """Return whether a version is from another index than the locked one, or bundled with skillpm."""
    if not pin.index_url:
        return False
    offered = version.find_pin() if version.find_pin is not None else None
    is_other = offered is not None and offered.index_url not in {"", pin.index_url}
    return is_other or version.source.bundled_name != ""


def find_newest(versions: Sequence[AvailableVersion]) -> AvailableVersion | None:
    """Return the newest version that is not yanked; a pre-release only if there is no other."""
    known = [(version, item) for item in versions if not item.yanked and (version := parse_version(item.version))]
    final = [pair for pair in known if not pair[0].is_prerelease]
    return max(final or known, key=lambda pair: pair[0])[1] if known else None


def find_newer_version(newest: AvailableVersion | None, compatible: LockedSkill, pin_reason: str) -> str:
    """Return the newest version if it differs from the compatible one; for a pinned skill, only if it is newer."""
    if (
        newest is None
        or newest.version == compatible.version
        or (pin_reason and not is_newer(newest.version, compatible.version))
    ):
        return ""
    return newest.version


def find_unchanged_versions(
    newest: Mapping[SkillName, AvailableVersion | None], updated: Lockfile, fetchers: FetcherDispatcher
) -> set[SkillName]:
    """Return the skills of which a newer tag has the same content as the locked one."""
    sources = {
        name: version.source
        for name, version in newest.items()
        if version is not None and isinstance(version.source, GitSource)
        if version.version != updated.skills[name].version
    }
    skills = fetchers.pin_available(sources)
    return {name for name, skill in skills.items() if skill.digest == updated.skills[name].digest}


def find_excluded_commits(
    locked: Mapping[SkillName, LockedSkill], fetchers: FetcherDispatcher
) -> dict[SkillName, tuple[str, str]]:
    """Return the newest commit of each of these skills that is too new, shortened, and the reason. No network."""
    pins = of_kind(GitPin, {name: skill.pin for name, skill in locked.items()})
    return {
        name: (
            short_commit(commit),
            f"{short_commit(commit)} is {fetchers.cooldown.cutoff.description} (exclude-newer)",
        )
        for name, commit in sorted(fetchers.find_excluded(pins).items())
    }
