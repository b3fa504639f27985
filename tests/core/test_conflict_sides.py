"""The two sides of a text with git's conflict markers."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.core.conflict_markers import split_sides

LETTERS = st.lists(st.sampled_from("abc"), max_size=8)
OURS, BASE, SEPARATOR, THEIRS = "<<<<<<< HEAD\n", "||||||| 1a2b3c4\n", "=======\n", ">>>>>>> feature\n"


def test_what_is_outside_of_a_conflict_is_on_both_sides() -> None:
    text = f"first\n{OURS}ours\n{BASE}base\n{SEPARATOR}theirs\n{THEIRS}last\n"
    assert split_sides(text) == ("first\nours\nlast\n", "first\ntheirs\nlast\n")
    assert split_sides(text.replace("\n", "\r\n")) == ("first\r\nours\r\nlast\r\n", "first\r\ntheirs\r\nlast\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no conflict\n",
        OURS,
        f"{OURS}{SEPARATOR}",
        f"{OURS}{THEIRS}",
        f"{OURS}{SEPARATOR}{BASE}{THEIRS}",
        f"{OURS}{OURS}{SEPARATOR}{THEIRS}",
        f"{SEPARATOR}{THEIRS}",
        f"{OURS}{SEPARATOR}{THEIRS}{THEIRS}",
        f"{OURS}{SEPARATOR}{THEIRS}{OURS}",
    ],
)
def test_markers_out_of_order_have_no_sides(text: str) -> None:
    assert split_sides(text) is None


@pytest.mark.parametrize("style", ["--diff3", None])
@settings(max_examples=20, deadline=None)
@given(base=LETTERS, ours=LETTERS, theirs=LETTERS)
def test_the_sides_of_gits_merge_have_the_lines_of_what_was_merged(
    tmp_path_factory: pytest.TempPathFactory, style: str | None, base: list[str], ours: list[str], theirs: list[str]
) -> None:
    folder: Path = tmp_path_factory.mktemp("merge")
    for name, lines in (("ours", ours), ("base", base), ("theirs", theirs)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    words = ["git", "merge-file", "-p", *([style] if style else []), "ours", "base", "theirs"]
    merged = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)

    sides = split_sides(merged.stdout)

    assert (sides is None) == (merged.returncode == 0)
    if sides is not None:
        again = ["git", "merge-file", "-p", "--ours", "ours", "base", "theirs"]
        assert sides[0] == subprocess.run(again, cwd=folder, capture_output=True, text=True, check=True).stdout
