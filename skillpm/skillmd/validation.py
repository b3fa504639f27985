"""Validation of a skill against the Agent Skills specification, for authors and publishers.

Loading is far more lenient (`skill.py`). An error here means "not valid"; a warning is advice. The verdicts agree with
the reference validator `skills-ref` on every file that its YAML dialect can read, except where a name is not ASCII or
characters are hidden: these are errors only here (ADR 8).
"""

import posixpath
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any
from urllib.parse import unquote

from skillpm.core.code_fences import classify_lines
from skillpm.core.coercion import to_metadata, to_text, to_triggers
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
from skillpm.core.text import HIDDEN, estimate_tokens, sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError
from skillpm.formats.index_schema import version_problem
from skillpm.requirements.declared_dependencies import METADATA_KEY, UNREAD_KEYS, read_declared_dependencies
from skillpm.skillmd.body_references import find_links, sibling_name
from skillpm.skillmd.findings import Finding, NotLoadable, error, warning
from skillpm.skillmd.frontmatter import KEY_LINE, Frontmatter, decode_text, find_key_lines, read_frontmatter
from skillpm.skillmd.host_manifests import SERVERS_KEY, find_host_manifests
from skillpm.skillmd.skill import read_mcp_servers

SPEC_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
MAX_DESCRIPTION_LENGTH = 1024
PLACEHOLDER = "What this skill does, in one sentence. Use when the user asks for it, in the words they would use."
LFS_ADVICE = "is a Git LFS pointer, and skillpm installs it as it is; commit the file itself (`git lfs untrack`)"
MAX_COMPATIBILITY_LENGTH = 500
DEPENDENCY_HINT = f'declare dependencies on skills under `metadata`, as `{METADATA_KEY}: "git-basics>=1; code-style"`'
SIBLING_HINT = f"if this one needs it, declare it under `metadata`, as `{METADATA_KEY}: {{}}`"
# Fields of Claude Code, which have no effect under `metadata`: code.claude.com/docs/en/skills, "Frontmatter reference".
HOST_FIELDS = frozenset({
    "agent", "argument-hint", "arguments", "context", "disable-model-invocation", "disallowed-tools", "effort",
    "hooks", "model", "paths", "shell", "user-invocable", "when_to_use",
})  # fmt: skip


def check_fields(front: Frontmatter, folder: str, text: str) -> Iterator[Finding]:
    """Yield the problems of the fields of a skill in a folder of this name; `text` is the whole file."""
    lines = find_key_lines(text, front)
    values = front.values
    for key in values:
        if key.lower() == SERVERS_KEY.lower():
            message = f"a host starts what `{sanitize(key, 40)}` names, so skillpm refuses the skill"
            yield error("host-manifest", message, lines.get(key, 1))
        elif key in HOST_FIELDS:
            message = f"`{key}` is not a field of the specification; Claude Code reads it, other hosts may not"
            yield warning("host-field", message, lines.get(key, 1))
        elif key not in SPEC_FIELDS:
            advice = DEPENDENCY_HINT if key in UNREAD_KEYS else "move it under `metadata`, as text"
            message = f"`{sanitize(key, 40)}` is not a field of the specification; {advice}"
            yield error("unknown-field", message, lines.get(key, 1))
    yield from _check_name(values.get("name"), folder, lines.get("name", 1))
    yield from _check_description(values.get("description"), lines.get("description", 1))
    if "description" in lines and front.dialect == "yaml":
        yield from _check_comment(to_text(values.get("description")), text, lines["description"], front.body_line)
    yield from _check_compatibility(values, lines.get("compatibility", 1))
    metadata = values.get("metadata")
    if metadata is not None and not (isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values())):
        message = "`metadata` should map names to text; other hosts may not read nested values"
        yield warning("metadata-not-text", message, lines.get("metadata", 1))
    yield from _check_version(values, metadata, lines)
    try:
        read_declared_dependencies(to_metadata(metadata) or EMPTY_MAPPING, None)
    except DocumentError as invalid:
        message = f"`{METADATA_KEY}`: {invalid.message}, so it cannot be published"
        yield error("bad-dependencies", message, lines.get("metadata", 1))
    yield from _check_triggers(values, lines)
    for key in UNREAD_KEYS.intersection(metadata) - {METADATA_KEY} if isinstance(metadata, dict) else ():
        yield warning("unread-needs", f"`{key}` is not read; {DEPENDENCY_HINT}", lines.get("metadata", 1))
    if isinstance(values.get("allowed-tools"), list):
        message = "`allowed-tools` should be a string, with spaces between the tools"
        yield warning("tools-not-text", message, lines.get("allowed-tools", 1))
    findings: list[Finding] = []
    read_mcp_servers(values, to_metadata(metadata) or EMPTY_MAPPING, findings, line_of=lambda key: lines.get(key, 1))
    yield from findings


