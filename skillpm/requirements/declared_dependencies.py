"""The dependencies that a skill declares: `metadata.skill-dependencies`, or a `skills.json` beside its SKILL.md.

The key is a new one, since in published skills `requires` and `dependencies` list programs and pip packages.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from skillpm.core.decoder import JsonNode, parse_json
from skillpm.core.names import parse_skill_name
from skillpm.core.text import sanitize
from skillpm.core.versions import ANY, RANGE_HINT, is_range, parse_range
from skillpm.errors import DocumentError
from skillpm.formats.manifest import document_kind, read_manifest

METADATA_KEY = "skill-dependencies"
MANIFEST_FILE = "skills.json"
DEPENDENCY = re.compile(r"([a-z0-9-]+)\s*(?:@\s*)?(.*)", re.ASCII | re.DOTALL)
MAX_MANIFEST_SIZE = 1_000_000


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
    skills = read_manifest(text, MANIFEST_FILE).skills
    for name, value in skills.items():
        _check_form(JsonNode(value, MANIFEST_FILE, ("skills", name)))
    return dict(skills.items())


def _check_form(node: JsonNode) -> None:
    """Check that a value has the form that lockfiles accept: a string, or an object of strings and booleans."""
    if isinstance(node.value, dict):
        invalid = next((key for key, part in node.value.items() if not isinstance(part, str | bool)), None)
        if invalid is not None:
            node.require(invalid).raise_expected("a string or true")
    else:
        node.text()
