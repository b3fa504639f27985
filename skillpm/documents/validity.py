"""Is a skill *valid*: does it keep the Agent Skills specification to the letter? For authors and publishers.

Loading asks far less (`skill.py`). An error here means "not valid"; a warning is advice. Verdicts agree with the
reference validator `skills-ref` on every file that its YAML dialect can read (docs/adr/0008-two-verdicts.md).
"""

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from skillpm.documents.body_rules import findings_in_body
from skillpm.documents.conflicts import WAY_OUT, conflict_in
from skillpm.documents.field_rules import findings_in_fields
from skillpm.documents.findings import Finding, NotLoadable, error, warning
from skillpm.documents.frontmatter import Frontmatter, decode_text, read_frontmatter
from skillpm.documents.hidden_text import hidden_characters
from skillpm.documents.names import SKILL_FILE, SKILL_FILES, path_fault, skill_file
from skillpm.documents.text import show
from skillpm.values import Value

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
