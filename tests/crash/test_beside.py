"""Installs beside `cache prune` and `cache clean` in a loop: none fails, none warns, nothing is missing.

`SKILLPM_BESIDE=75` lets seventy-five installs run beside each (CONTRIBUTING.md).
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crash.beside import Beside
from kit import GitServer

pytestmark = pytest.mark.slow

INSTALLS = int(os.environ.get("SKILLPM_BESIDE", "6"))


@pytest.fixture
def server() -> Iterator[GitServer]:
    with GitServer() as server:
        yield server


@pytest.mark.parametrize("verbs", [("prune",), ("clean",), ("prune", "clean")], ids=" and ".join)
def test_no_install_fails_while_the_cache_is_emptied_again_and_again(
    verbs: tuple[str, ...], tmp_path: Path, server: GitServer, record_property: Callable[[str, object], None]
) -> None:
    report = Beside(tmp_path, server, INSTALLS).run(verbs)

    record_property("crowd", report.summary)
    assert not report.wrong, "\n".join(report.wrong)
