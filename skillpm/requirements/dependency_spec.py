"""What a skill needs of other skills: the value forms of a manifest, but from somebody else's hand."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.decoder import Node
from skillpm.core.names import SkillName, skill_name
from skillpm.core.text import show
from skillpm.errors import DocumentError, RefusedError
from skillpm.requirements.manifest_requirements import read_requirement
from skillpm.requirements.source import GitSource, IndexSource, PathSource, Source, UrlSource

MOST = 500


def read_needs(dependencies: Mapping[str, Any], whose: str) -> dict[SkillName, Source]:
    """Understand the dependencies of a skill. Raises `RefusedError` for one that leads onto this machine, or over a
    line that anybody can listen to: only the user's own manifest may name such a place.
    """
    if len(dependencies) > MOST:
        raise RefusedError(f"{whose} needs {len(dependencies)} skills; at most {MOST} are allowed")
    needs = {}
    for key, value in dependencies.items():
        name = skill_name(key, where=f"{whose}: dependencies")
        try:
            source = read_requirement(name, Node(value, whose, ("dependencies", key)))
        except DocumentError as error:
            raise RefusedError(
                f"the dependencies of {whose} cannot be understood: {error.message}",
                where=error.where,
                hint="tell its author",
            ) from error
        if place := _private_place(source):
            raise RefusedError(
                f"{whose} needs `{name}` from {show(place)}, and only your own skills.json may name such a place",
                where=f"{whose}: dependencies.{key}",
                hint=f'if you trust it, decide yourself: "overrides": {{"{name}": …}} in skills.json',
            )
        needs[name] = source
    return needs


def is_range_of(source: Source) -> bool:
    """Tell whether a source leaves open which version is taken."""
    return isinstance(source, IndexSource) or (isinstance(source, GitSource) and source.kind == "version")


def range_text(source: Source) -> str:
    """Give the range a source asks for; `*` where it names no range."""
    if isinstance(source, IndexSource):
        return source.version
    return source.ref if isinstance(source, GitSource) and source.kind == "version" else "*"


def without_range(source: Source) -> Source:
    """Give where a source looks, whatever the version: equal places are listed once."""
    if isinstance(source, IndexSource):
        return source.but(version="*")
    return source.but(ref="*") if isinstance(source, GitSource) and source.kind == "version" else source


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


def _private_place(source: Source) -> str:
    match source:
        case PathSource():
            return source.path
        case GitSource() | UrlSource():
            return "" if source.url.startswith("https://") or _is_ssh(source.url) else source.url
        case IndexSource():
            return "" if not source.site or source.site.startswith("https://") else source.site
        case _:
            return ""


def _is_ssh(url: str) -> bool:
    return url.startswith("ssh://") or ("://" not in url and "@" in url.partition(":")[0])
