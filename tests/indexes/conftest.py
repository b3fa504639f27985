"""A publisher's desk and a server for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexes.world import Desk
from kit import GitServer


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "desk")


@pytest.fixture
def server() -> Iterator[GitServer]:
    with GitServer() as server:
        yield server
