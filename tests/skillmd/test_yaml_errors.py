"""Why hosts with a strict parser do not read some frontmatter: the fault of its YAML, with the line of the file."""

from pathlib import Path

import pytest

import skillpm
from skillpm.core.json_text.decoder import parse_json
from skillpm.formats.host_profile import read_profile
from skillpm.skillmd.head import read_head

PROFILES = Path(skillpm.__file__).parent / "profiles/hosts"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("---\nname: a\n---\n", ""),
        ("---\ndescription: Use: x\n---\n", ""),
        ("---\nname: [\n---\n", "line 2: did not find expected node content"),
        ("\n---\nname: [\n---\n", "line 3: did not find expected node content"),
        ("---\ndescription: Use: x\nname: [\nlicense: MIT\n---\n", "line 4: did not find expected ',' or ']'"),
    ],
)
def test_the_fault_and_its_line(text: str, error: str) -> None:
    assert read_head(text.encode()).flaws.get("invalid", "") == error


@pytest.mark.parametrize(
    ("lines", "flaws"),
    [
        ("description: Use when: this", {}),
        ("description: '@me', and `code`", {"unquotable": "line 3: did not find expected key"}),
        ("description: @me", {}),
        ("description: `code` x", {}),
        ("description: [WIP] x", {}),
        ("description: *bold: x", {}),
        ("description: x\nmetadata:\n  author: @me", {}),
        ("description: x\ntags:\n  - a: b: c", {}),
        ("description: &d Text", {}),
        ("description: x\nlicense: a\nlicense: b", {}),
        ("description: *bold* x", {"unquotable": "line 3: did not find expected alphabetic or numeric character"}),
        ("description: %x", {"unquotable": "line 3: found character that cannot start any token"}),
        ("description: 'It's broken'", {"unquotable": "line 3: did not find expected key"}),
        ("description: x\n\n  Keywords: a", {"unquotable": "line 5: mapping values are not allowed in this context"}),
        ("description: x\nmetadata:\n\ta: b", {"unquotable": "line 5: found character that cannot start any token"}),
        ("description: x\ndescription: y", {"repeated": "line 4"}),
        ("description: x\nmetadata: text", {"mistyped": "metadata"}),
        ("description: x\nmetadata:\n  short-description: [a]", {"mistyped": "metadata.short-description"}),
    ],
)
def test_what_codex_reads_of_yaml(lines: str, flaws: dict[str, str]) -> None:
    """As Codex 0.171.0 answered to `skills/list`."""
    of_codex = read_profile(parse_json((PROFILES / "codex.json").read_text(), "codex.json"), "codex").refuses
    found = read_head(f"---\nname: a\n{lines}\n---\n".encode()).flaws

    assert {flaw: detail for flaw, detail in found.items() if flaw in of_codex} == flaws
