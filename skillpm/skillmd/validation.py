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

from skillpm.core.coercion import metadata_of, text_of
from skillpm.core.conflict_markers import WAY_OUT, conflict_in
from skillpm.core.names import LONGEST_NAME, SKILL_FILE, SKILL_FILES, is_skill_name, made_valid, path_fault, skill_file
from skillpm.core.text import show
from skillpm.core.token_estimate import tokens_in
from skillpm.core.values import NOTHING, Value
from skillpm.formats.index_schema import fault_of_version
from skillpm.requirements.declared_dependencies import KEY
from skillpm.skillmd.findings import Finding, NotLoadable, error, warning
from skillpm.skillmd.frontmatter import Frontmatter, decode_text, lines_of_keys, read_frontmatter
from skillpm.skillmd.hidden_text import hidden_characters
from skillpm.skillmd.mcp_servers import servers_of

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
LONGEST_DESCRIPTION = 1024
PLACEHOLDER = "What this skill does, in one sentence. Use when the user asks for it, in the words they would use."
# How skills that a skill needs are called elsewhere. Only `metadata.skill-dependencies` is read
# (`requirements/declared_dependencies.py`).
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


MANY_TOKENS = 5_000
# Every repeated class ends at what another match may begin with: a megabyte of brackets takes no time by the square.
MARKDOWN_LINK = re.compile(r'\[[^\[\]\n]*\]\(<?([^()<>\s]+)>?(?:[ \t]+"[^"\n]*")?\)')
FENCE = re.compile(r"^[ \t]*(```+|~~~+)")


def findings_in_body(front: Frontmatter, files: Collection[str]) -> Iterator[Finding]:
    """Find what is odd about a body that lies beside these files."""
    tokens = tokens_in(front.body)
    if tokens > MANY_TOKENS:
        message = f"the body is about {tokens} tokens; move detail into files beside it, below {MANY_TOKENS}"
        yield warning("long-body", message, front.body_line)
    if not front.body.strip():
        yield warning("empty-body", "there are no instructions below the frontmatter", front.body_line)
    there = {*files, "."}
    for file in files:
        there.update(_folders_of(file))
    for number, target in _links(front.body):
        if not {posixpath.normpath(target), posixpath.normpath(unquote(target))} & there:
            message = f"`{show(target, 80)}` is no file of this skill"
            yield warning("missing-file", message, front.body_line + number)


def _folders_of(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _links(body: str) -> Iterator[tuple[int, str]]:
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


MANY_FINDINGS = 100


class Verdict(Value):
    """The two verdicts on a skill, its name for itself, and everything found."""

    declared: str
    loadable: bool
    valid: bool
    findings: tuple[Finding, ...]


def judge(data: bytes, folder: str, files: Collection[str], *, refusal: str = "") -> Verdict:
    """Judge a SKILL.md that lies in a folder of this name beside these files (paths with `/` from the folder).

    `refusal`: why these files would not be installed, where that is known.
    """
    try:
        text = decode_text(data)
        front = read_frontmatter(text)
    except NotLoadable as unread:
        return Verdict(declared="", loadable=False, valid=False, findings=(unread.finding,))
    found = list(
        _bounded(
            chain(
                (finding.but(level="error") for finding in front.findings),
                _form(data, text, front),
                findings_in_fields(front, folder, text),
                _conflict(text),
                hidden_characters(text),
                findings_in_body(front, files),
                _files(files, refusal),
            )
        )
    )
    name = front.values.get("name")
    return Verdict(
        declared=name if isinstance(name, str) else "",
        loadable=True,
        valid=all(finding.level != "error" for finding in found),
        findings=tuple(sorted(found, key=lambda finding: (finding.line, finding.code))),
    )


def _bounded(found: Iterable[Finding]) -> Iterator[Finding]:
    """Give the first hundred findings of each kind, and one that counts the others: a file may have a million."""
    counts: Counter[str] = Counter()
    last: dict[str, Finding] = {}
    for finding in found:
        counts[finding.code] += 1
        if counts[finding.code] <= MANY_FINDINGS:
            yield finding
        else:
            last[finding.code] = finding
    for code, finding in last.items():
        yield finding.but(message=f"{counts[code] - MANY_FINDINGS} more of these, up to here")


def _form(data: bytes, text: str, front: Frontmatter) -> Iterator[Finding]:
    if data.startswith(b"\xef\xbb\xbf"):
        yield error("bom", "the file begins with a byte order mark")
    if not text.startswith("---"):
        yield error("leading-blank", "the first line must be `---`")
    if front.dialect != "yaml":
        yield error("not-yaml", "the frontmatter must be YAML; TOML is read by some hosts only")


def _conflict(text: str) -> Iterator[Finding]:
    """Find what a merge left to somebody to choose."""
    found = conflict_in(text)
    if found is not None:
        message = f"a merge conflict is not resolved here, up to line {found[1]}; {WAY_OUT}"
        yield error("merge-conflict", message, found[0])


def _files(files: Collection[str], refusal: str) -> Iterator[Finding]:
    if skill_file(files) not in {None, SKILL_FILE}:
        yield warning("file-name", f"the file should be called {SKILL_FILE}: some hosts read no other")
    if refusal and not any(map(path_fault, files)):
        yield error("not-installable", f"it would not be installed: {refusal}")
    for path in sorted(files):
        if posixpath.basename(path) in SKILL_FILES and "/" in path:
            yield warning("nested-skill", f"`{show(path)}` is another skill inside this one; some hosts load it too")
        if fault := path_fault(path):
            yield error("bad-path", f"the path `{show(path)}` {fault}")
