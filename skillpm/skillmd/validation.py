"""Is a skill *valid*: does it keep the Agent Skills specification to the letter? For authors and publishers.

Loading asks far less (`skill.py`). An error here means "not valid"; a warning is advice. Verdicts agree with the
reference validator `skills-ref` on every file that its YAML dialect can read (docs/adr/0008-two-verdicts.md).
"""

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any
from urllib.parse import unquote

from skillpm.core.coercion import to_metadata, to_text
from skillpm.core.conflict_markers import RESOLVE_HINT, find_conflict
from skillpm.core.names import (
    MAX_NAME_LENGTH,
    SKILL_FILE,
    SKILL_FILES,
    find_skill_file,
    is_skill_name,
    path_problem,
    suggest_skill_name,
)
from skillpm.core.text import sanitize
from skillpm.core.token_estimate import estimate_tokens
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.index_schema import version_problem
from skillpm.requirements.declared_dependencies import METADATA_KEY
from skillpm.skillmd.findings import Finding, NotLoadable, error, warning
from skillpm.skillmd.frontmatter import Frontmatter, decode_text, find_key_lines, read_frontmatter
from skillpm.skillmd.hidden_text import find_hidden_characters
from skillpm.skillmd.mcp_servers import read_mcp_servers

SPEC_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
MAX_DESCRIPTION_LENGTH = 1024
PLACEHOLDER = "What this skill does, in one sentence. Use when the user asks for it, in the words they would use."
# How skills that a skill needs are called elsewhere. Only `metadata.skill-dependencies` is read
# (`requirements/declared_dependencies.py`).
DEPENDENCY_KEYS = frozenset(
    ["dependencies", "depends", "depends_on", "depends-on", "deps", METADATA_KEY, METADATA_KEY.replace("-", "_")]
)
MAX_COMPATIBILITY_LENGTH = 500
DEPENDENCY_HINT = (
    f'skills that this one needs are named under `metadata`, as `{METADATA_KEY}: "git-basics>=1; code-style"`'
)
# Under `metadata` nobody would heed it.
HOST_FIELDS = {"disable-model-invocation": "Claude Code and skillpm heed it where it stands, other tools may refuse it"}


def check_fields(front: Frontmatter, folder: str, text: str) -> Iterator[Finding]:
    """Find what is wrong with the fields of a skill in a folder of this name; `text` is the whole file."""
    lines = find_key_lines(text, front)
    values = front.values
    for key in values:
        if key not in SPEC_FIELDS:
            what = (
                DEPENDENCY_HINT if key in DEPENDENCY_KEYS else HOST_FIELDS.get(key, "put it under `metadata`, as text")
            )
            message = f"`{sanitize(key, 40)}` is no field of the specification; {what}"
            yield error("unknown-field", message, lines.get(key, 1))
    yield from _check_name(values.get("name"), folder, lines.get("name", 1))
    yield from _check_description(values.get("description"), lines.get("description", 1))
    yield from _check_compatibility(values, lines.get("compatibility", 1))
    metadata = values.get("metadata")
    if metadata is not None and not (isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values())):
        message = "`metadata` should map names to text; other hosts may not read what is nested"
        yield warning("metadata-not-text", message, lines.get("metadata", 1))
    yield from _check_version(values, metadata, lines)
    for key in DEPENDENCY_KEYS.intersection(metadata) - {METADATA_KEY} if isinstance(metadata, dict) else ():
        yield warning("unread-needs", f"`{key}` is not read; {DEPENDENCY_HINT}", lines.get("metadata", 1))
    if isinstance(values.get("allowed-tools"), list):
        message = "`allowed-tools` should be one text with blanks between the tools"
        yield warning("tools-not-text", message, lines.get("allowed-tools", 1))
    left_out: list[Finding] = []
    read_mcp_servers(values, to_metadata(metadata) or EMPTY_MAPPING, left_out, line_of=lambda key: lines.get(key, 1))
    yield from left_out


