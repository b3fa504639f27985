"""Versions of a skill from the tags of its repository (docs/formats.md, "Versions in tags")."""

import posixpath
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from skillpm.core.text import sanitize
from skillpm.core.versions import filter_versions, parse_version
from skillpm.errors import NotFoundError, RefusedError
from skillpm.fetchers.git.history import read_tag_dates
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.metadata import parse_tag_version
from skillpm.requirements.source import GitSource
from skillpm.resolver.provider import AvailableVersion

if TYPE_CHECKING:
    from packaging.version import Version

MAX_TAGS = 20_000
LogFunctions = tuple[Callable[[str], None], Callable[[str], None]]


def list_tag_versions(
    repository: Repository, source: GitSource, name: str, log: LogFunctions, *, dated: bool = False
) -> list[AvailableVersion]:
    """List the tagged versions of a skill named `name`; `log` are the functions for warnings and verbose output.

    A tag with the skill's name is a version of that skill, a plain tag of the whole repository; plain tags are ignored
    if any tag has the name. `dated` adds the dates of the commits, at the cost of one more request.
    """
    tags = repository.list_remote_tags()
    if len(tags) > MAX_TAGS:
        raise RefusedError(f"{repository.url} has {len(tags)} tags; skillpm reads at most {MAX_TAGS}")
    names = {name, source.skill, posixpath.basename(source.path)} - {"", "."}
    known = {tag: version for tag in sorted(tags) if (version := parse_tag_version(tag, names))}
    with_name = {tag for tag in known if any(tag.startswith(prefix) for prefix in names)}
    chosen = {tag: version for tag, version in known.items() if tag in with_name or not with_name}
    warning, note = log
    if ignored := [tag for tag in sorted(tags) if tag not in chosen]:
        listed = ", ".join(sanitize(tag, 60) for tag in ignored)
        note(f"{name}: ignoring tags of {repository.url} that are not versions of it: {listed}")
    unique = deduplicate_versions(chosen, tags, lambda message: warning(f"{name}: {message}"))
    dates = read_tag_dates(repository, unique) if dated else {}
    return [
        AvailableVersion(version=chosen[tag], source=source.replace(kind="tag", ref=tag), published=dates.get(tag, ""))
        for tag in unique
    ]


def find_newest_tag(repository: Repository, source: GitSource, versions: list[AvailableVersion]) -> str:
    """Return the tag of the newest version in a source's range. Raises `NotFoundError` if none is in it."""
    inside = filter_versions(source.ref, [item.version for item in versions])
    matching = [item for item in versions if item.version in inside]
    if not matching:
        available = ", ".join(sanitize(item.version, 40) for item in versions[:8])
        hint = (
            f"its tagged versions: {available}"
            if available
            else "none of its tags is a version; follow a branch with --branch"
        )
        raise NotFoundError(f"{repository.url} has no tag in the range {sanitize(source.ref, 60)}", hint=hint)
    newest = max((version, item.version) for item in matching if (version := parse_version(item.version)) is not None)[
        1
    ]
    return next(item.source.ref for item in matching if item.version == newest and isinstance(item.source, GitSource))


def sort_newest_first(tags: Iterable[str]) -> list[str]:
    """Return tags sorted by their versions, newest first, followed by those that are not versions."""
    known = {tag: parse_version(parse_tag_version(tag, set()) or "") for tag in sorted(tags)}
    versions = sorted(((version, tag) for tag, version in known.items() if version is not None), reverse=True)
    return [*(tag for _, tag in versions), *(tag for tag, version in known.items() if version is None)]


def deduplicate_versions(versions: dict[str, str], commits: dict[str, str], warn: Callable[[str], None]) -> list[str]:
    """Return one tag for each version, newest first: the one with most parts (`v1.0.0` before `v1`).

    `versions` maps tags to their versions. Warns if the commits of two tags differ.
    """
    by_version: dict[Version, list[str]] = {}
    for tag, text in versions.items():
        if (version := parse_version(text)) is not None:
            by_version.setdefault(version, []).append(tag)
    unique = []
    for version in sorted(by_version, reverse=True):
        best, *others = sorted(by_version[version], key=lambda tag: (-versions[tag].count("."), tag))
        unique.append(best)
        moved = [other for other in others if commits[other] != commits[best]]
        if moved:
            warn(f"the tags {sanitize(best, 60)} and {sanitize(moved[0], 60)} are one version on different commits")
    return unique
