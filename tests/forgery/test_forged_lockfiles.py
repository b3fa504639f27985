"""A forged lockfile installs nothing, whatever the caches hold: what is locked belongs together.

`SKILLPM_FORGERIES=300` tries up to so many forgeries of each kind of source (CONTRIBUTING.md); `SKILLPM_SEED` repeats a
run.
"""

import os
import random
from collections.abc import Callable, Iterator

import pytest
from forgery.lock_sweep import attempt, forged_entries
from forgery.lock_world import REQUIREMENTS, LockWorld
from forgery.report import Report
from kit import GitServer

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("SKILLPM_FORGERIES", "1"))
SEED = int(os.environ.get("SKILLPM_SEED", "0")) or (random.randrange(1, 10**6) if COUNT > 1 else 1)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LockWorld]:
    with GitServer() as server:
        yield LockWorld(tmp_path_factory.mktemp("locks"), server)


@pytest.mark.parametrize("kind", REQUIREMENTS)
def test_no_forged_lockfile_is_installed(
    world: LockWorld, kind: str, record_property: Callable[[str, object], None]
) -> None:
    report, forgeries = Report(), [*forged_entries(world, kind)]
    chosen = random.Random(f"{SEED} {kind}").sample(forgeries, min(COUNT, len(forgeries)))
    for about, forged in chosen:
        attempt(world, kind, about, forged, report)

    figures = [report.forgeries, report.commands, report.refused, len(report.wrong)]
    record_property("lock forgeries", [kind, SEED, *figures])
    if report.wrong:
        pytest.fail(f"SKILLPM_SEED={SEED} repeats it\n" + "\n".join(report.wrong), pytrace=False)
