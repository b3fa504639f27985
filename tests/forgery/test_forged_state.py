"""Whatever a checkout has below `.skillpm`: nothing is shown as locked that is not, and nothing outside is written.

`SKILLPM_FORGERIES=300` tries so many forgeries for each file, each with every command (CONTRIBUTING.md); `SKILLPM_SEED`
repeats a run.
"""

import os
import random
from collections.abc import Callable

import pytest
from forgery.documents import PLACES
from forgery.report import Report
from forgery.state_sweep import ForgedState

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("SKILLPM_FORGERIES", "1"))
SEED = int(os.environ.get("SKILLPM_SEED", "0")) or (random.randrange(1, 10**6) if COUNT > 1 else 1)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> ForgedState:
    return ForgedState(tmp_path_factory.mktemp("forged"))


@pytest.mark.parametrize("place", PLACES)
def test_no_forged_file_is_believed(
    state: ForgedState, place: str, record_property: Callable[[str, object], None]
) -> None:
    report = Report()
    for number in range(SEED, SEED + COUNT):  # other keys with another seed
        state.attempt(place, SEED, number, report)

    record_property("forgeries", [place, SEED, report.forgeries, report.commands, report.refused, len(report.wrong)])
    if report.wrong:
        pytest.fail(f"SKILLPM_SEED={SEED} repeats it\n" + "\n".join(report.wrong), pytrace=False)
