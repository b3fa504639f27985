"""The resolver on cases that are data files: an index, what is asked, and the answer or all that is said."""

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
def test_the_answer_is_the_expected_one(case: dict[str, Any]) -> None:
    assert run(case) == case.get("expected", case.get("conflict"))


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60