def _check_version(values: Mapping[str, Any], metadata: Any, lines: Mapping[str, int]) -> Iterator[Finding]:
    """Find what `pack` and `index build` refuse; the specification itself asks nothing of a version."""
    above = to_text(values.get("version"))
    version = above or to_text((to_metadata(metadata) or EMPTY_MAPPING).get("version"))
    fault = version_problem(version) if version else ""
    if fault:
        message = f"{fault}, so it cannot be published; write one like `1.2.0`"
        yield warning("bad-version", message, lines.get("version" if above else "metadata", 1))


def _check_name(value: Any, folder: str, line: int) -> Iterator[Finding]:
    if not isinstance(value, str) or not value.strip():
        yield error("missing-name", "`name` is missing or no text", line)
        return
    name = unicodedata.normalize("NFKC", value.strip())
    if len(name) > MAX_NAME_LENGTH:
        yield error("long-name", f"the name has {len(name)} characters; {MAX_NAME_LENGTH} are allowed", line)
    # The reference validator takes letters of any script; hosts and file systems are safe with ASCII only.
    if name != name.lower() or name.strip("-") != name or "--" in name or not name.replace("-", "a").isalnum():
        better = suggest_skill_name(name)
        advice = f", e.g. `{better}`" if better else ""
        yield error("bad-name", f"the name must be lower-case letters, digits and single hyphens{advice}", line)
    elif not is_skill_name(name):
        yield warning("unportable-name", "the name is not safe on every system: use a-z, 0-9 and hyphens", line)
    if unicodedata.normalize("NFKC", folder) != name:
        message = f"the folder is called `{sanitize(folder, 64)}`, the skill `{sanitize(name, 64)}`"
        yield error("name-not-folder", message, line)


def _check_description(value: Any, line: int) -> Iterator[Finding]:
    if not isinstance(value, str) or not value.strip():
        yield error("missing-description", "`description` is missing or no text", line)
    elif len(value) > MAX_DESCRIPTION_LENGTH:
        message = f"the description has {len(value)} characters; {MAX_DESCRIPTION_LENGTH} are allowed"
        yield error("long-description", message, line)
    elif value.strip() == PLACEHOLDER:
        message = "the description is still that of `skillpm new`; an agent chooses skills by it"
        yield warning("placeholder", message, line)


def _check_compatibility(values: Mapping[str, Any], line: int) -> Iterator[Finding]:
    value = values.get("compatibility")
    if "compatibility" in values and value is not None and not isinstance(value, str):
        yield error("bad-compatibility", "`compatibility` must be text", line)
    elif isinstance(value, str) and len(value) > MAX_COMPATIBILITY_LENGTH:
        message = f"`compatibility` has {len(value)} characters; {MAX_COMPATIBILITY_LENGTH} are allowed"
        yield error("long-compatibility", message, line)


RECOMMENDED_MAX_TOKENS = 5_000
# Every repeated class ends at what another match may begin with: a megabyte of brackets takes no time by the square.
MARKDOWN_LINK = re.compile(r'\[[^\[\]\n]*\]\(<?([^()<>\s]+)>?(?:[ \t]+"[^"\n]*")?\)')
FENCE = re.compile(r"^[ \t]*(```+|~~~+)")


def check_body(front: Frontmatter, files: Collection[str]) -> Iterator[Finding]:
    """Find what is odd about a body that lies beside these files."""
    tokens = estimate_tokens(front.body)
    if tokens > RECOMMENDED_MAX_TOKENS:
        message = f"the body is about {tokens} tokens; move detail into files beside it, below {RECOMMENDED_MAX_TOKENS}"
        yield warning("long-body", message, front.body_line)
    if not front.body.strip():
        yield warning("empty-body", "there are no instructions below the frontmatter", front.body_line)
    there = {*files, "."}
    for file in files:
        there.update(_parent_folders(file))
    for number, target in _find_links(front.body):
        if not {posixpath.normpath(target), posixpath.normpath(unquote(target))} & there:
            message = f"`{sanitize(target, 80)}` is no file of this skill"
            yield warning("missing-file", message, front.body_line + number)


