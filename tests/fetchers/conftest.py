"""Fixtures: an upstream repository, a server and a project for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fetchers.world import Listener, Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture
def secret() -> Iterator[Listener]:
    """A service on loopback that must not be contacted."""
    listener = Listener()
    yield listener
    listener.close()
