"""The versions of a skill that a repository's tags name (docs/formats.md, "Versions in tags")."""

import posixpath
from collections.abc import Callable, Iterable

from skillpm.core.text import show
from skillpm.core.versions import matching, version_of
from skillpm.errors import NotFoundError, RefusedError
from skillpm.fetchers.git.history import dates_of
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.metadata import version_in_tag
from skillpm.requirements.source import GitSource
from skillpm.resolver.provider import Offered

MOST_TAGS = 20_000
Tell = tuple[Callable[[str], None], Callable[[str], None]]


def tagged_versions(
    repository: Repository, source: GitSource, name: str, tell: Tell, *, dated: bool = False
) -> list[Offered]:
    """List the versions that tags name, of a skill called `name`; `tell` are the listeners for warnings and details.

    Tags that bear the skill's name are the only ones where there are such; a plain tag is the whole repository's. When
    their commits were made costs one more question, asked only where it is to be `dated`.
    """
    tags = repository.remote_tags()
    if len(tags) > MOST_TAGS:
        raise RefusedError(f"{repository.url} has {len(tags)} tags; at most {MOST_TAGS} are looked at")
    names = {name, source.skill, posixpath.basename(source.path)} - {"", "."}
    known = {tag: version for tag in sorted(tags) if (version := version_in_tag(tag, names))}
    bearing = {tag for tag in known if any(tag.startswith(word) for word in names)}
    chosen = {tag: version for tag, version in known.items() if tag in bearing or not bearing}
    warning, note = tell
    if ignored := [tag for tag in sorted(tags) if tag not in chosen]:
        said = ", ".join(show(tag, 60) for tag in ignored)
        note(f"{name}: these tags of {repository.url} are no versions of it: {said}")
    kept = _one_each(chosen, tags, lambda said: warning(f"{name}: {said}"))
    dates = dates_of(repository, kept) if dated else {}
    return [
        Offered(version=chosen[tag], source=source.but(kind="tag", ref=tag), published=dates.get(tag, ""))
        for tag in kept
    ]


def newest_tag(repository: Repository, source: GitSource, offered: list[Offered]) -> str:
    """Give the tag of the newest version in a source's range."""
    inside = matching(source.ref, [item.version for item in offered])
    fitting = [item for item in offered if item.version in inside]
    if not fitting:
        there = ", ".join(show(item.version, 40) for item in offered[:8])
        hint = f"its tags name: {there}" if there else "none of its tags is a version: follow a branch with --branch"
        raise NotFoundError(f"{repository.url} has no tag in the range {show(source.ref, 60)}", hint=hint)
    newest = max((version, item.version) for item in fitting if (version := version_of(item.version)) is not None)[1]
    return next(item.source.ref for item in fitting if item.version == newest and isinstance(item.source, GitSource))


def newest_first(tags: Iterable[str]) -> list[str]:
    """Give tags by the versions they name, the newest first; behind them those that name none."""
    known = {tag: version_of(version_in_tag(tag, set()) or "") for tag in sorted(tags)}
    versions = sorted(((version, tag) for tag, version in known.items() if version is not None), reverse=True)
    return [*(tag for _, tag in versions), *(tag for tag, version in known.items() if version is None)]


def _one_each(chosen: dict[str, str], commits: dict[str, str], warning: Callable[[str], None]) -> list[str]:
    """Leave one tag for each version: the one with more parts, where they are on different commits with a warning."""
    by_version: dict[object, list[str]] = {}
    for tag, version in chosen.items():
        by_version.setdefault(version_of(version), []).append(tag)
    found = []
    for tags in by_version.values():
        best, *others = sorted(tags, key=lambda tag: (-chosen[tag].count("."), tag))
        found.append(best)
        warnings = [other for other in others if commits[other] != commits[best]]
        if warnings:
            warning(f"the tags {show(best, 60)} and {show(warnings[0], 60)} name one version and different commits")
    return found
