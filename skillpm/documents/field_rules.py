"""What the specification asks of the fields of a SKILL.md, one after another."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from skillpm.documents.findings import Finding, error, warning
from skillpm.documents.frontmatter import Frontmatter, lines_of_keys
from skillpm.documents.index_format import fault_of_version
from skillpm.documents.mcp_servers import servers_of
from skillpm.documents.names import LONGEST_NAME, is_skill_name, made_valid
from skillpm.documents.needs import KEY
from skillpm.documents.text import show
from skillpm.documents.words import metadata_of, text_of
from skillpm.values import NOTHING

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
LONGEST_DESCRIPTION = 1024
PLACEHOLDER = "What this skill does, in one sentence. Use when the user asks for it, in the words they would use."
# How skills that a skill needs are called elsewhere. Only `metadata.skill-dependencies` is read (`needs.py`).
NEEDS = frozenset(["dependencies", "depends", "depends_on", "depends-on", "deps", KEY, KEY.replace("-", "_")])
LONGEST_COMPATIBILITY = 500
NEEDED = f'skills that this one needs are named under `metadata`, as `{KEY}: "git-basics>=1; code-style"`'
# Under `metadata` nobody would heed it.
OF_HOSTS = {"disable-model-invocation": "Claude Code and skillpm heed it where it stands, other tools may refuse it"}


def findings_in_fields(front: Frontmatter, folder: str, text: str) -> Iterator[Finding]:
    """Find what is wrong with the fields of a skill in a folder of this name; `text` is the whole file."""
    lines = lines_of_keys(text, front)
    values = front.values
    for key in values:
        if key not in FIELDS:
            what = NEEDED if key in NEEDS else OF_HOSTS.get(key, "put it under `metadata`, as text")
            message = f"`{show(key, 40)}` is no field of the specification; {what}"
            yield error("unknown-field", message, lines.get(key, 1))
    yield from _name(values.get("name"), folder, lines.get("name", 1))
    yield from _description(values.get("description"), lines.get("description", 1))
    yield from _compatibility(values, lines.get("compatibility", 1))
    metadata = values.get("metadata")
    if metadata is not None and not (isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values())):
        message = "`metadata` should map names to text; other hosts may not read what is nested"
        yield warning("metadata-not-text", message, lines.get("metadata", 1))
    yield from _version(values, metadata, lines)
    for key in NEEDS.intersection(metadata) - {KEY} if isinstance(metadata, dict) else ():
        yield warning("unread-needs", f"`{key}` is not read; {NEEDED}", lines.get("metadata", 1))
    if isinstance(values.get("allowed-tools"), list):
        message = "`allowed-tools` should be one text with blanks between the tools"
        yield warning("tools-not-text", message, lines.get("allowed-tools", 1))
    left_out: list[Finding] = []
    servers_of(values, metadata_of(metadata) or NOTHING, left_out, line_of=lambda key: lines.get(key, 1))
    yield from left_out


def _version(values: Mapping[str, Any], metadata: Any, lines: Mapping[str, int]) -> Iterator[Finding]:
    """Find what `pack` and `index build` refuse; the specification itself asks nothing of a version."""
    above = text_of(values.get("version"))
    version = above or text_of((metadata_of(metadata) or NOTHING).get("version"))
    fault = fault_of_version(version) if version else ""
    if fault:
        message = f"{fault}, so it cannot be published; write one like `1.2.0`"
        yield warning("bad-version", message, lines.get("version" if above else "metadata", 1))


def _name(value: Any, folder: str, line: int) -> Iterator[Finding]:
    if not isinstance(value, str) or not value.strip():
        yield error("missing-name", "`name` is missing or no text", line)
        return
    name = unicodedata.normalize("NFKC", value.strip())
    if len(name) > LONGEST_NAME:
        yield error("long-name", f"the name has {len(name)} characters; {LONGEST_NAME} are allowed", line)
    # The reference validator takes letters of any script; hosts and file systems are safe with ASCII only.
    if name != name.lower() or name.strip("-") != name or "--" in name or not name.replace("-", "a").isalnum():
        better = made_valid(name)
        advice = f", e.g. `{better}`" if better else ""
        yield error("bad-name", f"the name must be lower-case letters, digits and single hyphens{advice}", line)
    elif not is_skill_name(name):
        yield warning("unportable-name", "the name is not safe on every system: use a-z, 0-9 and hyphens", line)
    if unicodedata.normalize("NFKC", folder) != name:
        message = f"the folder is called `{show(folder, 64)}`, the skill `{show(name, 64)}`"
        yield error("name-not-folder", message, line)


def _description(value: Any, line: int) -> Iterator[Finding]:
    if not isinstance(value, str) or not value.strip():
        yield error("missing-description", "`description` is missing or no text", line)
    elif len(value) > LONGEST_DESCRIPTION:
        message = f"the description has {len(value)} characters; {LONGEST_DESCRIPTION} are allowed"
        yield error("long-description", message, line)
    elif value.strip() == PLACEHOLDER:
        message = "the description is still that of `skillpm new`; an agent chooses skills by it"
        yield warning("placeholder", message, line)


def _compatibility(values: Mapping[str, Any], line: int) -> Iterator[Finding]:
    value = values.get("compatibility")
    if "compatibility" in values and value is not None and not isinstance(value, str):
        yield error("bad-compatibility", "`compatibility` must be text", line)
    elif isinstance(value, str) and len(value) > LONGEST_COMPATIBILITY:
        message = f"`compatibility` has {len(value)} characters; {LONGEST_COMPATIBILITY} are allowed"
        yield error("long-compatibility", message, line)
