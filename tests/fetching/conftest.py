"""An upstream, a server and a project for each test of fetching."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fetching.world import Project
from kit import GitServer, Repository


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "upstream")


@pytest.fixture
def server() -> Iterator[GitServer]:
    with GitServer() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")