def _parent_folders(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _find_links(body: str) -> Iterator[tuple[int, str]]:
    """Give the relative links of a Markdown text outside of code, with the line each stands in, from 0."""
    fence = ""
    for number, line in enumerate(body.split("\n")):
        mark = FENCE.match(line)
        if mark is not None:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and "](" in line:
            for match in MARKDOWN_LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                target = match[1].partition("#")[0].partition("?")[0]
                if target and not re.match(r"[a-zA-Z][\w+.-]*:|/|\{|\$|~", target):
                    yield number, target


MAX_FINDINGS = 100


class ValidationReport(Value):
    """The two verdicts on a skill, its name for itself, and everything found."""

    declared: str
    loadable: bool
    valid: bool
    findings: tuple[Finding, ...]


def validate_skill(data: bytes, folder: str, files: Collection[str], *, install_problem: str = "") -> ValidationReport:
    """Judge a SKILL.md that lies in a folder of this name beside these files (paths with `/` from the folder).

    `refusal`: why these files would not be installed, where that is known.
    """
    try:
        text = decode_text(data)
        front = read_frontmatter(text)
    except NotLoadable as unread:
        return ValidationReport(declared="", loadable=False, valid=False, findings=(unread.finding,))
    found = list(
        _limit_findings(
            chain(
                (finding.replace(level="error") for finding in front.findings),
                _check_form(data, text, front),
                check_fields(front, folder, text),
                _check_conflict(text),
                find_hidden_characters(text),
                check_body(front, files),
                _check_files(files, install_problem),
            )
        )
    )
    name = front.values.get("name")
    return ValidationReport(
        declared=name if isinstance(name, str) else "",
        loadable=True,
        valid=all(finding.level != "error" for finding in found),
        findings=tuple(sorted(found, key=lambda finding: (finding.line, finding.code))),
    )


def _limit_findings(found: Iterable[Finding]) -> Iterator[Finding]:
    """Give the first hundred findings of each kind, and one that counts the others: a file may have a million."""
    counts: Counter[str] = Counter()
    last: dict[str, Finding] = {}
    for finding in found:
        counts[finding.code] += 1
        if counts[finding.code] <= MAX_FINDINGS:
            yield finding
        else:
            last[finding.code] = finding
    for code, finding in last.items():
        yield finding.replace(message=f"{counts[code] - MAX_FINDINGS} more of these, up to here")


def _check_form(data: bytes, text: str, front: Frontmatter) -> Iterator[Finding]:
    if data.startswith(b"\xef\xbb\xbf"):
        yield error("bom", "the file begins with a byte order mark")
    if not text.startswith("---"):
        yield error("leading-blank", "the first line must be `---`")
    if front.dialect != "yaml":
        yield error("not-yaml", "the frontmatter must be YAML; TOML is read by some hosts only")


def _check_conflict(text: str) -> Iterator[Finding]:
    """Find what a merge left to somebody to choose."""
    found = find_conflict(text)
    if found is not None:
        message = f"a merge conflict is not resolved here, up to line {found[1]}; {RESOLVE_HINT}"
        yield error("merge-conflict", message, found[0])


def _check_files(files: Collection[str], install_problem: str) -> Iterator[Finding]:
    if find_skill_file(files) not in {None, SKILL_FILE}:
        yield warning("file-name", f"the file should be called {SKILL_FILE}: some hosts read no other")
    if install_problem and not any(map(path_problem, files)):
        yield error("not-installable", f"it would not be installed: {install_problem}")
    for path in sorted(files):
        if posixpath.basename(path) in SKILL_FILES and "/" in path:
            yield warning(
                "nested-skill", f"`{sanitize(path)}` is another skill inside this one; some hosts load it too"
            )
        if fault := path_problem(path):
            yield error("bad-path", f"the path `{sanitize(path)}` {fault}")
