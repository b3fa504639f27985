"""The table in README.md lists all tests of the seeds, and only existing ones."""

import re
from pathlib import Path

HERE = Path(__file__).parent


# The numbers of the requirements, by the topic they belong to.
REQUIREMENTS = [range(1, 13), range(20, 48), range(50, 72), range(80, 105), range(110, 120), range(120, 124)]
REQUIREMENTS += [range(130, 135), range(140, 146), range(150, 158), range(160, 163)]


def read_section(heading: str) -> str:
    """Return the part of README.md below the heading that begins like this."""
    sections = re.split(r"^(?=#)", (HERE / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    (section,) = (section for section in sections if section.startswith(heading))
    return section


def names_in(file: Path) -> list[str]:
    return re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_table_and_the_tests_are_one() -> None:
    named = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", read_section("# ") + read_section("## The texts")))
    there = {(file.name, name) for file in HERE.glob("test_*.py") for name in names_in(file)}

    assert named - there == set()
    unnamed = {name for file, name in there - named if file != "test_table.py"}
    assert unnamed == {
        "test_compatibility_is_a_filter_of_this_host_alone",
        "test_its_defaults",
        "test_what_the_host_itself_would_serve",
    }


def test_every_text_of_a_seed_has_a_test() -> None:
    named = re.findall(r"`(\.\./serving/test_\w+\.py)::(test_\w+)`", read_section("## The texts"))

    assert len(named) == 10
    for file, name in named:
        assert name in names_in(HERE / file)


def test_every_requirement_of_a_seed_has_a_test() -> None:
    rows = re.findall(r"^\| R(\d+) \| [^|]+ \| (.+) \|$", read_section("## The requirements"), re.MULTILINE)

    assert [int(number) for number, _ in rows] == [number for topic in REQUIREMENTS for number in topic]
    for number, tests in rows:
        named = re.findall(r"`([\w./]+\.py)::(test_\w+)`", tests)
        assert named, number
        assert [f"{file}::{name}" for file, name in named if name not in names_in(HERE / file)] == []
