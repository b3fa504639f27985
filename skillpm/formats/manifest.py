"""`skills.json` of a project or user: what is wanted (docs/formats.md, "skills.json, the manifest").

People write this file, so it is edited in place (`json_edit`) and never written anew. What each requirement means
is the next room's business (`sources`): here it is a checked name and a JSON value.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

from skillpm.core.decoder import JsonNode, parse_json, unknown_key_error
from skillpm.core.names import SkillName, is_skill_name, parse_skill_name
from skillpm.core.suggestions import closest_matches
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError, NewerDocument
from skillpm.formats.index_sources import ConfiguredIndex, read_indexes

FORMAT = 1
SCHEMA = f"urn:skillpm:schema:manifest:{FORMAT}"
SCHEMA_NUMBER = re.compile(r"urn:skillpm:schema:manifest:([0-9]{1,9})")
KNOWN_KEYS = ("$schema", "name", "skills", "indexes", "agents", "disabled", "permissions", "overrides", "exclude-newer")
START_HINT = 'a manifest has `"skills": {}`; start one with `skillpm init`, or work in user scope with `-g`'
MAX_EXAMPLES = 3
ACTIONS = ("allow", "ask", "deny")
EMPTY_MANIFEST = '{\n  "$schema": "' + SCHEMA + '",\n  "skills": {}\n}\n'


class Manifest(Value):
    """What is wanted. `agents` is None where the manifest does not speak of agents at all."""

    file: str
    skills: Mapping[SkillName, Any] = EMPTY_MAPPING
    agents: tuple[str, ...] | None = None
    disabled: Mapping[SkillName, Any] = EMPTY_MAPPING
    permissions: Mapping[str, str] = EMPTY_MAPPING
    overrides: Mapping[SkillName, Any] = EMPTY_MAPPING
    indexes: tuple[ConfiguredIndex, ...] = ()
    exclude_newer: str = ""
    unknown_keys: tuple[str, ...] = ()

    @property
    def disabled_for_all(self) -> set[SkillName]:
        """The skills that are disabled for everybody."""
        return {name for name, agents in self.disabled.items() if agents is True}


def document_kind(top: JsonNode) -> Literal["manifest", "registry", "foreign"]:
    """Tell a manifest from a registry, and from another tool's file, which may all be called skills.json."""
    if not isinstance(top.value, dict):
        return "foreign"
    skills = top.value.get("skills")
    if isinstance(skills, list):
        # One entry that is no object is a slip in somebody's registry; where none is one, it is another tool's list.
        return "registry" if not skills or any(isinstance(skill, dict) for skill in skills) else "foreign"
    ours = isinstance(skills, dict) and not {"installDir", "linkTargets", "patchedSkills"} & set(top.value)
    return "manifest" if ours else "foreign"


def mistyped_manifest_error(top: JsonNode) -> DocumentError | None:
    """Tell what is wrong with a file that is no manifest and yet is meant to be one: it has no key of another tool."""
    if not isinstance(top.value, dict):
        return None
    if "skills" in top.value:
        return _name_list_error(top.require("skills"))
    for key, node in top.items():
        if key not in KNOWN_KEYS:
            return unknown_key_error(node, key, KNOWN_KEYS) if closest_matches(key, KNOWN_KEYS) else None
    return DocumentError("`skills` is missing", where=top.where, hint=START_HINT)


def _name_list_error(skills: JsonNode) -> DocumentError | None:
    """Tell that skills are listed by their names alone, where a manifest says what is wanted of each."""
    names = skills.value if isinstance(skills.value, list) else []
    if not names or not all(is_skill_name(name) for name in names):
        return None
    few = ", ".join(f'"{name}": "*"' for name in names[:MAX_EXAMPLES]) + (", …" if len(names) > MAX_EXAMPLES else "")
    hint = f'if it is a manifest, it says of each skill which: "skills": {{{few}}}; if another tool made it, use `-g`'
    return DocumentError("`skills` is a list of names", where=skills.where, hint=hint)


def read_manifest(text: str, file: str) -> Manifest:
    """Read a manifest strictly; keys nobody knows are kept and named in `unknown`."""
    top = parse_json(text, file)
    _check_format(top)
    kind = document_kind(top)
    if kind == "foreign" and (fault := mistyped_manifest_error(top)):
        raise fault
    if kind != "manifest":
        whose = "a registry (its `skills` is an array)" if kind == "registry" else "no manifest of skillpm"
        raise DocumentError(
            f"this file is {whose}",
            where=file,
            hint=START_HINT,
        )
    agents, disabled, permissions = top.get("agents"), top.get("disabled"), top.get("permissions")
    overrides = top.get("overrides")
    return Manifest(
        file=file,
        skills={parse_skill_name(key, where=node.where): node.value for key, node in top.require("skills").items()},
        agents=None if agents is None else agents.texts(),
        disabled={}
        if disabled is None
        else {parse_skill_name(key, where=node.where): _read_disabled(node) for key, node in disabled.items()},
        permissions={}
        if permissions is None
        else {pattern: _read_action(node) for pattern, node in permissions.items()},
        overrides={}
        if overrides is None
        else {parse_skill_name(key, where=node.where): node.value for key, node in overrides.items()},
        indexes=read_indexes(top.get("indexes")),
        exclude_newer=top.text_or("exclude-newer"),
        unknown_keys=tuple(key for key, _ in top.items() if key not in KNOWN_KEYS),
    )


def _check_format(top: JsonNode) -> None:
    """Refuse a manifest whose `$schema` is a newer one of ours; any other schema is the writer's own business."""
    schema = top.value.get("$schema") if isinstance(top.value, dict) else None
    ours = SCHEMA_NUMBER.fullmatch(schema) if isinstance(schema, str) else None
    if ours and int(ours[1]) > FORMAT:
        raise NewerDocument(top.file, document_format=ours[1], supported_format=FORMAT)


def _read_action(node: JsonNode) -> str:
    """One of the three words of a permission."""
    word = node.value
    return word if isinstance(word, str) and word in ACTIONS else node.raise_expected("allow, ask or deny")


def _read_disabled(node: JsonNode) -> Any:
    """`true` (everywhere) or a list of agents."""
    if node.value is not True:
        node.texts()
    return node.value
