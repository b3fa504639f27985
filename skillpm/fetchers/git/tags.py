"""The versions of a skill that a repository's tags name (docs/formats.md, "Versions in tags")."""

import posixpath
from collections.abc import Callable, Iterable

from skillpm.core.text import sanitize
from skillpm.core.versions import filter_versions, parse_version
from skillpm.errors import NotFoundError, RefusedError
from skillpm.fetchers.git.history import read_tag_dates
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.metadata import parse_tag_version
from skillpm.requirements.source import GitSource
from skillpm.resolver.provider import AvailableVersion

MAX_TAGS = 20_000
LogFunctions = tuple[Callable[[str], None], Callable[[str], None]]


def list_tag_versions(
    repository: Repository, source: GitSource, name: str, log: LogFunctions, *, dated: bool = False
) -> list[AvailableVersion]:
    """List the versions that tags name, of a skill called `name`; `tell` are the listeners for warnings and details.

    Tags that bear the skill's name are the only ones where there are such; a plain tag is the whole repository's. When
    their commits were made costs one more question, asked only where it is to be `dated`.
    """
    tags = repository.list_remote_tags()
    if len(tags) > MAX_TAGS:
        raise RefusedError(f"{repository.url} has {len(tags)} tags; at most {MAX_TAGS} are looked at")
    names = {name, source.skill, posixpath.basename(source.path)} - {"", "."}
    known = {tag: version for tag in sorted(tags) if (version := parse_tag_version(tag, names))}
    bearing = {tag for tag in known if any(tag.startswith(word) for word in names)}
    chosen = {tag: version for tag, version in known.items() if tag in bearing or not bearing}
    warning, note = log
    if ignored := [tag for tag in sorted(tags) if tag not in chosen]:
        said = ", ".join(sanitize(tag, 60) for tag in ignored)
        note(f"{name}: these tags of {repository.url} are no versions of it: {said}")
    kept = _deduplicate_versions(chosen, tags, lambda said: warning(f"{name}: {said}"))
    dates = read_tag_dates(repository, kept) if dated else {}
    return [
        AvailableVersion(version=chosen[tag], source=source.replace(kind="tag", ref=tag), published=dates.get(tag, ""))
        for tag in kept
    ]


def find_newest_tag(repository: Repository, source: GitSource, versions: list[AvailableVersion]) -> str:
    """Give the tag of the newest version in a source's range."""
    inside = filter_versions(source.ref, [item.version for item in versions])
    fitting = [item for item in versions if item.version in inside]
    if not fitting:
        there = ", ".join(sanitize(item.version, 40) for item in versions[:8])
        hint = f"its tags name: {there}" if there else "none of its tags is a version: follow a branch with --branch"
        raise NotFoundError(f"{repository.url} has no tag in the range {sanitize(source.ref, 60)}", hint=hint)
    newest = max((version, item.version) for item in fitting if (version := parse_version(item.version)) is not None)[1]
    return next(item.source.ref for item in fitting if item.version == newest and isinstance(item.source, GitSource))


def sort_newest_first(tags: Iterable[str]) -> list[str]:
    """Give tags by the versions they name, the newest first; behind them those that name none."""
    known = {tag: parse_version(parse_tag_version(tag, set()) or "") for tag in sorted(tags)}
    versions = sorted(((version, tag) for tag, version in known.items() if version is not None), reverse=True)
    return [*(tag for _, tag in versions), *(tag for tag, version in known.items() if version is None)]


def _deduplicate_versions(versions: dict[str, str], commits: dict[str, str], warn: Callable[[str], None]) -> list[str]:
    """Leave one tag for each version: the one with more parts, where they are on different commits with a warning."""
    by_version: dict[object, list[str]] = {}
    for tag, version in versions.items():
        by_version.setdefault(parse_version(version), []).append(tag)
    found = []
    for tags in by_version.values():
        best, *others = sorted(tags, key=lambda tag: (-versions[tag].count("."), tag))
        found.append(best)
        warnings = [other for other in others if commits[other] != commits[best]]
        if warnings:
            warn(
                f"the tags {sanitize(best, 60)} and {sanitize(warnings[0], 60)} name one version and different commits"
            )
    return found
