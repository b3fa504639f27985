"""The table in README.md lists all tests of the seeds, and only existing ones."""

import re
from pathlib import Path

HERE = Path(__file__).parent


def names_in(file: Path) -> list[str]:
    return re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_table_and_the_tests_are_one() -> None:
    named = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", (HERE / "README.md").read_text(encoding="utf-8")))
    there = {(file.name, name) for file in HERE.glob("test_*.py") for name in names_in(file)}

    assert named - there == set()
    unnamed = {name for file, name in there - named if file != "test_table.py"}
    assert unnamed == {
        "test_compatibility_is_a_filter_of_this_host_alone",
        "test_its_defaults",
        "test_what_the_host_itself_would_serve",
    }


def test_every_text_of_a_seed_has_a_test() -> None:
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\.\./serving/test_\w+\.py)::(test_\w+)`", readme)

    assert len(named) == 10
    for file, name in named:
        assert name in names_in(HERE / file)
