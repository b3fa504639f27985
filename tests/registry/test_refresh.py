"""A SKILL.md is edited after the registry was built: agents are served its current content."""

import json
from pathlib import Path
from typing import Any

import pytest
from kit import Sandbox, make_skill, opened, prefix_paths, wait_for
from kit.registry import create_service, write_files

from skillpm import Registry, SkillService, open_service
from skillpm.errors import DocumentError
from skillpm.serving.mcp.resources import ResourcePublisher

FOR_PEOPLE: dict[str, Any] = {"disable_model_invocation": True}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Return a skills directory as `registry build` leaves it."""
    sandbox = Sandbox(tmp_path)
    files = prefix_paths("pdf", make_skill("pdf", "Reads PDF files.", triggers=["pdf"])) | prefix_paths(
        "web", make_skill("web", "Opens pages.")
    )
    write_files(sandbox.home / ".agent-skills", files)
    sandbox.run("registry", "build", "-g", check=True)
    return sandbox.home / ".agent-skills"


def descriptions(service: SkillService) -> dict[str, str]:
    """Return the descriptions in a catalog by skill."""
    text = service.prompt(style="supercode").text
    lines = [line.removeprefix("- **").split("**: ") for line in text.splitlines() if line.startswith("- **")]
    return dict(lines)


def edit(folder: Path, description: str = "Reads PDF files.", **fields: Any) -> None:
    write_files(folder, prefix_paths("pdf", make_skill("pdf", description, **{"triggers": ["pdf"], **fields})))


@pytest.mark.parametrize("is_known", [True, False])
def test_skill_that_becomes_user_only_is_neither_offered_nor_loaded(built: Path, *, is_known: bool) -> None:
    service = create_service(built)
    before = descriptions(service) if is_known else {}

    edit(built, **FOR_PEOPLE)

    assert before == ({"pdf": "Reads PDF files.", "web": "Opens pages."} if is_known else {})
    assert descriptions(service) == {"web": "Opens pages."}
    assert "pdf" not in service.description
    assert service.call({"action": "list"}).text.count("pdf") == 0
    assert service.call({"query": "pdf"}).text.count("Reads PDF") == 0
    assert not service.call({"name": "pdf"}).ok


def test_edit_is_noticed_when_the_skill_is_requested_first(built: Path) -> None:
    service = create_service(built)

    edit(built, **FOR_PEOPLE)

    assert not service.call({"name": "pdf"}).ok
    assert service.load("pdf").body == "Do it well.\n"  # users may still load it


def test_skill_that_is_not_user_only_any_more_is_offered(built: Path, tmp_path: Path) -> None:
    edit(built, **FOR_PEOPLE)
    Sandbox(tmp_path).run("registry", "build", "-g", check=True)
    service = create_service(built)
    assert descriptions(service) == {"web": "Opens pages."}

    edit(built)

    assert descriptions(service) == {"pdf": "Reads PDF files.", "web": "Opens pages."}
    assert service.call({"name": "pdf"}).ok


def test_edited_description_and_triggers_apply(built: Path) -> None:
    service = create_service(built)
    assert [card.name for card in service.match("a pdf").skills] == ["pdf"]

    edit(built, description="Reads paper.", triggers=["paper"])

    assert service.match("a pdf").skills == ()
    assert [card.name for card in service.match("some paper").skills] == ["pdf"]
    assert descriptions(service)["pdf"] == "Reads paper."
    assert [skill.card.name for skill in service.search("paper")] == ["pdf"]


def test_skill_that_became_unreadable_is_not_offered_and_loading_reports_why(built: Path) -> None:
    service = create_service(built)
    write_files(built, {"pdf/SKILL.md": "---\nname: [\n"})

    assert descriptions(service) == {"web": "Opens pages."}
    assert [problem.path for problem in service.registry.problems] == ["pdf/SKILL.md"]
    with pytest.raises(DocumentError, match="`pdf` cannot be loaded"):
        service.load("pdf")

    edit(built)
    assert descriptions(service) == {"pdf": "Reads PDF files.", "web": "Opens pages."}
    assert service.registry.problems == ()


def test_skill_without_its_file_is_not_offered_until_it_is_restored(built: Path) -> None:
    service = create_service(built)
    (built / "pdf/SKILL.md").rename(built / "away")
    assert descriptions(service) == {"web": "Opens pages."}

    (built / "away").rename(built / "pdf/SKILL.md")

    assert descriptions(service) == {"pdf": "Reads PDF files.", "web": "Opens pages."}


def test_edits_apply_in_a_clone_without_stat_cache(built: Path, tmp_path: Path) -> None:
    edit(built, **FOR_PEOPLE)
    (built / ".skillpm").rename(tmp_path / "left-behind")

    assert descriptions(create_service(built)) == {"web": "Opens pages."}


def test_foreign_registry_applies_except_to_user_only_skills(tmp_path: Path) -> None:
    entries: list[dict[str, object]] = [
        {"name": name, "description": f"Old {name}.", "triggers": [name], "filePath": f"{name}/SKILL.md"}
        for name in ("pdf", "web", "old")
    ]
    entries[-1]["userOnly"] = True
    write_files(
        tmp_path, prefix_paths("pdf", make_skill("pdf", **FOR_PEOPLE)) | prefix_paths("web", make_skill("web", "New."))
    )
    write_files(tmp_path, prefix_paths("old", make_skill("old", "For people, as the registry says.")))
    write_files(tmp_path, {"skills.json": json.dumps({"version": "1.0.0", "skills": entries})})

    service = create_service(tmp_path)

    assert descriptions(service) == {"web": "Old web."}
    assert [card.name for card in service.match("pdf, web").skills] == ["pdf", "web"]


def test_registry_only_data_survives_an_edit(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    sandbox.run("install", "-g", "testing", check=True)
    folder = sandbox.home / ".agent-skills"
    registry = Registry.load(folder)
    before = registry.cards["testing"].entry
    file = folder / "testing/SKILL.md"
    file.write_text(file.read_text().replace("license: MIT", "license: Apache-2.0"))

    assert registry.check(registry.cards.values())

    after = {**before, "license": "Apache-2.0"}
    del after["digest"]  # it does not apply to edited files
    assert registry.cards["testing"].entry == after
    assert not registry.check(registry.cards.values())


def test_rewritten_file_with_the_same_content_changes_nothing(built: Path) -> None:
    registry = Registry.load(built)
    cards = registry.cards
    edit(built)

    assert not registry.check(cards.values())
    assert registry.cards == cards


def test_project_and_user_skills_are_both_checked(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = Sandbox(tmp_path)
    sandbox.write("skills.json", '{"skills": {}}')
    sandbox.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "Mine.")))
    sandbox.run("registry", "build", check=True)
    monkeypatch.setenv("HOME", str(sandbox.home))
    service = open_service(sandbox.work)
    assert descriptions(service) == {"mine": "Mine.", "pdf": "Reads PDF files.", "web": "Opens pages."}

    edit(built, **FOR_PEOPLE)
    sandbox.write_files(prefix_paths(".agent-skills/mine", make_skill("mine", "Still mine.")))

    assert descriptions(service) == {"mine": "Still mine.", "web": "Opens pages."}


def test_skill_that_only_the_registry_marks_user_only_is_not_published_over_mcp(tmp_path: Path) -> None:
    entry = {"name": "old", "description": "Old.", "filePath": "old/SKILL.md"}
    write_files(tmp_path, prefix_paths("old", make_skill("old", "Valid, and says nothing of people.")))
    write_files(tmp_path, {"skills.json": json.dumps({"skills": [{**entry, "userOnly": True}]})})
    service = create_service(tmp_path)

    published = ResourcePublisher(service).publish(service.visible["old"])

    assert (published.entry, published.rejection_reason) == (
        None,
        "it is reserved for users and not offered to models",
    )

    write_files(tmp_path, {"skills.json": json.dumps({"skills": [entry]})})
    assert ResourcePublisher(service).publish(service.visible["old"]).entry is not None


def test_recently_written_file_is_read_at_each_check(built: Path) -> None:
    """Two writes within a tick of the file system's clock may leave the same stat."""
    service, file = create_service(built), built / "pdf/SKILL.md"

    def reads_of_second_look() -> int:
        edit(built, description="Written a moment ago.")
        service.list()
        with opened(str(file)) as reads:
            service.list()
        return len(reads)

    # Several attempts, since the machine may be slow: "recent" means 50 ms.
    assert wait_for(reads_of_second_look, 10) == 1

    def is_left_alone() -> bool:
        with opened(str(file)) as reads:
            service.list()
        return not reads

    assert wait_for(is_left_alone)


@pytest.mark.parametrize(("later", "reads"), [(0, 1), (1, 0)])
def test_file_as_recent_as_the_stat_cache_is_read(built: Path, later: int, reads: int) -> None:
    scan, file = built / ".skillpm/scan.json", built / "pdf/SKILL.md"
    scan.write_text(json.dumps({**json.loads(scan.read_text()), "at": file.stat().st_ctime_ns + later}))
    service = create_service(built)

    with opened(str(file)) as found:
        service.list()

    assert len(found) == reads
