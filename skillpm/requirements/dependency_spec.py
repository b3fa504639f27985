"""What a skill needs of other skills: the value forms of a manifest, but from somebody else's hand."""

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
    """Understand the dependencies of a skill. Raises `RefusedError` for one that leads onto this machine, or over a
    line that anybody can listen to: only the user's own manifest may name such a place.
    """
    if len(dependencies) > MAX_DEPENDENCIES:
        raise RefusedError(f"{owner} needs {len(dependencies)} skills; at most {MAX_DEPENDENCIES} are allowed")
    needs = {}
    for key, value in dependencies.items():
        name = parse_skill_name(key, where=f"{owner}: dependencies")
        try:
            source = read_requirement(name, JsonNode(value, owner, ("dependencies", key)))
        except DocumentError as error:
            raise RefusedError(
                f"the dependencies of {owner} cannot be understood: {error.message}",
                where=error.where,
                hint="tell its author",
            ) from error
        if place := _private_location(source):
            raise RefusedError(
                f"{owner} needs `{name}` from {sanitize(place)}, and only your own skills.json may name such a place",
                where=f"{owner}: dependencies.{key}",
                hint=f'if you trust it, decide yourself: "overrides": {{"{name}": …}} in skills.json',
            )
        needs[name] = source
    return needs


def has_open_version(source: Source) -> bool:
    """Tell whether a source leaves open which version is taken."""
    return isinstance(source, IndexSource) or (isinstance(source, GitSource) and source.kind == "version")


def version_range_of(source: Source) -> str:
    """Give the range a source asks for; `*` where it names no range."""
    if isinstance(source, IndexSource):
        return source.version
    return source.ref if isinstance(source, GitSource) and source.kind == "version" else "*"


def without_range(source: Source) -> Source:
    """Give where a source looks, whatever the version: equal places are listed once."""
    if isinstance(source, IndexSource):
        return source.replace(version="*")
    return source.replace(ref="*") if isinstance(source, GitSource) and source.kind == "version" else source


def is_same_folder(one: Source | None, other: Source | None) -> bool:
    """Tell whether two sources look at one folder of one repository, whatever the version. A folder that only one of
    them names is where the other will find the skill by its name.
    """
    return (
        isinstance(one, GitSource)
        and isinstance(other, GitSource)
        and one.url == other.url
        and (one.path == other.path or not (one.path and other.path))
        and (one.skill == other.skill or not (one.skill and other.skill))
    )


def covers(one: Source | None, other: Source | None) -> bool:
    """Tell whether a fixed source says all that another one says of the same folder at the same ref, and maybe more:
    a path where the other has the skill found by its name.
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
