"""Reading only the head of a skill yields the same fields as reading all of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.head import SkillHead, extract_frontmatter, read_head

PIECES = st.sampled_from(
    [
        b"---", b"+++", b"---toml", b"--- ", b"----", b"\n", b"\r\n", b"\r", b" ", b"\t", b"\xef\xbb\xbf", b"\x1c",
        b"name: pdf", b"description: a: b", b"name = 'pdf'", b"text: |", b"  ---", b"- x", b"\xc3\xa9", b"#",
    ]
)  # fmt: skip


def head_fields(data: bytes) -> SkillHead | str:
    try:
        return read_head(data)
    except NotLoadable as error:
        return error.finding.code


@settings(max_examples=3000)
@given(st.lists(PIECES, max_size=14).map(b"".join))
def test_the_head_has_the_same_fields_as_the_whole_file(data: bytes) -> None:
    front = extract_frontmatter(data)
    if front is not None:
        assert data.startswith(front)
        assert head_fields(front) == head_fields(data)


@pytest.mark.parametrize(
    ("data", "front"),
    [
        (b"---\nname: pdf\n---\nbody", b"---\nname: pdf\n---"),
        (b"\n\n---\r\nname: pdf\r\n---\r\nbody", b"\n\n---\r\nname: pdf\r\n---"),
        (b"---\n---\nbody", b"---\n---"),
        (b"+++\nname = 'pdf'\n---\n+++ \nbody", b"+++\nname = 'pdf'\n---\n+++ "),
        (b"---\nname: pdf\n---", None),
        (b"---\nname: pdf\n", None),
        (b"no frontmatter\n---\n---\n", None),
        (b"", None),
    ],
)
def test_the_head_ends_with_its_fence(data: bytes, front: bytes | None) -> None:
    assert extract_frontmatter(data) == front


def test_a_head_has_each_field_on_one_line() -> None:
    data = b"---\nname: ' pdf '\ndescription: |\n  Reads\n  PDFs.\ncompatibility: [a]\n---\n"
    assert read_head(data) == SkillHead(
        name="pdf", description="Reads PDFs.", compatibility="", problem="", dialect="yaml"
    )


def test_a_head_tells_what_had_to_be_repaired() -> None:
    head = read_head(b"---\nname: [\ndescription: d: e\n---\n")

    assert head.problem == "line 2: this value was read as plain text, since YAML does not allow it without quotes"
