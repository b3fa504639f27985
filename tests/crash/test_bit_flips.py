"""A wrong byte in store, caches, receipt, journal, staging, lockfile or registry is detected, repaired or harmless.

Each day has a seed of its own, which is printed; `SKILLPM_SEED` repeats it. `SKILLPM_FLIPS=1000` tries a thousand, with
a new seed each time (CONTRIBUTING.md).
"""

import os
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from crash.flips import tried

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("SKILLPM_FLIPS", "20"))
TODAY = datetime.now(tz=UTC).toordinal()
SEED = int(os.environ.get("SKILLPM_SEED", "0")) or (
    random.randrange(1, 10**6) if "SKILLPM_FLIPS" in os.environ else TODAY
)


def test_no_corrupt_byte_is_installed_silently(folder: Path, record_property: Callable[[str, object], None]) -> None:
    report = tried(folder, count=COUNT, seed=SEED)

    record_property("flips", [SEED, report.rows])
    assert report.wrong == [], f"SKILLPM_SEED={SEED} repeats it"
