"""The registry of a directory shows its current content and can be shared by threads."""

import json
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from kit import Sandbox, make_skill, prefix_paths
from kit.registry import write_files

from skillpm import Registry
from skillpm.errors import DocumentError, FileError
from skillpm.installer.disk.stat_cache import is_recent, to_file_stat


def old_registry(*skills: Mapping[str, object], version: str = "1.0.0") -> str:
    return json.dumps({"version": version, "skills": skills})


def test_folder_of_skills_needs_no_registry(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        prefix_paths("pdf", make_skill("pdf", "Paper."))
        | prefix_paths("docx", make_skill("docx"))
        | {"notes/README.md": "x"},
    )

    registry = Registry.load(tmp_path)

    assert list(registry.cards) == ["docx", "pdf"]
    assert len(registry) == 2
    assert "pdf" in registry
    card = registry.cards["pdf"]
    assert (card.description, card.location) == ("Paper.", f"{tmp_path}/pdf/SKILL.md")


def test_missing_folder_is_empty_until_it_is_created(tmp_path: Path) -> None:
    registry = Registry.load(tmp_path / "skills")
    assert list(registry) == []

    write_files(tmp_path, prefix_paths("skills/pdf", make_skill("pdf")))

    assert list(registry.cards) == ["pdf"]


def test_default_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, prefix_paths("pdf", make_skill("pdf")))
    monkeypatch.setenv("SKILLPM_HOME", str(tmp_path))

    assert list(Registry.load().cards) == ["pdf"]


def test_changes_by_a_command_are_visible_immediately(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    registry = Registry.load(sandbox.home / ".agent-skills")

    sandbox.run("install", "-g", "testing", "code-review", check=True)
    assert list(registry.cards) == ["code-review", "testing"]
    before = registry.read(registry.cards["testing"])
    sandbox.run("uninstall", "-g", "testing", check=True)

    assert list(registry.cards) == ["code-review"]
    assert before.body.startswith("\n# ")


def test_manual_changes_are_visible_immediately(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    sandbox.run("install", "-g", "testing", check=True)
    folder = sandbox.home / ".agent-skills"
    registry = Registry.load(folder)

    write_files(folder, prefix_paths("mine", make_skill("mine")))
    assert list(registry.cards) == ["mine", "testing"]
    (folder / "testing").rename(tmp_path / "away")
    assert list(registry.cards) == ["mine"]
    write_files(folder, prefix_paths("mine", make_skill("mine", body="Other words.\n")))
    assert registry.read(registry.cards["mine"]).body == "Other words.\n"


def test_body_is_read_once_while_unchanged(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("pdf", make_skill("pdf", body="One.\n")))
    registry = Registry.load(tmp_path)
    card, end = registry.cards["pdf"], time.monotonic() + 60

    # A file written just now may be written again within the same clock tick, so it is not cached yet.
    while registry.read(card) is not registry.read(card):
        assert time.monotonic() < end
    write_files(tmp_path, prefix_paths("pdf", make_skill("pdf", body="Two.\n")))

    assert registry.read(registry.cards["pdf"]).body == "Two.\n"


def test_recent_changes_are_not_cached(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("pdf", make_skill("pdf")))
    file = tmp_path / "pdf/SKILL.md"
    end = time.monotonic() + 60

    assert is_recent(to_file_stat(file.stat()))
    assert not Registry.load(tmp_path).snapshot.is_stable

    while not Registry.load(tmp_path).snapshot.is_stable:
        assert time.monotonic() < end
    assert not is_recent(to_file_stat(file.stat()))


def test_skill_is_found_by_declared_name(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("google-workspace", make_skill("gog")))
    registry = Registry.load(tmp_path)

    found = registry.get("gog")

    assert found is not None
    assert (found.name, found.declared) == ("google-workspace", "gog")
    assert registry.get("goo") is None


def test_unreadable_skill_hides_no_other(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("good", make_skill("good")) | {"broken/SKILL.md": "words", "odd/SKILL.md/x": ""})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "pipes").mkdir()
    os.mkfifo(tmp_path / "pipes/SKILL.md")

    registry = Registry.load(tmp_path)

    assert list(registry.cards) == ["good"]
    assert [problem.path for problem in registry.problems] == ["broken/SKILL.md", "odd/SKILL.md", "pipes/SKILL.md"]


def test_file_broken_later_is_an_error_with_its_location(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("a", make_skill("a")) | prefix_paths("b", make_skill("b")))
    registry = Registry.load(tmp_path)
    one, other = registry.cards["a"], registry.cards["b"]
    write_files(tmp_path, {"a/SKILL.md": "---\nname: [\n"})
    (tmp_path / "b/SKILL.md").unlink()

    with pytest.raises(DocumentError) as document:
        registry.read(one)
    with pytest.raises(FileError) as file:
        registry.read(other)

    assert document.value.where == f"{tmp_path}/a/SKILL.md:1"
    assert (file.value.message, file.value.where) == (
        "`b` cannot be read: No such file or directory",
        f"{tmp_path}/b/SKILL.md",
    )


def test_registry_in_a_newer_format_is_ignored_and_folders_are_read(tmp_path: Path) -> None:
    future = {"$schema": "urn:skillpm:schema:registry:2", "version": "2", "skills": [{"name": "x", "filePath": "x"}]}
    write_files(tmp_path, prefix_paths("pdf", make_skill("pdf")) | {"skills.json": json.dumps(future)})

    assert list(Registry.load(tmp_path).cards) == ["pdf"]


def test_old_registry_is_read_with_its_flat_files(tmp_path: Path) -> None:
    entry = {
        "name": "api-design",
        "category": "dev",
        "description": "APIs.",
        "triggers": ["api"],
        "filePath": "dev/api.md",
    }
    bare = {"name": "bare", "filePath": "./bare.md"}
    write_files(tmp_path, {"dev/api.md": "# API\n\nWords.\n", "bare.md": "---\nname: bare\n---\nBody.\n"})
    write_files(tmp_path, {"skills.json": old_registry(entry, bare).encode()} | prefix_paths("pdf", make_skill("pdf")))

    registry = Registry.load(tmp_path)

    assert list(registry.cards) == ["api-design", "bare", "pdf"]
    card = registry.cards["api-design"]
    assert (card.category, card.triggers, card.location) == ("dev", ("api",), f"{tmp_path}/dev/api.md")
    assert registry.read(card).body == "# API\n\nWords.\n"
    assert registry.read(registry.cards["bare"]).body == "Body.\n"
    assert registry.cards["bare"].category == "general"


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "a/../../secret.md", "link/secret.md", "none.md", ""])
def test_old_registry_cannot_point_outside(tmp_path: Path, path: str) -> None:
    skills = tmp_path / "skills"
    write_files(tmp_path, {"secret.md": "secret", "skills/skills.json": old_registry({"name": "x", "filePath": path})})
    (skills / "link").symlink_to(tmp_path)

    assert list(Registry.load(skills)) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"skills": 3}', '{"skills": [1, {"name": 2}]}', "[" * 100_000])
