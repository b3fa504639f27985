"""What people meant who wrote YAML that is none: read key by key, each as far as it can be.

Only asked after a strict reading failed, and every repair is reported with its line: repairing always would turn
honest values into text.
"""

import re
from typing import Any

from skillpm.documents.findings import Finding
from skillpm.documents.yaml_text import YamlFault, read_yaml

TOP_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*)|)$")
BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?")
MARKER = re.compile(r"(<{7}|={7}|>{7})(\s|$)")


def read_broken_yaml(block: str, findings: list[Finding]) -> dict[str, Any]:
    """Give the top-level keys of a block that is no YAML, and report each that had to be repaired.

    A key's value is its own piece of YAML when that can be read, else the rest of its line, and the lines indented
    below it, as text. Keys never come from nested lines.
    """
    values: dict[str, Any] = {}
    for key, first, lines in _pieces(block, findings):
        own: list[Finding] = []
        try:
            values[key] = _one_value(key, read_yaml("\n".join(lines), own))
            findings.extend(_moved(finding, first - 1) for finding in own)
        except YamlFault as fault:
            values[key] = _as_text(lines)
            message = f"`{key}` was read as plain text, since it is no YAML: {fault.message}"
            findings.append(Finding(code="frontmatter-repaired", level="warning", message=message, line=first))
    return values


def _pieces(block: str, findings: list[Finding]) -> list[tuple[str, int, list[str]]]:
    """Split a block at its top-level keys; give (key, line from 1, its lines). A later key of a name wins."""
    pieces: dict[str, tuple[str, int, list[str]]] = {}
    current: list[str] = []
    for number, line in enumerate(block.split("\n"), 1):
        match = TOP_KEY.match(line)
        if match is not None:
            current = [line]
            if match[1] in pieces:
                message = f"the key `{match[1]}` stands twice; the last one counts"
                findings.append(Finding(code="duplicate-key", level="warning", message=message, line=number))
            pieces[match[1]] = (match[1], number, current)
        elif MARKER.match(line):
            message = "this line is left over from a merge, and is no part of the frontmatter"
            findings.append(Finding(code="frontmatter-repaired", level="warning", message=message, line=number))
            current = []
        else:
            current.append(line)
    return sorted(pieces.values(), key=lambda piece: piece[1])


def _one_value(key: str, value: Any) -> Any:
    """Give the value of a piece that is one key, as it should be."""
    if isinstance(value, dict) and list(value) == [key]:
        return value[key]
    raise YamlFault("it is more or less than one key", 1)


def _as_text(lines: list[str]) -> str:
    """Give the text of a value: the rest of its line and what follows, folded; a block scalar keeps its lines."""
    match = TOP_KEY.match(lines[0])
    rest = (match[2] or "").strip() if match is not None else ""
    below = [line.strip() for line in lines[1:]]
    if BLOCK_SCALAR.fullmatch(rest):
        return "\n".join(below).strip()
    text = " ".join(part for part in [rest, *below] if part and not part.startswith("#"))
    quote = text[:1]
    return text[1:-1] if quote in {'"', "'"} and len(text) > 1 and text.endswith(quote) else text.lstrip("\"'")


def _moved(finding: Finding, lines: int) -> Finding:
    return finding.but(line=finding.line + lines)