def _check_version(values: Mapping[str, Any], metadata: Any, lines: Mapping[str, int]) -> Iterator[Finding]:
    """Yield a warning for a version that `pack` and `index build` reject. The specification allows any."""
    top_level = to_text(values.get("version"))
    version = top_level or to_text((to_metadata(metadata) or EMPTY_MAPPING).get("version"))
    problem = version_problem(version) if version else ""
    if problem:
        message = f"{problem}, so it cannot be published; use one like `1.2.0`"
        yield warning("bad-version", message, lines.get("version" if top_level else "metadata", 1))


def _check_name(value: Any, folder: str, line: int) -> Iterator[Finding]:
    if not isinstance(value, str) or not value.strip():
        yield error("missing-name", "`name` is missing or not a string", line)
        return
    name = unicodedata.normalize("NFKC", value.strip())
    if len(name) > MAX_NAME_LENGTH:
        yield error("long-name", f"the name has {len(name)} characters; {MAX_NAME_LENGTH} are allowed", line)
    # The reference validator accepts letters of any script; the specification says `a-z` and `0-9`, and no skill is
    # installed under another name.
    if name != name.lower() or name.strip("-") != name or "--" in name or not name.replace("-", "a").isalnum():
        suggestion = suggest_skill_name(name)
        advice = f", e.g. `{suggestion}`" if suggestion else ""
        yield error("bad-name", f"the name must be lower-case letters, digits and single hyphens{advice}", line)
    elif not is_skill_name(name):
        suggestion = suggest_skill_name(name)
        advice = f", e.g. `{suggestion}`" if suggestion else ""
        message = f"the name must be a-z, 0-9 and single hyphens, and no name that Windows reserves{advice}"
        yield error("unportable-name", message, line)
    if unicodedata.normalize("NFKC", folder) != name:
        message = f"the folder is named `{sanitize(folder, 64)}`, the skill `{sanitize(name, 64)}`"
        yield error("name-not-folder", message, line)


def _check_description(value: Any, line: int) -> Iterator[Finding]:
    if not isinstance(value, str) or not value.strip():
        yield error("missing-description", "`description` is missing or not a string", line)
    elif len(value) > MAX_DESCRIPTION_LENGTH:
        message = f"the description has {len(value)} characters; {MAX_DESCRIPTION_LENGTH} are allowed"
        yield error("long-description", message, line)
    elif value.strip() == PLACEHOLDER:
        message = "the description is still the placeholder of `skillpm new`; agents choose skills by it"
        yield warning("placeholder", message, line)


def _check_comment(description: str, text: str, first: int, last: int) -> Iterator[Finding]:
    """Yield a warning if YAML takes the end of a description for a comment, as in `Fix issue #12`."""
    for number, line in enumerate(text.split("\n")[first - 1 : last - 2], first):
        before, mark, comment = line.removeprefix("description:").partition(" #")
        if mark and description and description.endswith(before.strip()) and before.strip():
            message = f"`#{sanitize(comment, 40)}` is a comment in YAML; to keep it, put the description in quotes"
            yield warning("comment-in-text", message, number)
        if number > first and KEY_LINE.match(line):
            return


def _check_triggers(values: Mapping[str, Any], lines: Mapping[str, int]) -> Iterator[Finding]:
    """Yield a warning for each object among the triggers that has no keyword, such as `- search: find`."""
    for key in ("triggers", "trigger"):
        entries = values.get(key)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry and not to_triggers([entry]):
                message = f"`{sanitize(next(iter(entry)), 40)}: …` is not text; put the trigger in quotes"
                yield warning("unread-trigger", message, lines.get(key, 1))


def _check_compatibility(values: Mapping[str, Any], line: int) -> Iterator[Finding]:
    value = values.get("compatibility")
    if "compatibility" in values and value is not None and not isinstance(value, str):
        yield error("bad-compatibility", "`compatibility` must be a string", line)
    elif isinstance(value, str) and len(value) > MAX_COMPATIBILITY_LENGTH:
        message = f"`compatibility` has {len(value)} characters; {MAX_COMPATIBILITY_LENGTH} are allowed"
        yield error("long-compatibility", message, line)


RECOMMENDED_MAX_TOKENS = 5_000


