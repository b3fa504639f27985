"""The manifest, `skills.json` of a project or user (docs/formats.md, "skills.json, the manifest").

Users write this file, so it is edited in place (`json_edit`) and never regenerated. A requirement is a valid name and a
JSON value here; the `requirements` package interprets it.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from skillpm.core.json_text.decoder import JsonNode, parse_json, read_by_name, unknown_key_error
from skillpm.core.limits import MAX_MANIFEST_SIZE, MAX_MEMBER_PATTERNS, MAX_UNKNOWN_KEYS
from skillpm.core.names import SkillName, is_skill_name, path_problem
from skillpm.core.patterns import lazy_pattern
from skillpm.core.suggestions import closest_matches
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError, NewerDocument
from skillpm.formats.edit_policy import EditPolicy, read_edit_policy
from skillpm.formats.index_sources import ConfiguredIndex, read_indexes

if TYPE_CHECKING:
    from skillpm.formats.trust.audit_settings import AuditSettings

FORMAT = 1
SCHEMA = f"urn:skillpm:schema:manifest:{FORMAT}"
SCHEMA_NUMBER = lazy_pattern(r"urn:skillpm:schema:manifest:([0-9]{1,9})")
KNOWN_KEYS = (
    "$schema", "name", "skills", "include", "groups", "members", "indexes", "agents", "disabled", "permissions",
    "overrides", "exclude-newer", "edits", "priority", "link-mode", "audit",
)  # fmt: skip
START_HINT = 'a manifest has `"skills": {}`; create one with `skillpm init`, or use `-g` for user scope'
MAX_EXAMPLES = 3
MEMBERS_HINT = 'members are folders below this one, as in "packages/*" or "tools/linter"; a `*` matches one level'
WILDCARDS = lazy_pattern(r"[*?]+")
ACTIONS = ("allow", "ask", "deny")
LINK_MODES = ("symlink", "copy")
EMPTY_MANIFEST = '{\n  "$schema": "' + SCHEMA + '",\n  "skills": {}\n}\n'


class Manifest(Value):
    """A parsed manifest."""

    file: str
    skills: Mapping[SkillName, Any] = EMPTY_MAPPING
    # Names for some of the skills.
    groups: Mapping[str, tuple[SkillName, ...]] = EMPTY_MAPPING
    # Requirements for all skills of a folder in a repository.
    include: tuple[Any, ...] = ()
    # None if the manifest has no key `agents`; then config.toml applies.
    agents: tuple[str, ...] | None = None
    # True (for all agents), or a list of agents.
    disabled: Mapping[SkillName, Any] = EMPTY_MAPPING
    # Actions by name pattern, in order.
    permissions: Mapping[str, str] = EMPTY_MAPPING
    overrides: Mapping[SkillName, Any] = EMPTY_MAPPING
    indexes: tuple[ConfiguredIndex, ...] = ()
    exclude_newer: str = ""
    edits: EditPolicy = EditPolicy()
    # The kind of links for agent hosts; empty for the user's choice.
    link_mode: str = ""
    # Names and patterns of the skills that a catalog with a budget keeps longest.
    priority: tuple[str, ...] = ()
    # Patterns of the folders of members: only in the root manifest of a workspace.
    members: tuple[str, ...] = ()
    # What blocks beside the user's settings, and exceptions; None without the key.
    audit: "AuditSettings | None" = None
    unknown_keys: tuple[str, ...] = ()

    @property
    def disabled_for_all(self) -> set[SkillName]:
        """The skills that are disabled for all agents."""
        return {name for name, agents in self.disabled.items() if agents is True}


def document_kind(top: JsonNode) -> Literal["manifest", "registry", "foreign"]:
    """Return whether a skills.json is a manifest, a registry, or a file of another tool."""
    if not isinstance(top.value, dict):
        return "foreign"
    skills = top.value.get("skills")
    if isinstance(skills, list):
        # A registry with one invalid entry still is a registry; a list without any object is another tool's.
        return "registry" if not skills or any(isinstance(skill, dict) for skill in skills) else "foreign"
    # spm's manifest has `skills` as an object, too, but also keys of its own.
    is_manifest = isinstance(skills, dict) and not {"installDir", "linkTargets", "patchedSkills"} & set(top.value)
    return "manifest" if is_manifest else "foreign"


def mistyped_manifest_error(top: JsonNode) -> DocumentError | None:
    """Return what is wrong with a file that is probably meant to be a manifest: it has no key of another tool."""
    if not isinstance(top.value, dict):
        return None
    if "skills" in top.value:
        return _name_list_error(top.require("skills"))
    for key, node in top.items():
        if key not in KNOWN_KEYS:
            return unknown_key_error(node, key, KNOWN_KEYS) if closest_matches(key, KNOWN_KEYS) else None
    return DocumentError("`skills` is missing", where=top.where, hint=START_HINT)


def _name_list_error(skills: JsonNode) -> DocumentError | None:
    """Return the error for `skills` as a list of names instead of an object of requirements."""
    names = skills.value if isinstance(skills.value, list) else []
    if not names or not all(is_skill_name(name) for name in names):
        return None
    examples = ", ".join(f'"{name}": "*"' for name in names[:MAX_EXAMPLES])
    examples += ", …" if len(names) > MAX_EXAMPLES else ""
    hint = f'if it is a manifest, write "skills": {{{examples}}}; if it belongs to another tool, use `-g`'
    return DocumentError("`skills` is a list of names", where=skills.where, hint=hint)


@lru_cache(maxsize=8)  # a command reads it up to thirteen times
def read_manifest(text: str, file: str) -> Manifest:
    """Parse a manifest. Unknown keys at the top level are allowed, and listed in `unknown_keys`."""
    if (size := len(text.encode())) > MAX_MANIFEST_SIZE:
        raise DocumentError(f"{size:,} bytes; a manifest may have at most {MAX_MANIFEST_SIZE:,}", where=file)
    top = parse_json(text, file)
    _check_format(top)
    kind = document_kind(top)
    if kind == "foreign" and (error := mistyped_manifest_error(top)):
        raise error
    if kind != "manifest":
        what = "a registry (`skills` is an array)" if kind == "registry" else "not a skillpm manifest"
        raise DocumentError(f"this file is {what}", where=file, hint=START_HINT)
    agents, permissions = top.get("agents"), top.get("permissions")
    unknown_keys = tuple(key for key in top.value if key not in KNOWN_KEYS)
    if len(unknown_keys) > MAX_UNKNOWN_KEYS:
        raise DocumentError(f"{len(unknown_keys):,} unknown keys; at most {MAX_UNKNOWN_KEYS} are allowed", where=file)
    return Manifest(
        file=file,
        skills=read_by_name(top.require("skills"), _read_value),
        include=() if (include := top.get("include")) is None else tuple(node.value for node in include.elements()),
        agents=None if agents is None else agents.texts(),
        disabled=read_by_name(top.get("disabled"), _read_disabled),
        permissions={}
        if permissions is None
        else {pattern: _read_action(node) for pattern, node in permissions.items()},
        overrides=read_by_name(top.get("overrides"), _read_value),
        indexes=read_indexes(top.get("indexes")),
        exclude_newer=top.text_or("exclude-newer"),
        groups={str(name): members for name, members in read_by_name(top.get("groups"), _read_group).items()},
        edits=read_edit_policy(top.get("edits")),
        link_mode="" if (link_mode := top.get("link-mode")) is None else read_link_mode(link_mode),
        priority=() if (priority := top.get("priority")) is None else _read_priority(priority),
        members=_read_member_patterns(top.get("members")),
        audit=None if (audit := top.get("audit")) is None else _read_audit(audit),
        unknown_keys=unknown_keys,
    )


def _read_priority(node: JsonNode) -> tuple[str, ...]:
    from skillpm.core.name_patterns import check_patterns  # noqa: PLC0415  (few manifests have patterns)

    check_patterns(patterns := node.texts(), node.where)
    return patterns


def _read_audit(node: JsonNode) -> "AuditSettings":
    from skillpm.formats.trust.audit_settings import read_project_audit  # noqa: PLC0415  (few manifests have it)

    return read_project_audit(node)


def read_link_mode(node: JsonNode) -> str:
    """Return the value of `link-mode`, in a manifest or in `config.toml`."""
    return node.text() if node.value in LINK_MODES else node.raise_expected(f"one of {', '.join(LINK_MODES)}")


def _check_format(top: JsonNode) -> None:
    """Raise `NewerDocument` for a newer `$schema` of skillpm. Any other is for editors, and ignored."""
    schema = top.value.get("$schema") if isinstance(top.value, dict) else None
    number = SCHEMA_NUMBER.fullmatch(schema) if isinstance(schema, str) else None
    if number and int(number[1]) > FORMAT:
        raise NewerDocument(top.file, document_format=number[1], supported_format=FORMAT)


def _read_value(node: JsonNode) -> Any:
    return node.value


def _read_action(node: JsonNode) -> str:
    action = node.value
    return action if isinstance(action, str) and action in ACTIONS else node.raise_expected("allow, ask or deny")


def _read_member_patterns(node: JsonNode | None) -> tuple[str, ...]:
    """Return the patterns of members, which cannot lead out of the folder of the manifest, or to hidden folders."""
    patterns = []
    for each in () if node is None else node.check_number(MAX_MEMBER_PATTERNS).elements():
        pattern = each.text().removeprefix("./").rstrip("/")
        problem = path_problem(WILDCARDS.sub("x", pattern))
        if any(part.startswith(".") for part in pattern.split("/")):
            problem = problem or "has a hidden folder"
        if "**" in pattern:
            problem = "has `**`"
        if problem:
            message = f"the pattern `{sanitize(each.text(), 80)}` {problem}"
            raise DocumentError(message, where=each.where, hint=MEMBERS_HINT)
        patterns.append(pattern)
    return tuple(dict.fromkeys(patterns))


def _read_group(node: JsonNode) -> tuple[SkillName, ...]:
    return tuple(member.skill_name() for member in node.elements())


def _read_disabled(node: JsonNode) -> Any:
    """Return true (for all agents) or a list of agents."""
    if node.value is not True:
        node.texts()
    return node.value
