"""Output of what changed in the content of skills, as text and as JSON."""

from collections.abc import Sequence
from typing import Any

from skillpm.cli.console import Console
from skillpm.compare.file_diff import FileDiff
from skillpm.compare.skill_change import SkillChange
from skillpm.core.text import HIDDEN, sanitize
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.actions import version_label
from skillpm.operations.inspect.outdated import distinct_labels
from skillpm.skillmd.capabilities import ReviewFinding

LINE_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def print_file_diffs(console: Console, files: Sequence[FileDiff]) -> None:
    """Print unified diffs, with colors in a terminal."""
    for file in files:
        if not file.diff:
            console.print_line(f"{file.change}: {sanitize(file.path)} (binary or too large to compare)")
        for line in file.diff.split("\n") if file.diff else ():
            color = LINE_COLORS.get(line[:1])
            console.print_line(escape_line(line), **({"fg": color} if color else {}))


def escape_line(line: str) -> str:
    """Return a line of a diff with its hidden characters visible."""
    return HIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", line.replace("\t", "    "))


def finding_to_json(finding: ReviewFinding) -> dict[str, Any]:
    """Return a finding as JSON."""
    return {"code": finding.code, "message": finding.message, "values": list(finding.values)}


def print_change(console: Console, change: SkillChange) -> None:
    """Print what changed about a skill: a heading, warnings, what it may do now, and the content that differs."""
    console.print_line(f"{change.name}: {describe_states(change)}", bold=True)
    for finding in change.warnings:
        console.print_line(f"! {finding.message}", fg="red", bold=True)
    if change.capabilities:
        console.print_line(change.capability_summary, fg="yellow")
    if change.compare_url:
        console.print_line(change.compare_url)
    print_file_diffs(console, change.files)


def describe_states(change: SkillChange) -> str:
    """Return old and new state in a few words; sanitized."""
    if change.old is None:
        return f"added, {sanitize(version_label(change.new), 60)}"
    if change.new is None:
        return f"removed, was {sanitize(version_label(change.old), 60)}"
    old, new = (sanitize(label, 60) for label in distinct_labels(change.old, change.new))
    return f"{old} → {new}{', same content' if change.is_same_content else ''}"


def change_to_json(change: SkillChange) -> dict[str, Any]:
    """Return what changed about a skill as JSON, without the content."""
    return {
        "name": change.name,
        "change": change.kind,
        "from": _state_to_json(change.old),
        "to": _state_to_json(change.new),
        "compare": change.compare_url,
        "warnings": [finding_to_json(finding) for finding in change.warnings],
        "capabilities": [finding_to_json(finding) for finding in change.capabilities],
    }


def files_to_json(files: Sequence[FileDiff]) -> list[dict[str, str]]:
    """Return the differences of files as JSON."""
    return [{"path": file.path, "change": file.change, "diff": file.diff} for file in files]


def _state_to_json(skill: LockedSkill | None) -> dict[str, str] | None:
    if skill is None:
        return None
    commit = skill.pin.commit_id
    return {
        "label": version_label(skill),
        "version": skill.version,
        "commit": commit,
        "digest": skill.digest or "",
        "source": skill.pin.describe(),
    }