def check_body(front: Frontmatter, files: Collection[str]) -> Iterator[Finding]:
    """Yield warnings about a body with these files beside it."""
    tokens = estimate_tokens(front.body)
    if tokens > RECOMMENDED_MAX_TOKENS:
        message = f"the body has about {tokens} tokens; move details to other files (below {RECOMMENDED_MAX_TOKENS})"
        yield warning("long-body", message, front.body_line)
    if not front.body.strip():
        yield warning("empty-body", "the body is empty: no instructions below the frontmatter", front.body_line)
    for number, (_, kind) in enumerate(classify_lines(front.body)):
        if kind == "unclosed":
            message = "this code block is never closed, so hosts may take everything below it for code"
            yield warning("unclosed-code", message, front.body_line + number)
    existing = {*files, "."}
    for file in files:
        existing.update(_parent_folders(file))
    for number, target in find_links(front.body):
        if sibling := sibling_name(target):
            message = f"`{sanitize(target, 80)}` is another skill; {SIBLING_HINT.format(sibling)}"
            yield warning("sibling-skill", message, front.body_line + number)
        elif not {posixpath.normpath(target), posixpath.normpath(unquote(target))} & existing:
            message = f"`{sanitize(target, 80)}` is not a file of this skill"
            yield warning("missing-file", message, front.body_line + number)


def _parent_folders(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


MAX_FINDINGS = 100


class ValidationReport(Value):
    """The two verdicts on a skill, the name it declares, and all findings."""

    declared: str
    loadable: bool
    valid: bool
    findings: tuple[Finding, ...]


def validate_skill(
    data: bytes,
    folder: str,
    files: Collection[str],
    *,
    install_problem: str = "",
    lfs_pointers: Collection[str] = (),
) -> ValidationReport:
    """Validate a SKILL.md in a folder of this name with these files (relative paths with `/`).

    `install_problem` is why these files could not be installed, if known; `lfs_pointers` are those of the files that
    are pointers of Git LFS.
    """
    try:
        text = decode_text(data)
        front = read_frontmatter(text)
    except NotLoadable as not_loadable:
        return ValidationReport(declared="", loadable=False, valid=False, findings=(not_loadable.finding,))
    findings = list(
        _limit_findings(
            chain(
                (finding.replace(level="error") for finding in front.findings),
                _check_form(data, text, front),
                check_fields(front, folder, text),
                _check_conflict(text),
                find_hidden_characters(text),
                check_body(front, files),
                _check_files(files, install_problem),
                (warning("lfs-pointer", f"`{sanitize(path, 80)}` {LFS_ADVICE}") for path in lfs_pointers),
            )
        )
    )
    name = front.values.get("name")
    return ValidationReport(
        declared=name if isinstance(name, str) else "",
        loadable=True,
        valid=all(finding.level != "error" for finding in findings),
        findings=tuple(sorted(findings, key=lambda finding: (finding.line, finding.code))),
    )


def _limit_findings(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the first hundred findings of each code, and one that counts the rest: a file may have a million."""
    counts: Counter[str] = Counter()
    last: dict[str, Finding] = {}
    for finding in findings:
        counts[finding.code] += 1
        if counts[finding.code] <= MAX_FINDINGS:
            yield finding
        else:
            last[finding.code] = finding
    for code, finding in last.items():
        yield finding.replace(message=f"{counts[code] - MAX_FINDINGS} more of these, up to this line")


def _check_form(data: bytes, text: str, front: Frontmatter) -> Iterator[Finding]:
    if data.startswith(b"\xef\xbb\xbf"):
        yield error("bom", "the file begins with a byte order mark")
    if not text.startswith(("---", "+++")):
        yield error("leading-blank", "the first line must be `---`")
    if front.dialect != "yaml":
        yield error("not-yaml", "the frontmatter must be YAML; only some hosts read TOML (`--fix --yaml` converts it)")


def _check_conflict(text: str) -> Iterator[Finding]:
    lines = find_conflict(text)
    if lines is not None:
        message = f"unresolved merge conflict, up to line {lines[1]}; {RESOLVE_HINT}"
        yield error("merge-conflict", message, lines[0])


def _check_files(files: Collection[str], install_problem: str) -> Iterator[Finding]:
    if find_skill_file(files) not in {None, SKILL_FILE}:
        yield warning("file-name", f"the file should be named {SKILL_FILE}: some hosts read no other")
    if install_problem and not any(map(path_problem, files)):
        yield error("not-installable", f"it cannot be installed: {install_problem}")
    for path in sorted(files):
        if posixpath.basename(path) in SKILL_FILES and "/" in path:
            yield warning(
                "nested-skill", f"`{sanitize(path)}` is another skill inside this one; some hosts load it too"
            )
        if problem := path_problem(path):
            yield error("bad-path", f"the path `{sanitize(path)}` {problem}")
    for manifest in find_host_manifests(files):
        advice = "a host starts programs by it, so skillpm refuses the skill; keep it outside of the skill's folder"
        yield error("host-manifest", f"{manifest.summary}; {advice}")


def find_hidden_characters(text: str) -> Iterator[Finding]:
    """Yield a finding for each line with invisible characters."""
    line, counted, last_reported = 1, 0, 0
    for match in HIDDEN.finditer(text):
        if match.group() in "\t\n":
            continue
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if line != last_reported:
            yield error("hidden-text", f"hidden character {sanitize(match.group())} in this line", line)
            last_reported = line
