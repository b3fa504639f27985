"""Versions of a skill from the tags of its repository (docs/formats.md, "Versions in tags")."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.versions import filter_versions, parse_version
from skillpm.errors import NotFoundError, RefusedError
from skillpm.fetchers.git.history import read_tag_dates
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.skill_finder import find_all_skills, find_by_name
from skillpm.kinds.git import DEFAULT_REF, GitSource, parse_tag_version, tag_prefixes
from skillpm.resolver.provider import AvailableVersion

if TYPE_CHECKING:
    from packaging.version import Version

MAX_TAGS = 20_000
PREFIXED_TAG = lazy_pattern(r".+(?:-|@|/)v?[0-9].*", re.ASCII)
LogFunctions = tuple[Callable[[str], None], Callable[[str], None]]


def list_tag_versions(
    repository: Repository, source: GitSource, name: str, log: LogFunctions, *, dated: bool = False
) -> list[AvailableVersion]:
    """List the tagged versions of a skill named `name`; `log` are the functions for warnings and verbose output.

    A tag with the skill's name is a version of that skill, one with the name of a folder that holds it, of all skills
    there, and a plain tag of the whole repository; the most specific ones count. `dated` adds the dates of the commits,
    at the cost of one more request.
    """
    tags = repository.list_remote_tags()
    if len(tags) > MAX_TAGS:
        raise RefusedError(f"{repository.url} has {len(tags)} tags; skillpm reads at most {MAX_TAGS}")
    chosen = _choose_tags(repository, source, name, sorted(tags))
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


def _choose_tags(repository: Repository, source: GitSource, name: str, tags: Sequence[str]) -> dict[str, str]:
    """Return the tags that are versions of a skill, with their versions: the most specific ones that exist."""
    plain = {tag: version for tag in tags if (version := parse_tag_version(tag, set()))}

    def select(names: set[str]) -> dict[str, str]:
        return {tag: version for tag in tags if tag not in plain and (version := parse_tag_version(tag, names))}

    first, *_ = tag_prefixes(name, source.path, repository.url)
    if chosen := select({*first, source.skill}):
        return chosen
    path = source.path
    if not path and any(PREFIXED_TAG.fullmatch(tag) for tag in tags if tag not in plain):
        path = _find_path(repository, source.skill or name)
    *holders, whole = tag_prefixes(name, path, repository.url)
    return next((chosen for names in holders[1:] if (chosen := select(names))), {}) or plain | select(whole)


def _find_path(repository: Repository, skill: str) -> str:
    """Return the folder of a skill on the default branch, which says who holds it; empty if it has none, or several."""
    try:
        locations = find_all_skills(repository, repository.resolve_commits([DEFAULT_REF])[DEFAULT_REF][1])
        found = find_by_name(repository, locations, skill, is_explicit=False)
    except (NotFoundError, RefusedError):
        return ""
    return found[0].path if len(found) == 1 else ""


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
