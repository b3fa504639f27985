"""No file of a megabyte takes a second to parse, validate, fix or search for references."""

import time

import pytest
from skillmd.slow_inputs import slow_inputs

from skillpm.skillmd.autofix import fix
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill
from skillpm.skillmd.validation import validate_skill

pytestmark = pytest.mark.slow

INPUTS = slow_inputs()


@pytest.mark.parametrize("name", INPUTS)
def test_a_malicious_file_is_parsed_quickly(name: str) -> None:
    data = INPUTS[name]
    assert len(data) <= 1_000_000
    start = time.process_time()
    try:
        read_skill(data)
    except NotLoadable:
        pass
    finally:
        read = time.process_time()
    validate_skill(data, "x", ["SKILL.md", "a/b.md"])
    judged = time.process_time()
    fix(data, "x")
    fixed = time.process_time()
    assert read - start < 1
    assert judged - read < 3
    assert fixed - judged < 10
