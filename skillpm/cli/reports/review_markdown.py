"""Changed skills as Markdown, for a comment on a pull request or for its description.

All text from outside is inside code: in spans and fences that it cannot close. There it is neither a link nor an image,
a mention or HTML. The length is bounded, since forges cut long comments; what is grave comes first.
"""

from collections.abc import Iterator, Sequence

from skillpm.cli.reports.review_output import describe_states, escape_line
from skillpm.compare.skill_change import SkillChange
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import pluralize, sanitize
from skillpm.skillmd.capabilities import MAX_LISTED, ReviewFinding

MAX_LENGTH = 60_000  # GitHub takes 65,536 characters; at most half of it is the list
MAX_FAILURES = 20
BACKTICKS = lazy_pattern("`+")


def render_changes(changes: Sequence[SkillChange], failures: Sequence[str] = ()) -> str:
    """Return all changes as Markdown: first a list with warnings, then the content that differs.

    `failures` are messages about skills that could not be updated.
    """
    counts = [(kind, sum(change.kind == kind for change in changes)) for kind in ("added", "changed", "removed")]
    summary = ", ".join(f"{count} {kind}" for kind, count in counts if count) or "none"
    parts = [f"### Skills: {summary}\n"]
    parts += [f"- ⚠️ {code(message, 500)}" for message in failures[:MAX_FAILURES]]
    listed = sorted(changes, key=lambda change: (not change.warnings, not change.capabilities, change.name))
    left = MAX_LENGTH - sum(len(part) + 1 for part in parts)
    for number, change in enumerate(listed):
        item = "\n".join(_list_change(change))
        if len(item) > left - MAX_LENGTH // 2:
            warned = sum(bool(other.warnings) for other in listed[number:])
            parts.append(f"- and {pluralize(len(listed) - number, 'skill')} more, {warned} of them with warnings")
            break
        parts.append(item)
        left -= len(item) + 1
    for change in listed:
        details = _render_details(change)
        if len(details) > left:
            parts.append(f"\nThe content of {code(change.name)} and what follows is too long for this comment.")
            break
        parts.append(details)
        left -= len(details) + 1
    return "\n".join(part for part in parts if part) + "\n"


def code(text: str, limit: int = 200) -> str:
    """Return untrusted text as a code span that it cannot leave."""
    clean = sanitize(text, limit) or " "
    fence = "`" * (_longest_run(clean) + 1)
    space = " " if clean[0] in "` " or clean[-1] in "` " else ""
    return f"{fence}{space}{clean}{space}{fence}"


def fence(text: str, language: str) -> str:
    """Return untrusted text as a code block that it cannot leave."""
    marker = "`" * max(3, _longest_run(text) + 1)
    return f"{marker}{language}\n{text}\n{marker}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in BACKTICKS.findall(text)), default=0)


def _list_change(change: SkillChange) -> Iterator[str]:
    link = f" ([compare]({change.compare_url}))" if change.compare_url else ""
    yield f"- **{code(change.name)}** {code(describe_states(change))}{link}"
    for finding in change.warnings:
        yield f"  - ⚠️ **{_render_finding(finding)}**"
    words = change.capability_summary.partition(":")[0]
    for finding in change.capabilities:
        yield f"  - {words} {_render_finding(finding)}"
    if change.files and not change.capabilities:
        yield "  - nothing new was found that it may do"


def _render_finding(finding: ReviewFinding) -> str:
    values = ", ".join(code(value) for value in finding.values[:MAX_LISTED])
    more = f" and {len(finding.values) - MAX_LISTED} more" if len(finding.values) > MAX_LISTED else ""
    return f"{finding.summary}: {values}{more}" if values else finding.summary


def _render_details(change: SkillChange) -> str:
    if not change.files:
        return ""
    blocks = []
    for file in change.files:
        if file.diff:
            blocks.append(fence("\n".join(map(escape_line, file.diff.split("\n"))), "diff"))
        else:
            blocks.append(f"{file.change} {code(file.path)} (binary or too large to compare)")
    # A skill's name has only letters, digits and hyphens.
    summary = f"<summary>{change.name}: {pluralize(len(change.files), 'file')}</summary>"
    return "\n\n".join([f"\n<details>{summary}", *blocks, "</details>"])
