"""The dependencies that a skill declares: `metadata.skill-dependencies`, or a `skills.json` beside its SKILL.md.

The key is a new one, since in published skills `requires` and `dependencies` list programs and pip packages.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.limits import MAX_DEPENDENCIES, MAX_MANIFEST_SIZE
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.versions import ANY, RANGE_HINT, is_range, parse_range
from skillpm.errors import DocumentError, RefusedError
from skillpm.formats.lockfile import read_locked_requirement
from skillpm.formats.manifest import document_kind, read_manifest
from skillpm.kinds.base import Source
from skillpm.kinds.git import GitSource
from skillpm.requirements.manifest_requirements import read_requirement

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
        if location := source.private_location():
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
