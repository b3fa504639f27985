"""The skills that a skill says it needs: `metadata.skill-dependencies`, or a `skills.json` beside its SKILL.md.

They have a key of their own, since in the wild `requires` and `dependencies` name programs and pip packages.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from skillpm.core.decoder import Node, parse_json
from skillpm.core.names import skill_name
from skillpm.core.text import show
from skillpm.core.versions import ANY, RANGE_HINT, is_range, range_of
from skillpm.errors import DocumentError
from skillpm.formats.manifest import document_kind, read_manifest

KEY = "skill-dependencies"
FILE = "skills.json"
ONE = re.compile(r"([a-z0-9-]+)\s*(?:@\s*)?(.*)", re.ASCII | re.DOTALL)
LARGEST = 1_000_000


def needs_of(metadata: Mapping[str, Any], beside: bytes | None) -> dict[str, Any]:
    """Give what a skill needs, in the value forms of a manifest; `beside` are the bytes of a `skills.json`.

    A file that is no manifest is another tool's business. Raises `DocumentError` for what cannot be understood.
    """
    said = metadata.get(KEY)
    needs = _from_words("; ".join(said) if isinstance(said, list | tuple) else said)
    if beside is not None and len(beside) <= LARGEST:
        needs |= _from_manifest(beside)
    return dict(sorted(needs.items()))


def told_otherwise(said: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Give in what somebody who speaks for a skill (`said`) tells other needs than the skill itself; empty where they
    mean the same.
    """
    for name in sorted({*said, *own}):
        if not _is_same(said.get(name), own.get(name)):
            return f"{_shown(name, said.get(name))}, and the skill says {_shown(name, own.get(name))}"
    return ""


def _is_same(one: Any, other: Any) -> bool:
    if one == other or not (isinstance(one, str) and isinstance(other, str)):
        return bool(one == other)
    return is_range(one) and is_range(other) and range_of(one).means(range_of(other))


def _shown(name: str, wanted: Any) -> str:
    if wanted is None:
        return f"no `{name}`"
    return f"`{name}` {show(wanted if isinstance(wanted, str) else json.dumps(wanted, ensure_ascii=False), 80)}"


def _from_words(said: Any) -> dict[str, Any]:
    """Read `git-basics>=1; code-style`."""
    if said is None:
        return {}
    where = f"metadata.{KEY}"
    if not isinstance(said, str):
        raise DocumentError("expected text like `git-basics>=1; code-style`", where=where)
    needs: dict[str, Any] = {}
    for part in (piece.strip() for piece in re.split(r"[;\n]", said)):
        if not part:
            continue
        match = ONE.fullmatch(part)
        if match is None:
            raise DocumentError(f"`{show(part, 80)}` names no skill", where=where, hint="like `git-basics>=1`")
        wanted = match[2].strip() or ANY
        if not is_range(wanted):
            raise DocumentError(f"`{show(wanted, 80)}` is no version range", where=where, hint=RANGE_HINT)
        needs[skill_name(match[1], where=where)] = wanted
    return needs


def _from_manifest(data: bytes) -> dict[str, Any]:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DocumentError("this is not UTF-8", where=FILE) from error
    top = parse_json(text, FILE)
    if document_kind(top) != "manifest":
        return {}
    skills = read_manifest(text, FILE).skills
    for name, value in skills.items():
        _check_form(Node(value, FILE, ("skills", name)))
    return dict(skills.items())


def _check_form(node: Node) -> None:
    """A lockfile repeats these values: text, or an object of words."""
    if isinstance(node.value, dict):
        wrong = next((key for key, part in node.value.items() if not isinstance(part, str | bool)), None)
        if wrong is not None:
            node.need(wrong).expected("text or true")
    else:
        node.text()
