"""The dependencies that a skill declares: `metadata.skill-dependencies`, or a `skills.json` beside its SKILL.md.

The key is a new one, since in published skills `requires` and `dependencies` list programs and pip packages.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from skillpm.core.decoder import JsonNode, parse_json
from skillpm.core.limits import MAX_DEPENDENCIES, MAX_MANIFEST_SIZE
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.versions import ANY, RANGE_HINT, is_range, parse_range
from skillpm.errors import DocumentError, RefusedError
from skillpm.formats.lockfile import read_locked_requirement
from skillpm.formats.manifest import document_kind, read_manifest
from skillpm.formats.oci.reference import is_loopback
from skillpm.requirements.manifest_requirements import read_requirement
from skillpm.requirements.source import (
    GitSource,
    IndexSource,
    OciSource,
    PackageSource,
    PathSource,
    Source,
    UrlSource,
)

METADATA_KEY = "skill-dependencies"
# Other names that authors use for dependencies; at the top level, also the one above. They are not read: in published
# skills, most list packages of Python and npm.
UNREAD_KEYS = frozenset(
    ["dependencies", "depends", "depends_on", "depends-on", "deps", METADATA_KEY, METADATA_KEY.replace("-", "_")]
)
MANIFEST_FILE = "skills.json"
DEPENDENCY = lazy_pattern(r"([a-z0-9-]+)\s*(?:@\s*)?(.*)", re.ASCII | re.DOTALL)


def read_declared_dependencies(metadata: Mapping[str, Any], manifest_bytes: bytes | None) -> dict[str, Any]:
    """Return the dependencies of a skill, in the value forms of a manifest; `manifest_bytes` are its `skills.json`.

    A `skills.json` that is not a manifest belongs to another tool, and is ignored. Raises `DocumentError`.
    """
    value = metadata.get(METADATA_KEY)
    dependencies = _parse_metadata_text("; ".join(value) if isinstance(value, list | tuple) else value)
    if manifest_bytes is not None and len(manifest_bytes) <= MAX_MANIFEST_SIZE:
        dependencies |= _parse_manifest(manifest_bytes)
    return dict(sorted(dependencies.items()))


def dependency_mismatch(published: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Return the first difference between the dependencies that an index publishes and those in the skill; or empty."""
    for name in sorted({*published, *own}):
        if not _is_same(published.get(name), own.get(name)):
            in_skill = _dependency_text(name, own.get(name))
            return f"{_dependency_text(name, published.get(name))}, but the skill declares {in_skill}"
    return ""


def _is_same(one: Any, other: Any) -> bool:
    if one == other or not (isinstance(one, str) and isinstance(other, str)):
        return bool(one == other)
    return is_range(one) and is_range(other) and parse_range(one).is_equivalent(parse_range(other))


def _dependency_text(name: str, requirement: Any) -> str:
    if requirement is None:
        return f"no `{name}`"
    text = requirement if isinstance(requirement, str) else json.dumps(requirement, ensure_ascii=False)
    return f"`{name}` {sanitize(text, 80)}"


def _parse_metadata_text(value: Any) -> dict[str, Any]:
    """Parse `git-basics>=1; code-style`."""
    if value is None:
        return {}
    where = f"metadata.{METADATA_KEY}"
    if not isinstance(value, str):
        raise DocumentError("expected a string like `git-basics>=1; code-style`", where=where)
    dependencies: dict[str, Any] = {}
    for part in (piece.strip() for piece in re.split(r"[;\n]", value)):
        if not part:
            continue
        match = DEPENDENCY.fullmatch(part)
        if match is None:
            raise DocumentError(f"`{sanitize(part, 80)}` names no skill", where=where, hint="e.g. `git-basics>=1`")
        version_range = match[2].strip() or ANY
        if not is_range(version_range):
            raise DocumentError(f"invalid version range `{sanitize(version_range, 80)}`", where=where, hint=RANGE_HINT)
        dependencies[parse_skill_name(match[1], where=where)] = version_range
    return dependencies


def _parse_manifest(data: bytes) -> dict[str, Any]:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DocumentError("this document is not UTF-8", where=MANIFEST_FILE) from error
    top = parse_json(text, MANIFEST_FILE)
    if document_kind(top) != "manifest":
        return {}
    read_manifest(text, MANIFEST_FILE)
    return {name: read_locked_requirement(node) for name, node in top.require("skills").items()}


def read_dependencies(dependencies: Mapping[str, Any], owner: str) -> dict[SkillName, Source]:
    """Parse the dependencies of a skill.

    Raises `RefusedError` for a local path, an installed package, or a URL without encryption. Only the user's own
    manifest may name these: a skill could otherwise install any folder of this machine, or content that can be
    tampered with in transit.
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
        if isinstance(source, GitSource) and source.files:
            raise RefusedError(
                f"{owner} requires only some files of `{name}`, which only your skills.json may choose",
                where=f"{owner}: dependencies.{key}.files",
                hint="report it to its author",
            )
        sources[name] = source
    return sources


def has_open_version(source: Source) -> bool:
    """Return whether a source allows several versions."""
    if isinstance(source, OciSource):
        return source.kind in {"", "version"}
    return isinstance(source, IndexSource) or (isinstance(source, GitSource) and source.kind == "version")


def version_range_of(source: Source) -> str:
    """Return the version range of a source; `*` if it has none."""
    if isinstance(source, IndexSource):
        return source.version
    return source.ref if isinstance(source, GitSource | OciSource) and source.kind == "version" else "*"


def without_range(source: Source) -> Source:
    """Return a source without its version range: equal results are queried once."""
    if isinstance(source, IndexSource):
        return source.replace(version="*")
    if isinstance(source, OciSource) and source.kind == "version":
        return source.replace(kind="", ref="")
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
        and (one.files == other.files or not (one.files and other.files))
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
        and (one.files == other.files or not other.files)
    )


def _private_location(source: Source) -> str:
    match source:
        case PathSource():
            return source.path
        case PackageSource():
            return f"{source.kind}:{source.package}"
        case OciSource():
            return f"oci://{source.repository}" if is_loopback(source.repository) else ""
        case GitSource() | UrlSource():
            return "" if source.url.startswith("https://") or _is_ssh(source.url) else source.url
        case IndexSource():
            return "" if not source.index_url or source.index_url.startswith("https://") else source.index_url
        case _:
            return ""


def _is_ssh(url: str) -> bool:
    return url.startswith("ssh://") or ("://" not in url and "@" in url.partition(":")[0])
