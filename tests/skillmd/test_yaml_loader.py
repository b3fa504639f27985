"""Rejected YAML is reported with the reason and the line within the text."""

import subprocess
import sys

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from skillpm.skillmd.findings import Finding
from skillpm.skillmd.yaml_loader import YamlError, read_yaml


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a: 1\nb: [", "did not find expected node content", 3),
        ("a: 1\nb: 'x", "found unexpected end of stream", 2),
        ("a: 1\n\tb: 2", "found a tab character that violates indentation", 2),
        ("a: 1\nb: c: d", "mapping values are not allowed in this context", 2),
        ("a: 1\n--- b", "more than one YAML document", 2),
        ("a: 1\nb: *c", "aliases are not supported", 2),
        ("a: 1\nb: !c 1", "tags are not supported", 2),
        ("a: 1\nb: !c [1]", "tags are not supported", 2),
        ("a: 1\n? [b]\n: c", "a key is not a string", 2),
        ("a: 1\nb:\n  " + "[" * 20, "nested deeper than 20", 3),
        ("a: \x07", "unacceptable character #x0007: control characters are not allowed", 1),
    ],
)
def test_an_error_has_a_message_and_a_line(text: str, message: str, line: int) -> None:
    with pytest.raises(YamlError) as caught:
        read_yaml(text, [])
    assert (caught.value.message, caught.value.line) == (message, line)


@pytest.mark.parametrize("with_libyaml", [yaml.__with_libyaml__, False], ids=["as installed", "without libyaml"])
def test_a_lone_surrogate_is_rejected_by_both_parsers(monkeypatch: pytest.MonkeyPatch, *, with_libyaml: bool) -> None:
    monkeypatch.setattr(yaml, "__with_libyaml__", with_libyaml)
    with pytest.raises(YamlError):
        read_yaml('a: "\\ud800"', [])
    assert read_yaml('a: "\\u00e9"\nb: 1.10', []) == {"a": "é", "b": "1.10"}


@pytest.mark.parametrize("text", ["", "# comment", "---", "--- ", "---\n...", "~", "null"])
def test_nothing_is_none(text: str) -> None:
    assert read_yaml(text, []) is None


def test_a_directive_and_document_markers_are_accepted() -> None:
    assert read_yaml("%YAML 1.1\n---\na: 1.10\n...\n", []) == {"a": "1.10"}


def test_many_values_side_by_side_are_not_deep() -> None:
    assert read_yaml("a: [" + "[b], {c: d}, " * 50 + "]", []) == {"a": [["b"], {"c": "d"}] * 50}


def test_duplicate_keys_are_reported_at_the_second() -> None:
    findings: list[Finding] = []

    assert read_yaml("a: 1\nb: {x: 1, x: 2}\na: 3\n~: 4\n'': 5\n", findings) == {"a": "3", "b": {"x": "2"}, "": "5"}
    assert findings == [
        Finding(
            code="duplicate-key",
            level="warning",
            message=f"duplicate key `{key}`; the last one is used",
            line=line,
        )
        for key, line in (("x", 2), ("a", 3), ("", 5))
    ]


PIECES = [
    "a",
    "b-c",
    "null",
    "  ",
    " ",
    ":",
    ": ",
    "#",
    " #",
    '"',
    "'",
    "\\",
    "-",
    "- ",
    "é",
    "1.10",
    "~",
    "[",
    "\t",
    "\n",
]
PIECES += [
    "\n  d: ",
    "\ne:",
    "\r",
    "\x85",
    "\xa0",
    "\u2028",
    "\ufeff",
    "\x07",
    "\U0001f600",
    "&",
    "*",
    "!",
    "|",
    ">",
    "%",
    "...",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(lambda pieces: "a: " + "".join(pieces) + "\n"))
@example("a: b c\nd: \"e: #\"\nf: 'g: #'\nmetadata:\n  h: i:j#k \n  l:\nm: ~\n")
@example("a: b\n  c: d\n")
@example("a: null\nnull: b\n")
@example("a:\n  b: c\n  b: d\n")
@example("a: ~\n  b: c\n")
def test_simple_lines_are_read_as_the_parser_reads_them(text: str) -> None:
    def read(document: str) -> object:
        try:
            return read_yaml(document, [])
        except YamlError:
            return YamlError

    assert read(text) == read(f"---\n{text}")  # which is read by the parser


def test_simple_lines_need_no_parser() -> None:
    code = "from skillpm.skillmd.yaml_loader import *; print(read_yaml(sys.argv[1], []), 'yaml' in sys.modules)"
    text = "name: pdf\ndescription: Read a PDF (see https://pdf.example/#a). \nmetadata:\n  author: 'x'\n"

    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}", text], capture_output=True, text=True, check=True
    )

    values = {"name": "pdf", "description": "Read a PDF (see https://pdf.example/#a).", "metadata": {"author": "x"}}
    assert done.stdout == f"{values} False\n"
