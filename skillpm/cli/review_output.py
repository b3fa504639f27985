"""Output of what changed in the content of skills, as text and as JSON."""

from collections.abc import Sequence
from typing import Any

from skillpm.cli.console import Console
from skillpm.core.text import HIDDEN, sanitize
from skillpm.operations.inspect.file_diff import FileDiff
from skillpm.skillmd.capability_changes import ReviewFinding

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
