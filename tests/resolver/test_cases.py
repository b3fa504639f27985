"""The resolver on cases in data files: an index, the requirements, and the solution or the whole error."""

import json
from pathlib import Path
from typing import Any

import pytest
from resolver.cases_reading import run

FILES = sorted((Path(__file__).parent / "cases").glob("*.json"))
CASES = [
    pytest.param(case, id=f"{file.stem}: {name}")
    for file in FILES
    for name, case in json.loads(file.read_text(encoding="utf-8")).items()
]


@pytest.mark.parametrize("case", CASES)
def test_the_solution_is_the_expected_one(case: dict[str, Any]) -> None:
    assert run(case) == case.get("expected", case.get("conflict"))


def test_the_cases_are_found() -> None:
    assert len(CASES) >= 60
