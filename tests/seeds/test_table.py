"""The table in README.md names tests that are there, and all of them."""

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_the_table_and_the_tests_are_one() -> None:
    named = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", (HERE / "README.md").read_text(encoding="utf-8")))
    there = {
        (file.name, name)
        for file in HERE.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert named - there == set()
    unnamed = {name for file, name in there - named if file != "test_table.py"}
    assert unnamed == {
        "test_compatibility_is_a_filter_of_this_host_alone",
        "test_its_defaults",
        "test_no_skills",
        "test_what_the_host_itself_would_serve",
    }
