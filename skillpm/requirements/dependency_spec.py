"""Dependencies of skills: the value forms of a manifest, but untrusted."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.decoder import JsonNode
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.text import sanitize
from skillpm.errors import DocumentError, RefusedError
from skillpm.requirements.manifest_requirements import read_requirement
from skillpm.requirements.source import GitSource, IndexSource, PathSource, Source, UrlSource

MAX_DEPENDENCIES = 500


def read_dependencies(dependencies: Mapping[str, Any], owner: str) -> dict[SkillName, Source]:
    """Parse the dependencies of a skill.

    Raises `RefusedError` for a local path or a URL without encryption. Only the user's own manifest may name these: a
    skill could otherwise install any folder of this machine, or content that can be tampered with in transit.
    """
    if len(dependencies) > MAX_DEPENDENCIES:
        raise RefusedError(f"{owner} requires {len(dependencies)} skills; at most {MAX_DEPENDENCIES} are allowed")
    sources = {}
    for key, value in dependencies.items():
        name = parse_skill_name(key, where=f"{owner}: dependencies")
        try:
            source = read_requirement(name, JsonNode(value, owner, ("dependencies", key)))
        except DocumentError as error:
            raise RefusedError(
                f"invalid dependencies of {owner}: {error.message}",
                where=error.where,
                hint="report it to its author",
            ) from error
        if location := _private_location(source):
            raise RefusedError(
                f"{owner} requires `{name}` from {sanitize(location)}, a source that only your skills.json may name",
                where=f"{owner}: dependencies.{key}",
                hint=f'if you trust it, override it: "overrides": {{"{name}": …}} in skills.json',
            )
        sources[name] = source
    return sources


def has_open_version(source: Source) -> bool:
    """Return whether a source allows several versions."""
    return isinstance(source, IndexSource) or (isinstance(source, GitSource) and source.kind == "version")


def version_range_of(source: Source) -> str:
    """Return the version range of a source; `*` if it has none."""
    if isinstance(source, IndexSource):
        return source.version
    return source.ref if isinstance(source, GitSource) and source.kind == "version" else "*"


def without_range(source: Source) -> Source:
    """Return a source without its version range: equal results are queried once."""
    if isinstance(source, IndexSource):
        return source.replace(version="*")
    return source.replace(ref="*") if isinstance(source, GitSource) and source.kind == "version" else source


def is_same_folder(one: Source | None, other: Source | None) -> bool:
    """Return whether two sources are the same folder of a repository, whatever the version.

    If only one of them has a path, that is where the other is assumed to find the skill by its name.
    """
    return (
        isinstance(one, GitSource)
        and isinstance(other, GitSource)
        and one.url == other.url
        and (one.path == other.path or not (one.path and other.path))
        and (one.skill == other.skill or not (one.skill and other.skill))
    )


def covers(one: Source | None, other: Source | None) -> bool:
    """Return whether a fixed source specifies everything that another one does, for the same folder and ref.

    It may specify more: a path where the other finds the skill by its name.
    """
    return (
        isinstance(one, GitSource)
        and isinstance(other, GitSource)
        and (one.kind, one.ref) == (other.kind, other.ref)
        and is_same_folder(one, other)
        and (one.path == other.path or not other.path)
        and (one.skill == other.skill or not other.skill or one.path != "")
    )


def _private_location(source: Source) -> str:
    match source:
        case PathSource():
            return source.path
        case GitSource() | UrlSource():
            return "" if source.url.startswith("https://") or _is_ssh(source.url) else source.url
        case IndexSource():
            return "" if not source.index_url or source.index_url.startswith("https://") else source.index_url
        case _:
            return ""


def _is_ssh(url: str) -> bool:
    return url.startswith("ssh://") or ("://" not in url and "@" in url.partition(":")[0])
