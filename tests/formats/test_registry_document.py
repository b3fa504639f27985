"""The registry: compact, deterministic, and validated when it is read."""

import json
from typing import Any

import pytest
from formats.document_strategies import EXAMPLES, names, seen, texts
from hypothesis import given
from hypothesis import strategies as st

from skillpm.errors import DocumentError
from skillpm.formats.registry import KEY_TYPES, LIST_KEYS, RegistryEntry, normalize_entry, read_registry, write_registry

PDF: RegistryEntry = {
    "name": "pdf",
    "category": "general",
    "description": "Reads PDFs.",
    "triggers": [],
    "filePath": "pdf/SKILL.md",
}


def test_a_registry_has_this_text() -> None:
    other = normalize_entry(
        PDF | {"name": "docx", "filePath": "docx/SKILL.md", "tokens": 812, "version": "1.0", "tags": []}
    )

    assert (
        write_registry([PDF, other], ["zip", "tdd"])
        == """\
{
  "$schema": "urn:skillpm:schema:registry:1",
  "version": "1",
  "skills": [
    {"name": "docx", "category": "general", "description": "Reads PDFs.", "triggers": [], "filePath": "docx/SKILL.md", \
"version": "1.0", "tokens": 812},
    {"name": "pdf", "category": "general", "description": "Reads PDFs.", "triggers": [], "filePath": "pdf/SKILL.md"}
  ],
  "disabled": ["tdd", "zip"]
}
"""
    )


def test_empty_keys_are_omitted_except_the_required_five() -> None:
    nothing: RegistryEntry = {**PDF, "description": "", "license": "", "tokens": 0, "tags": [], "metadata": {}}

    assert normalize_entry(nothing) == {**PDF, "description": ""}


def test_the_keys_of_an_entry_have_one_order() -> None:
    turned = RegistryEntry(**dict(reversed({**PDF, "version": "1.0", "tokens": 5}.items())))  # type: ignore[typeddict-item]

    assert list(normalize_entry(turned)) == [*PDF, "version", "tokens"]


ENTRIES = st.builds(
    lambda name, words, more: normalize_entry(
        PDF | {"name": name, "filePath": f"{name}/SKILL.md", "description": words} | more
    ),
    names,
    texts,
    st.fixed_dictionaries(
        {}, optional={"version": texts, "license": texts, "tags": st.lists(seen), "tokens": st.integers(0, 10**6)}
    ),
)


@EXAMPLES
@given(st.lists(ENTRIES, max_size=5, unique_by=lambda entry: entry["name"]), st.lists(names, max_size=3))
def test_written_documents_round_trip_to_the_same_bytes(entries: list[RegistryEntry], disabled: list[str]) -> None:
    text = write_registry(entries, disabled)
    read, off = read_registry(text, "skills.json")

    assert read == {entry["name"]: entry for entry in entries}
    assert off == tuple(sorted(disabled))
    assert write_registry(reversed(entries), reversed(disabled)) == write_registry(read.values(), off) == text


@pytest.mark.parametrize("name", ["pdf", "Pdf Tools", "x_y", "größe", "con", "a:b", "x\\y", "a.", "..a", "two\nlines"])
def test_a_skill_that_people_made_by_hand_may_have_any_harmless_name(name: str) -> None:
    entry: RegistryEntry = {**PDF, "name": name, "filePath": f"{name}/SKILL.md"}

    assert read_registry(write_registry([entry]), "skills.json") == ({name: entry}, ())


BUILD = "run `skillpm registry build`"


@pytest.mark.parametrize(
    "change",
    [
        {"name": 5},
        {"name": ["pdf"]},
        {"description": None},
        {"filePath": 5},
        {"filePath": "../pdf/SKILL.md"},
        {"filePath": "/etc/passwd"},
        {"filePath": "pdf\\..\\..\\SKILL.md"},
        {"name": "..", "filePath": "../SKILL.md"},
        {"name": "../..", "filePath": "../../SKILL.md"},
        {"name": "/etc", "filePath": "/etc/SKILL.md"},
        {"name": "", "filePath": "/SKILL.md"},
        {"name": ".", "filePath": "./SKILL.md"},
        {"name": "..\\..", "filePath": "..\\../SKILL.md"},
        {"name": "a\0", "filePath": "a\0/SKILL.md"},
        *({key: value} for key in KEY_TYPES for value in (None, 5.5, "5" if KEY_TYPES[key] is not str else 5)),
        *({key: [5]} for key in LIST_KEYS),
        {"needs": {"env": 5}},
        {"needs": {"env": [5]}},
        {"mcpServers": {"acme": 5}},
        {"mcpServers": {"acme": {"command": "x", "args": 5}}},
    ],
)
def test_an_entry_that_is_unsound_or_leads_out_spoils_the_registry(change: dict[str, Any]) -> None:
    text = json.dumps({"version": "1", "skills": [PDF | change]})
    with pytest.raises(DocumentError) as caught:
        read_registry(text, "skills.json")
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        "not a valid registry",
        "skills.json",
        BUILD,
    )


@pytest.mark.parametrize("key", PDF)
def test_an_entry_that_lacks_what_all_have_spoils_the_registry(key: str) -> None:
    less = {other: value for other, value in PDF.items() if other != key}

    with pytest.raises(DocumentError, match="not a valid registry"):
        read_registry(json.dumps({"version": "1", "skills": [PDF | {"name": "docx"}, less]}), "skills.json")


@pytest.mark.parametrize(
    "text",
    [
        *("", "nonsense", "[]", "null", "5", '"1"', "{}", '{"version": "1"}', '{"version": "1", "skills": {"pdf": 1}}'),
        *('{"version": "1", "skills": [1]}', '{"version": "1", "skills": [{}]}', '{"version": "1", "skills": null}'),
        *('{"version": "1", "skills": [], "disabled": "pdf"}', '{"version": "1", "skills": [], "disabled": [1]}'),
        pytest.param('{"version": "1", "skills": ' + "[" * 100_000, id="deep"),
        pytest.param('{"version": ' + "1" * 5000 + "}", id="long number"),
    ],
)
def test_another_document_is_rejected(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_registry(text, "skills.json")
    assert (caught.value.message, caught.value.hint) == ("not a valid registry", BUILD)


@pytest.mark.parametrize(
    ("version", "shown"), [("2", "2"), (1, "1"), ("\x1b[2J", "\\x1b[2J"), ("9" * 50, "9" * 19 + "…")]
)
def test_a_registry_of_another_format_is_refused(version: Any, shown: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_registry(json.dumps({"version": version, "skills": []}), "skills.json")
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        f"unsupported registry format {shown}; this version of skillpm reads 1",
        "skills.json",
        BUILD,
    )
