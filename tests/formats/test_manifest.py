"""The manifest: parsed strictly, with unknown top-level keys kept and listed."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from formats.document_strategies import EXAMPLES, names, requirements
from hypothesis import given
from hypothesis import strategies as st

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError, NewerDocument
from skillpm.formats.editing.json_edit import set_member
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.lockfile import read_lockfile
from skillpm.formats.manifest import EMPTY_MANIFEST, Manifest, document_kind, read_manifest
from skillpm.formats.receipt import read_receipt

FILE = "skills.json"
START = 'a manifest has `"skills": {}`; create one with `skillpm init`, or use `-g` for user scope'
NAME = "use lower-case letters, digits and single hyphens, at most 64 characters, e.g. code-review"


def read(value: Any) -> Manifest:
    return read_manifest(json.dumps(value), FILE)


def test_the_manifest_of_the_documentation_is_read() -> None:
    skills: dict[Any, Any] = {"code-review": "^1.2", "pdf": {"git": "https://github.com/anthropics/skills"}}
    manifest = read(
        {
            "$schema": "urn:skillpm:schema:manifest:1",
            "name": "payments-service",
            "skills": skills,
            "indexes": [{"name": "acme", "url": "https://skills.acme.example/"}],
            "agents": ["claude-code", "opencode"],
            "disabled": {"house-style": ["opencode"], "deploy": True},
            "permissions": {"deploy-*": "ask"},
        }
    )

    assert manifest == Manifest(
        file=FILE,
        skills=skills,
        agents=("claude-code", "opencode"),
        disabled={SkillName("house-style"): ["opencode"], SkillName("deploy"): True},
        permissions={"deploy-*": "ask"},
        indexes=(ConfiguredIndex(name="acme", url="https://skills.acme.example/", defined_in="skills.json: indexes"),),
    )
    assert manifest.disabled_for_all == {"deploy"}


def test_only_skills_must_be_there() -> None:
    assert read({"skills": {}}) == read_manifest(EMPTY_MANIFEST, FILE) == Manifest(file=FILE)


def test_an_empty_list_of_agents_differs_from_a_missing_one() -> None:
    assert read({"skills": {}, "agents": []}).agents == ()
    assert read({"skills": {}}).agents is None


def test_unknown_keys_are_kept_and_listed_in_order() -> None:
    manifest = read({"x-team": 1, "skills": {}, "author": {"name": "Ann"}, "$schema": "https://other.example/schema"})

    assert manifest == Manifest(file=FILE, unknown_keys=("x-team", "author"))


@pytest.mark.parametrize(
    ("value", "message", "where", "hint"),
    [
        ({"skills": {"PDF": "*"}}, "invalid skill name `PDF`", "skills.json: skills.PDF", NAME),
        ({"skills": {"../x": "*"}}, "invalid skill name `../x`", "skills.json: skills.../x", NAME),
        ({"skills": {"pdf\n": "*"}}, "invalid skill name `pdf\\n`", "skills.json: skills.pdf\\n", NAME),
        ({"skills": {"": "*"}}, "invalid skill name ``", "skills.json: skills.", NAME),
        ({"skills": {"con": "*"}}, "invalid skill name `con`", "skills.json: skills.con", NAME),
        ({"skills": {}, "agents": "claude-code"}, 'expected an array, got "claude-code"', "skills.json: agents", ""),
        ({"skills": {}, "agents": ["a", 1]}, "expected a string, got 1", "skills.json: agents.1", ""),
        ({"skills": {}, "disabled": ["a"]}, "expected an object, got an array", "skills.json: disabled", ""),
        ({"skills": {}, "disabled": {"A": True}}, "invalid skill name `A`", "skills.json: disabled.A", NAME),
        ({"skills": {}, "disabled": {"a": False}}, "expected an array, got false", "skills.json: disabled.a", ""),
        ({"skills": {}, "disabled": {"a": "x"}}, 'expected an array, got "x"', "skills.json: disabled.a", ""),
        ({"skills": {}, "disabled": {"a": [1]}}, "expected a string, got 1", "skills.json: disabled.a.0", ""),
    ],
)
def test_an_error_names_its_key(value: Any, message: str, where: str, hint: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(value)
    assert (caught.value.message, caught.value.where, caught.value.hint) == (message, where, hint)


FOREIGN = "this file is not a skillpm manifest"
REGISTRY = "this file is a registry (`skills` is an array)"


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ({"skills": []}, "registry", REGISTRY),
        ({"version": "1", "skills": [{"name": "pdf"}]}, "registry", REGISTRY),
        ({"skills": ["pdf", 1]}, "foreign", FOREIGN),
        ({"skills": [{"name": "pdf"}, "tdd"]}, "registry", REGISTRY),
        ({}, "foreign", "`skills` is missing"),
        ({"$schema": "x", "agents": []}, "foreign", "`skills` is missing"),
        ({"hello": 1}, "foreign", FOREIGN),
        ({"skills": None}, "foreign", FOREIGN),
        ({"skills": "pdf"}, "foreign", FOREIGN),
        ({"skills": {}, "installDir": ".skills"}, "foreign", FOREIGN),
        ({"skills": {}, "linkTargets": []}, "foreign", FOREIGN),
        ({"skills": {}, "patchedSkills": {}}, "foreign", FOREIGN),
        ([], "foreign", FOREIGN),
        ("skills", "foreign", FOREIGN),
        (None, "foreign", FOREIGN),
    ],
)
def test_another_document_named_skills_json_is_recognized(value: Any, kind: str, message: str) -> None:
    assert document_kind(JsonNode(value, FILE)) == kind
    with pytest.raises(DocumentError) as caught:
        read(value)
    assert (caught.value.message, caught.value.where, caught.value.hint) == (message, FILE, START)


@pytest.mark.parametrize("skills", [{}, [], None])
def test_a_newer_manifest_is_rejected(skills: Any) -> None:
    with pytest.raises(NewerDocument) as caught:
        read({"$schema": "urn:skillpm:schema:manifest:2", "skills": skills})
    assert (caught.value.message, caught.value.where, caught.value.hint) == (
        "unsupported format 2; this version of skillpm reads up to 1",
        FILE,
        "upgrade skillpm: pip install --upgrade agent-skillpm",
    )


def test_a_manifest_with_invalid_json_is_reported_with_line_and_column() -> None:
    with pytest.raises(DocumentError) as caught:
        read_manifest('{\n  "skills": {\n    "pdf": "*"\n    "tdd": "*"\n  }\n}\n', FILE)
    assert (caught.value.message, caught.value.where) == (
        "invalid JSON: Expecting ',' delimiter",
        "skills.json:4:5",
    )


@EXAMPLES
@given(st.dictionaries(names, requirements, max_size=6))
def test_an_edited_manifest_is_parsed_again(skills: dict[SkillName, Any]) -> None:
    text = EMPTY_MANIFEST
    for name, value in skills.items():
        text = set_member(text, ("skills", name), value)

    assert read_manifest(text, FILE) == Manifest(file=FILE, skills=skills)
    assert list(read_manifest(text, FILE).skills) == sorted(skills)


@pytest.mark.parametrize("value", ["yes", True, None, ["deny"]])
def test_a_permission_is_one_of_three_actions(value: Any) -> None:
    with pytest.raises(DocumentError) as caught:
        read({"skills": {}, "permissions": {"pdf": value}})

    assert caught.value.message.startswith("expected allow, ask or deny, got ")
    assert caught.value.where == f"{FILE}: permissions.pdf"


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        (
            '{"skills": {}, "name": "' + "x" * 500_000 + '"}',
            "500,026 bytes; a manifest may have at most 500,000",
            "skills.json",
        ),
        (
            json.dumps({"skills": {}} | {f"k{number}": 1 for number in range(101)}),
            "101 unknown keys; at most 100 are allowed",
            "skills.json",
        ),
        (
            json.dumps({"skills": {}, "members": [f"m{number}" for number in range(1_001)]}),
            "1,001 entries; at most 1,000 are allowed",
            "skills.json: members",
        ),
        (
            json.dumps({"skills": {}, "priority": [f"p{number}" for number in range(5_001)]}),
            "5,001 patterns; at most 5,000 are allowed",
            "skills.json: priority",
        ),
    ],
)
def test_a_manifest_beyond_a_limit_is_an_error(text: str, message: str, where: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_manifest(text, "skills.json")

    assert (caught.value.message, caught.value.where) == (message, where)


@pytest.mark.parametrize(("read", "others"), [(read_lockfile, {"requirements": {}}), (read_receipt, {"links": {}})])
def test_more_locked_skills_than_are_allowed_are_an_error(
    read: Callable[[str, str], object], others: dict[str, object]
) -> None:
    skills: dict[str, object] = {f"s{number}": {} for number in range(8_001)}

    with pytest.raises(DocumentError) as caught:
        read(json.dumps({"version": 1, "skills": skills, **others}), "document")

    message = "8,001 entries; at most 8,000 are allowed"
    assert (caught.value.message, caught.value.where) == (message, "document: skills")
