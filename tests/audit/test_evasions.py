"""Skills of an author who has read the rules: what is found in each is written down, so that any change of it shows."""

import ast
import subprocess
from collections import Counter

import pytest
from kit.evasions import Evasion, is_caught, read_evasions, read_found

from skillpm.audit.rules import RULES

EVASIONS = [*read_evasions()]
FOUND = read_found()
# What they say is not Python 3 in UTF-8, and that is how they evade.
OTHER_PYTHON = {"a statement of Python 2", "source in UTF-7", "source in unicode_escape"}


def ids(evasion: Evasion) -> str:
    return f"{evasion.family}: {evasion.name}"


@pytest.mark.parametrize("evasion", EVASIONS, ids=ids)
def test_an_evasion_is_found_or_missed_as_written_down(evasion: Evasion) -> None:
    assert evasion.found == FOUND[evasion.family][evasion.name], "run `python tests/kit/evasions.py --write`"


def test_each_family_has_ten_and_no_rule_is_unknown() -> None:
    counts = Counter(evasion.family for evasion in EVASIONS)

    assert min(counts.values()) >= 10
    assert {evasion.rule for evasion in EVASIONS} <= RULES.keys()


def test_no_two_evasions_are_the_same() -> None:
    files = Counter(tuple(sorted(evasion.files.items())) for evasion in EVASIONS)

    assert max(files.values()) == 1


def test_an_evasion_that_is_only_noted_is_not_caught() -> None:
    noted = [each for each in EVASIONS if each.found.startswith("low ") and each.rule not in each.found]

    assert noted
    assert not any(is_caught(each, each.found) for each in noted)


@pytest.mark.parametrize("evasion", EVASIONS, ids=ids)
def test_the_scripts_of_an_evasion_are_programs(evasion: Evasion) -> None:
    """A script that no interpreter reads would prove nothing. None of them is run: `bash -n` only reads."""
    for path, data in evasion.files.items():
        if path.endswith(".sh") and b"\0" not in data:
            result = subprocess.run(["bash", "-n"], input=data, capture_output=True, check=False)
            assert (result.returncode, result.stderr) == (0, b""), path
        if path.endswith(".py") and evasion.name not in OTHER_PYTHON:
            ast.parse(data)
