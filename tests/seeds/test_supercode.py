"""SuperCode, "Testing": the six tests of the Skill MCP tool, over an old `skills.json` with flat files."""

import json
from pathlib import Path

import pytest
from kit.registry import EMPTY_PATH, write_files

from skillpm import Registry, SkillService
from skillpm.formats.user_config import SERVING_MODES
from skillpm.serving.renderers.body_modes import MODES

SKILLS = [
    {
        "name": "api-design",
        "category": "design",
        "description": "Designs HTTP APIs",
        "triggers": ["api", "rest"],
        "filePath": "design/api-design.md",
    },
    {
        "name": "testing",
        "category": "quality",
        "description": "Writes tests, database ones too",
        "triggers": ["test"],
        "filePath": "quality/testing.md",
    },
]
CODE = "```http\nGET /\n```"
API = f"# API design\n\nBe plain.\n\n## Rules\n\nOne verb.\n\n{CODE}\n\n## Examples\n\nMany.\n\n## After\n\nDone."


@pytest.fixture
def tool(tmp_path: Path) -> SkillService:
    """Return the service over a folder as SuperCode's setup leaves it."""
    write_files(tmp_path, {"skills.json": json.dumps({"version": "1.0.0", "skills": SKILLS})})
    write_files(tmp_path, {"design/api-design.md": API, "quality/testing.md": "# Testing\n\nFail first."})
    return SkillService(Registry.load(tmp_path), style="supercode", environ=EMPTY_PATH)


def test_should_load_skill_by_name(tool: SkillService) -> None:
    loaded = {"success": True, "data": "# Testing\n\nFail first."}

    assert tool.call({"name": "testing"}).value == loaded
    assert tool.call({"name": "TESTING"}).value == loaded
    assert tool.call({"name": "test"}).value == loaded


def test_should_list_all_skills(tool: SkillService) -> None:
    assert tool.call({"name": "", "action": "list"}).value == {
        "success": True,
        "data": "# Available Skills\n\n## design\n\n- **api-design**: Designs HTTP APIs\n\n"
        "## quality\n\n- **testing**: Writes tests, database ones too\n",
    }


def test_should_search_skills(tool: SkillService) -> None:
    assert tool.call({"action": "search", "query": "database"}).value == {
        "success": True,
        "data": "Found 1 skill(s):\n\n- **testing** (quality): Writes tests, database ones too",
    }
    assert tool.call({"action": "search", "query": "REST"}).text.startswith("Found 1 skill(s):\n\n- **api-design**")
    assert tool.call({"action": "search", "query": "zzz"}).text == 'No skills found matching "zzz"'


def test_should_suggest_similar_skills_on_not_found(tool: SkillService) -> None:
    assert tool.call({"name": "tsting"}).value == {
        "success": False,
        "error": 'Skill "tsting" not found.\n\nDid you mean: testing?',
    }


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("full", f"# Skill: api-design\n\n{API}"),
        (
            "compact",
            "# API design\n\nBe plain.\n\n## Rules\n\nOne verb.\n\n[code example removed]\n\n## After\n\nDone.",
        ),
        ("toon", "# API design\nBe plain.\n## Rules\nOne verb.\n## Examples\nMany.\n## After\nDone."),
    ],
)
def test_should_respect_render_mode(tool: SkillService, mode: str, text: str) -> None:
    assert tool.call({"name": "api-design", "mode": mode}).text == text


def test_should_truncate_long_content(tool: SkillService, tmp_path: Path) -> None:
    write_files(tmp_path, {"quality/testing.md": "a" * 50_001})

    assert tool.call({"name": "testing"}).text == "a" * 50_000 + "\n\n[... truncated ...]"


def test_its_defaults(tool: SkillService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLPM_HOME", str(tmp_path))

    assert Registry.load().names == ("api-design", "testing")
    assert (tool.style.default_mode, tool.max_length) == ("compact", 50_000)
    assert MODES == SERVING_MODES
