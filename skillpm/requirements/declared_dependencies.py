"""The skills that a skill says it needs: `metadata.skill-dependencies`, or a `skills.json` beside its SKILL.md.

They have a key of their own, since in the wild `requires` and `dependencies` name programs and pip packages.
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
    """Give what a skill needs, in the value forms of a manifest; `beside` are the bytes of a `skills.json`.

    A file that is no manifest is another tool's business. Raises `DocumentError` for what cannot be understood.
    """
    said = metadata.get(METADATA_KEY)
    needs = _parse_metadata_text("; ".join(said) if isinstance(said, list | tuple) else said)
    if manifest_bytes is not None and len(manifest_bytes) <= MAX_MANIFEST_SIZE:
        needs |= _parse_manifest(manifest_bytes)
    return dict(sorted(needs.items()))


def dependency_mismatch(published: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Give in what somebody who speaks for a skill (`said`) tells other needs than the skill itself; empty where they
    mean the same.
    """
    for name in sorted({*published, *own}):
        if not _is_same(published.get(name), own.get(name)):
            return f"{_dependency_text(name, published.get(name))}, and the skill says {_dependency_text(name, own.get(name))}"
    return ""


def _is_same(one: Any, other: Any) -> bool:
    if one == other or not (isinstance(one, str) and isinstance(other, str)):
        return bool(one == other)
    return is_range(one) and is_range(other) and parse_range(one).is_equivalent(parse_range(other))


def _dependency_text(name: str, requirement: Any) -> str:
    if requirement is None:
        return f"no `{name}`"
    return f"`{name}` {sanitize(requirement if isinstance(requirement, str) else json.dumps(requirement, ensure_ascii=False), 80)}"


def _parse_metadata_text(value: Any) -> dict[str, Any]:
    """Read `git-basics>=1; code-style`."""
    if value is None:
        return {}
    where = f"metadata.{METADATA_KEY}"
    if not isinstance(value, str):
        raise DocumentError("expected text like `git-basics>=1; code-style`", where=where)
    needs: dict[str, Any] = {}
    for part in (piece.strip() for piece in re.split(r"[;\n]", value)):
        if not part:
            continue
        match = DEPENDENCY.fullmatch(part)
        if match is None:
            raise DocumentError(f"`{sanitize(part, 80)}` names no skill", where=where, hint="like `git-basics>=1`")
        wanted = match[2].strip() or ANY
        if not is_range(wanted):
            raise DocumentError(f"`{sanitize(wanted, 80)}` is no version range", where=where, hint=RANGE_HINT)
        needs[parse_skill_name(match[1], where=where)] = wanted
    return needs


def _parse_manifest(data: bytes) -> dict[str, Any]:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DocumentError("this is not UTF-8", where=MANIFEST_FILE) from error
    top = parse_json(text, MANIFEST_FILE)
    if document_kind(top) != "manifest":
        return {}
    skills = read_manifest(text, MANIFEST_FILE).skills
    for name, value in skills.items():
        _check_form(JsonNode(value, MANIFEST_FILE, ("skills", name)))
    return dict(skills.items())


def _check_form(node: JsonNode) -> None:
    """A lockfile repeats these values: text, or an object of words."""
    if isinstance(node.value, dict):
        wrong = next((key for key, part in node.value.items() if not isinstance(part, str | bool)), None)
        if wrong is not None:
            node.require(wrong).raise_expected("text or true")
    else:
        node.text()
