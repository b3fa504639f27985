"""The evaluation tasks of the bundled skills: their form, not what a model makes of them."""

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EVALS = ROOT / "evals"
BUNDLED = ROOT / "bundled"
NAMES = sorted(folder.name for folder in BUNDLED.iterdir())
KEYS = ["id", "prompt", "expected_output", "files", "expectations"]


def read_evals(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((EVALS / name / "evals.json").read_text(encoding="utf-8"))
    return document


def texts_of(task: dict[str, Any], mark: str) -> list[str]:
    return [text.removeprefix(mark) for text in task["expectations"] if text.startswith(mark)]


def test_every_bundled_skill_has_evaluations_and_nothing_else_has() -> None:
    assert sorted(folder.name for folder in EVALS.iterdir() if folder.is_dir()) == NAMES
    assert sorted(path.relative_to(EVALS).as_posix() for path in EVALS.rglob("*") if path.is_file()) == sorted(
        ["README.md", *(f"{name}/evals.json" for name in NAMES)]
    )


def test_no_evaluation_is_installed_with_a_skill() -> None:
    assert [path for path in BUNDLED.rglob("*") if path.name in {"evals", "evals.json"}] == []


@pytest.mark.parametrize("name", NAMES)
def test_evaluations_have_the_form_of_skill_creator(name: str) -> None:
    document = read_evals(name)
    tasks = document["evals"]

    assert list(document) == ["skill_name", "evals"]
    assert document["skill_name"] == name
    assert [list(task) for task in tasks] == [KEYS] * len(tasks)
    assert [task["id"] for task in tasks] == list(range(1, len(tasks) + 1))
    assert len(tasks) >= 5
    assert [path for task in tasks for path in task["files"] if not (EVALS / name / path).is_file()] == []


@pytest.mark.parametrize("name", NAMES)
def test_each_task_says_what_an_answer_must_and_must_not_contain(name: str) -> None:
    tasks = read_evals(name)["evals"]
    prompts = [task["prompt"] for task in tasks]

    assert [task["id"] for task in tasks if not (task["prompt"].strip() and task["expected_output"].strip())] == []
    assert sorted(set(prompts)) == sorted(prompts)
    for task in tasks:
        must, must_not = texts_of(task, "Must: "), texts_of(task, "Must not: ")
        assert [*must, *must_not] == [text.partition(": ")[2] for text in task["expectations"]]
        assert (min(map(len, must)), min(map(len, must_not))) >= (10, 10)
        assert sorted(set(task["expectations"])) == sorted(task["expectations"])
