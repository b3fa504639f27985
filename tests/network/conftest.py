"""A project for each test of a hostile network."""

from pathlib import Path

import pytest
from fetchers.world import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")
