"""TOML frontmatter becomes YAML without changing what is parsed, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpm.skillmd.autofix import convert_to_yaml
from skillpm.skillmd.frontmatter import decode_text, read_frontmatter
from skillpm.skillmd.skill import read_skill

TOML = """+++
# Who it is for: everybody.
name = "pdf"
description = 'Reads "PDF" files: all of them, #1'
triggers = ["pdf", "read: it"]

[metadata]
version = "1.10"
requires = ["pdftotext"]
+++
# PDF

+++ is no fence here
"""


def test_fields_comments_and_the_body_are_kept() -> None:
    converted = convert_to_yaml(TOML.encode(), "pdf")

    assert converted.data.decode() == (
        "---\n"
        "# Who it is for: everybody.\n"
        "name: pdf\n"
        "description: 'Reads \"PDF\" files: all of them, #1'\n"
        "triggers:\n- pdf\n- 'read: it'\n"
        "metadata:\n  version: '1.10'\n  requires:\n  - pdftotext\n"
        "---\n"
        "# PDF\n\n+++ is no fence here\n"
    )
    assert [(fix.code, fix.message) for fix in converted.fixes] == [
        ("not-yaml", "converted the TOML frontmatter to YAML")
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'---\nname = "a"\ndescription = "B"\n---\n+++\n', b"---\nname: a\ndescription: B\n---\n+++\n"),
        (b'---toml\nname = "a"\ndescription = "B"\n---\nBody', b"---\nname: a\ndescription: B\n---\nBody"),
        (b'\xef\xbb\xbf\n+++\nname = "a"\ndescription = "B"\n+++', b"\xef\xbb\xbf\n---\nname: a\ndescription: B\n---"),
    ],
)
def test_any_fence_around_toml_is_converted(before: bytes, after: bytes) -> None:
    assert convert_to_yaml(before, "a").data == after


def test_line_endings_and_the_body_stay_byte_for_byte() -> None:
    data = b'+++\r\nname = "a"\r\ndescription = "B"\r\n+++\r\n\r\nBody\nof \r\n two\t\r\n\r\n'

    converted = convert_to_yaml(data, "a").data

    assert converted == b"---\r\nname: a\r\ndescription: B\r\n---\r\n\r\nBody\nof \r\n two\t\r\n\r\n"


@pytest.mark.parametrize(
    "data",
    [
        b"---\nname: a\ndescription: b\n---\nBody\n",
        b"no frontmatter",
        b'+++\nname = "a\n+++\nBody\n',
        b"+++\nname = 1\n",
        b"",
    ],
)
def test_what_is_not_toml_stays(data: bytes) -> None:
    assert convert_to_yaml(data, "a").data == data


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)


KEYS = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
FENCES = [("+++", "+++"), ("---", "---"), ("---toml", "---")]


@given(st.dictionaries(KEYS, st.one_of(TEXT, st.lists(TEXT, max_size=3))), TEXT, st.sampled_from(FENCES))
def test_what_is_parsed_is_the_same(values: dict[str, object], body: str, fences: tuple[str, str]) -> None:
    fields = {"name": "a", "description": "Does it.", **values}
    block = "".join(f"{key} = {to_toml(value)}\n" for key, value in fields.items())
    data = f"{fences[0]}\n{block}{fences[1]}\n{body}".encode()

    converted = convert_to_yaml(data, "a").data

    if converted != data:
        assert read_frontmatter(decode_text(converted)).dialect == "yaml"
        before, after = read_skill(data), read_skill(converted)
        assert (after.description, after.body, after.extra) == (before.description, before.body, before.extra)
        assert convert_to_yaml(converted, "a").data == converted


def to_toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(to_toml, value)) + "]"
    escaped = "".join(f"\\U{ord(letter):08x}" if letter in '"\\' else letter for letter in str(value))
    return f'"{escaped}"'
