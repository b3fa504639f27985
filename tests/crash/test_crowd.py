"""Many processes at once on one scope and one cache, with and without one of them killed every second.

`SKILLPM_CROWD=8x25` lets eight processes run twenty-five commands each (CONTRIBUTING.md), with a new seed each time;
`SKILLPM_SEED` repeats one.
"""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from crash.crowd import crowd

pytestmark = pytest.mark.slow

WORKERS, EACH = (int(number) for number in os.environ.get("SKILLPM_CROWD", "4x6").split("x"))
SEED = int(os.environ.get("SKILLPM_SEED", "0")) or (random.randrange(1, 10**6) if "SKILLPM_CROWD" in os.environ else 7)


@pytest.mark.parametrize("killing", ["in peace", "one killed each second"])
def test_concurrent_commands_reach_the_state_of_some_serial_order(
    killing: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    report = crowd(tmp_path, workers=WORKERS, each=EACH, seed=SEED, killing=killing != "in peace")

    record_property("crowd", f"seed {SEED}: {report.summary}")
    assert report.wrong == [], f"SKILLPM_SEED={SEED} repeats it"
