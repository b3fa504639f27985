"""Network faults: an error in bounded time after bounded attempts, nothing changed; the third attempt may succeed.

`SKILLPM_FAULTS=all` tests every fault with every document.
"""

import os
from pathlib import Path

import pytest
from kit import FAULTS
from network.table import DOCUMENTS, expected, expected_message, is_retried, normalize_error, run_row
from network.world import Network

pytestmark = pytest.mark.slow

IS_WHOLE = os.environ.get("SKILLPM_FAULTS") == "all"
FEW = ("truncated",)
MANY = (*FEW, "503-wait-1", "reset", "stall", "429-wait-date")
MAIN = ("archive", "commit")
ROWS = [(fault, name) for name in DOCUMENTS for fault in FAULTS if IS_WHOLE or name in MAIN or fault in FEW]
THIRD = [
    (fault, name) for fault, name in ROWS if is_retried(fault, name) and (IS_WHOLE or (name in MAIN and fault in MANY))
]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return Network(tmp_path_factory.mktemp("network"))


@pytest.mark.parametrize(("fault", "name"), ROWS)
def test_a_fault_is_an_error_and_changes_nothing(network: Network, tmp_path: Path, fault: str, name: str) -> None:
    row = expected(fault, name)

    outcome = run_row(network, tmp_path / "project", fault, name)

    error = normalize_error(outcome.error).partition("; git says: ")[0]
    assert (outcome.code, error) == (row.code, expected_message(row, name)), outcome
    assert row.code == 0 or (outcome.stdout, outcome.changed_paths) == ("", []), outcome
    # On a reused connection, curl itself retries once.
    most = 2 * row.tries if DOCUMENTS[name].is_git else row.tries
    assert row.tries <= outcome.tries <= most, outcome
    assert len(outcome.stderr.splitlines()) <= 4, outcome  # what, which skill, where, and what to try


@pytest.mark.parametrize(("fault", "name"), THIRD)
def test_the_third_attempt_succeeds(network: Network, tmp_path: Path, fault: str, name: str) -> None:
    outcome = run_row(network, tmp_path / "project", fault, name, times=2)

    assert (outcome.code, outcome.error) == (0, ""), outcome
    assert outcome.tries >= (2 if DOCUMENTS[name].is_git else 3)
