"""Figures of README.md and the documentation are those that a committed run of a script of `bench/` has printed."""

import json
import re
import runpy
from collections.abc import Iterable
from pathlib import Path

import pytest
from kit.page_sentences import find_sentences

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "bench/results"
PAGES = [
    "README.md",
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if "adr" not in page.parts),
]
SOURCE = re.compile(r"\bbench/(\w+)\.py`")
FIGURE = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)*)(?: ([kM]B))?(?!\w)")
UNITS = {"": 1, "kB": 1000, "MB": 1_000_000}
COST = re.compile(r"\d ?(?:ms|s|seconds|milliseconds|kB|MB|GB|%|requests|times)(?!\w)")


def find_measured(text: str) -> list[tuple[str, list[str]]]:
    """Return the sentences that name a script, and the rows of a table that such a sentence introduces."""
    found, introduced = [], list[str]()
    for sentence in find_sentences(text):
        scripts = SOURCE.findall(sentence) or (introduced if " | " in sentence else [])
        introduced = scripts if " | " in sentence or sentence.endswith(":") else []
        found += [(sentence, scripts)] if scripts else []
    return found


def find_unproved(text: str, results: Path = RESULTS) -> list[str]:
    """Return the figures of such sentences that none of their scripts has printed, each with its sentence."""
    wrong = []
    for sentence, scripts in find_measured(text):
        printed = "\n".join(
            file.read_text(encoding="utf-8") for script in scripts for file in results.glob(f"{script}.*")
        )
        numbers = {number.replace(",", "") for number, _ in FIGURE.findall(printed)}
        claimed = FIGURE.findall(re.sub(r"\]\([^)]*\)", "]", sentence))
        wrong += [f"{number}: {sentence}" for number, unit in claimed if not is_printed(number, unit, numbers)]
    return wrong


def is_printed(claimed: str, unit: str, numbers: Iterable[str]) -> bool:
    """Return whether a claimed figure is one of these, or one that is rounded to it."""
    plain = claimed.replace(",", "")
    if plain.count(".") > 1:  # a version
        return plain in numbers
    digits = len(plain.partition(".")[2])
    return any(
        round(float(number) / factor, digits) == float(plain)
        for number in numbers
        if number.count(".") <= 1
        for factor in {1, UNITS[unit]}
    )


@pytest.mark.parametrize("page", PAGES)
def test_figures_are_what_a_script_has_printed(page: str) -> None:
    assert find_unproved((ROOT / page).read_text(encoding="utf-8")) == []


def test_what_something_costs_has_a_source() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    measured = {sentence for sentence, _ in find_measured(text)}
    found = [each for each in find_sentences(text) if not each.startswith("![")]  # the picture is compared below

    assert [each for each in found if COST.search(each) and each not in measured] == []


def test_speed_is_written_from_its_results() -> None:
    chart = runpy.run_path(str(ROOT / "bench/chart.py"))  # its folder has modules with the names of packages of tests
    page, results = chart["PAGE"].read_text(encoding="utf-8"), json.loads(chart["RESULTS"].read_text(encoding="utf-8"))

    assert chart["fill"](page, results) == page
    assert chart["draw"](results["rows"]) == chart["PICTURE"].read_text(encoding="utf-8")


def test_a_wrong_figure_is_found(tmp_path: Path) -> None:
    (tmp_path / "scaling.txt").write_text("20 requests, 1023 bytes, 1,000 skills, 1.52 s\n")
    good = "It takes 20 requests and 1 kB from 1000 skills in 1.5 s (`bench/scaling.py`).\n"
    table = "Costs (`bench/scaling.py`):\n\n| skills | requests |\n|---|---|\n| 1,000 | 21 |\n\nOther 7 things.\n"

    assert find_unproved(good, tmp_path) == []
    assert find_unproved(good.replace("1.5", "15"), tmp_path) == [f"15: {good.replace('1.5', '15').strip()}"]
    assert find_unproved(table, tmp_path) == ["21: 1,000 | 21"]
    assert find_unproved("It takes 3 s (`bench/gone.py`).", tmp_path) == ["3: It takes 3 s (`bench/gone.py`)."]