def test_garbage_registry_is_ignored(tmp_path: Path, text: str) -> None:
    write_files(tmp_path, prefix_paths("pdf", make_skill("pdf")) | {"skills.json": text})

    assert list(Registry.load(tmp_path).cards) == ["pdf"]


@pytest.mark.slow
def test_threads_read_while_skills_are_added_and_removed(tmp_path: Path) -> None:
    write_files(tmp_path, prefix_paths("always", make_skill("always", body="Here.\n")))
    registry = Registry.load(tmp_path)
    done, wrong = threading.Event(), list[str]()

    def read() -> None:
        while not done.is_set():
            cards = registry.cards
            if "always" not in cards or registry.read(cards["always"]).body != "Here.\n":
                wrong.append(str(list(cards)))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(60):
            write_files(tmp_path, prefix_paths(f"new-{number}", make_skill(f"new-{number}")))
            assert f"new-{number}" in registry
    finally:
        done.set()
        for thread in threads:
            thread.join()

    assert wrong == []
    assert len(registry) == 61


def test_skill_stays_available_during_an_update(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    sandbox.write("skills.json", '{"skills": {}}')
    sandbox.write_files(prefix_paths("source", make_skill("moving", body="Words 0.\n")))
    sandbox.run("install", "./source", check=True)
    registry = Registry.load(sandbox.work / ".agent-skills")
    done, seen, wrong = threading.Event(), set[str](), list[str]()

    def read() -> None:
        while not done.is_set():
            try:
                seen.add(registry.read(registry.cards["moving"]).body)
            except (KeyError, FileError, DocumentError) as error:
                wrong.append(repr(error))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(1, 7):
            sandbox.write_files(prefix_paths("source", make_skill("moving", body=f"Words {number}.\n")))
            sandbox.run("update", "moving", check=True)
            assert registry.read(registry.cards["moving"]).body == f"Words {number}.\n"
    finally:
        done.set()
        reader.join()

    assert wrong == []
    assert seen <= {f"Words {number}.\n" for number in range(7)}
