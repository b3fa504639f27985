"""Hand-written registries: their usable metadata, sanitized."""

import json
from typing import Any

import pytest

from skillpm.errors import ConflictError, DocumentError, SkillpmError
from skillpm.formats.legacy_registry import (
    IgnoredEntry,
    LegacyEntry,
    LegacyRegistry,
    is_generated,
    read_legacy_registry,
)
from skillpm.formats.registry import write_registry


def read(*entries: Any) -> LegacyRegistry:
    return read_legacy_registry(json.dumps({"version": "1.0.0", "skills": entries}), "F")


def test_an_entry_is_keyed_by_its_path() -> None:
    entry = {
        "name": "api-design",
        "category": "development",
        "description": "Designs\n APIs.",
        "triggers": ["api", " rest  endpoint ", 3, "api"],
        "filePath": "./development/api-design.md",
        "more": {"is": "told"},
    }
    assert read(entry) == LegacyRegistry(
        entries={
            "development/api-design.md": LegacyEntry(
                name="api-design",
                description="Designs APIs.",
                category="development",
                triggers=("api", "rest endpoint"),
                dropped_keys=("more",),
                where="skills.json: skills.0",
            )
        }
    )


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ({"name": "x"}, "x.md"),
        ({"name": "x", "category": "c"}, "c/x.md"),
        ({"name": "x", "filePath": "c\\x.md"}, "c/x.md"),
        ({"filePath": "x/skill.md"}, "x/SKILL.md"),
        ({"filePath": "a/b/c.md", "name": None}, "a/b/c.md"),
    ],
)
def test_the_path_is_normalized(entry: Any, path: str) -> None:
    assert list(read(entry).entries) == [path]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({}, "it names no file"),
        ({"filePath": 3, "name": "x"}, "it names no file"),
        ({"filePath": "../x.md"}, "its filePath '../x.md' has an empty, `.` or `..` part"),
        ({"filePath": "/etc/passwd"}, "its filePath '/etc/passwd' is absolute or empty"),
        ({"filePath": ""}, "its filePath '' is absolute or empty"),
        ({"filePath": "C:/x.md"}, "its filePath 'C:/x.md' has a backslash or a colon"),
        ({"filePath": "\x1b.md"}, "its filePath '\\x1b.md' has a control, hidden or undecodable character"),
    ],
)
def test_an_unusable_entry_is_ignored_with_its_number(entry: Any, why: str) -> None:
    assert read({"name": "ok"}, entry).ignored == (IgnoredEntry(path="skills.json: skills.1", reason=why),)


def test_the_first_of_two_entries_for_one_file_is_used() -> None:
    found = read({"name": "one", "filePath": "x.md"}, {"name": "two", "filePath": "./x.md"})
    assert found.entries["x.md"].name == "one"
    assert found.ignored == (
        IgnoredEntry(path="skills.json: skills.1", reason="an earlier entry has the same filePath"),
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", DocumentError),
        ('{"skills": [1]}', ConflictError),
        ('{"skills": {}}', ConflictError),
        ("[]", ConflictError),
        ("[" * 100_000, DocumentError),
        ('{"skills": [], "skills": []}', DocumentError),
    ],
)
def test_another_document_is_rejected(text: str, error: type[SkillpmError]) -> None:
    with pytest.raises(error):
        read_legacy_registry(text, "F")


ENTRY = {"description": "Does it.", "triggers": ["go"]}


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({"skills": [{"name": "beta", "filePath": "dev/beta.md", **ENTRY}]}, "skills.json: skills.0"),
        ({"skills": [{"name": "beta", "file": "dev/beta.md", **ENTRY}]}, "skills.json: skills.0"),
        ({"skills": [{"name": "beta", "path": "./dev/beta.md", **ENTRY}]}, "skills.json: skills.0"),
        ([{"name": "beta", "file": "dev/beta.md", **ENTRY}], "skills.json: 0"),
        ({"version": "1", "skills": {"beta": {"filePath": "dev/beta.md", **ENTRY}}}, "skills.json: skills.beta"),
        ({"skills": {"beta": {"path": "dev/beta.MD", **ENTRY}, "other": 3}}, "skills.json: skills.beta"),
    ],
)
def test_a_registry_is_read_as_people_write_it(document: Any, where: str) -> None:
    registry = read_legacy_registry(json.dumps(document), "F")

    ((path, entry),) = registry.entries.items()
    assert path.lower() == "dev/beta.md"
    assert (entry.name, entry.description, entry.triggers, entry.where) == ("beta", "Does it.", ("go",), where)
    assert (entry.dropped_keys, entry.has_file_path) == ((), True)


def test_requirements_are_no_entries() -> None:
    manifest = {"skills": {"beta": {"git": "https://git.example/a/b", "path": "dev"}, "local": {"path": "./local"}}}

    with pytest.raises(ConflictError) as caught:
        read_legacy_registry(json.dumps(manifest), "F")

    assert caught.value.message == "the skills.json in this folder is a project's manifest"


def test_a_generated_registry_is_distinguished_from_a_hand_written_one() -> None:
    assert is_generated(write_registry([]))
    assert not is_generated('{"version": "1.0.0", "skills": []}')
    assert not is_generated("")
