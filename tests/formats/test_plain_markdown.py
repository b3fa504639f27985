"""Frontmatter for a Markdown file without any: derived from its text, whose bytes stay unchanged."""

import json

import pytest
from commands.scene import expected_output
from formats.document_strategies import EXAMPLES
from hypothesis import given
from hypothesis import strategies as st

from skillpm.formats.legacy_registry import LegacyEntry, read_legacy_registry
from skillpm.formats.plain_markdown import BOM, add_frontmatter, derive_description, first_heading_and_paragraph
from skillpm.skillmd.skill import read_skill


@pytest.mark.parametrize(
    ("file", "heading", "paragraph"),
    [
        ("# API Design\n\nDesigns APIs.\nFor people.\n\nMore.\n", "API Design", "Designs APIs. For people."),
        ("Words first.\n\n# Then a heading\n", "", "Words first."),
        ("## Second level ##\ntext", "Second level", "text"),
        ("Title\n=====\n\nText.\n", "Title", "Text."),
        ("```sh\n# no heading\n```\n\n# Real\n", "Real", ""),
        ("~~~\nnever closed\n# no heading", "", ""),
        ("# T\n\n- a\n- b\n\n1. c\n\n> q\n\n|t|\n|-|\n\n<!-- -->\n\n***\n\n**Bold** words.\n", "T", "**Bold** words."),
        ("#\n#hash\n", "", "#hash"),
        ("", "", ""),
    ],
)
def test_the_first_heading_and_the_first_paragraph_are_found(file: str, heading: str, paragraph: str) -> None:
    assert first_heading_and_paragraph(file) == (heading, paragraph)


@pytest.mark.parametrize(
    ("file", "description"),
    [
        (
            "# Title:\n\nSee [the page](https://x.example/a) and ![a picture](p.png).",
            "Title. See the page and a picture.",
        ),
        ("# A\u200b\x1b[31m B\n", "A[31m B"),
        ("Only words", "Only words"),
        ("- list\n", ""),
    ],
)
def test_a_description_is_one_clean_line(file: str, description: str) -> None:
    assert derive_description(file) == description


def test_a_long_description_is_cut_at_a_word() -> None:
    output = derive_description("word, " * 400)
    assert len(output) <= 1024
    assert output.endswith("word…")


def test_endless_links_take_linear_time() -> None:
    assert len(derive_description("[" * 100_000)) == 1024


def test_registry_metadata_takes_precedence_over_the_text() -> None:
    legacy = LegacyEntry(
        name="X", description='Says "this": #1', category="a: b", triggers=("one", "two, three", "four|five")
    )

    assert add_frontmatter(b"# Title\n", "x", legacy).decode() == expected_output("""\
---
name: x
description: "Says \\"this\\": #1"
metadata:
  category: "a: b"
  triggers: "one"
---
# Title
""")
    assert add_frontmatter(b"body", "x", LegacyEntry()) == b'---\nname: x\ndescription: "body"\n---\nbody'


texts = st.text(st.characters(codec="utf-8"), max_size=80)


@EXAMPLES
@given(texts, st.sampled_from([b"", BOM]), st.text(st.characters(codec="utf-8"), max_size=9))
def test_the_file_follows_the_frontmatter_and_the_skill_loads(body: str, mark: bytes, word: str) -> None:
    data = mark + body.removeprefix("\ufeff").replace("\0", "").encode()
    entry = {"filePath": "x.md", "category": word, "triggers": [word], "description": word}
    legacy = read_legacy_registry(json.dumps({"skills": [entry]}), "F").entries["x.md"]

    written = add_frontmatter(data, "a-name", legacy)

    assert written.startswith(mark)
    assert written.endswith(data.removeprefix(BOM))
    skill = read_skill(written)
    assert (skill.declared, skill.category) == ("a-name", legacy.category)
    assert skill.description == (legacy.description or skill.description)
    assert skill.description != ""
