"""Fixtures: an upstream repository, a server and a project for each test."""

from pathlib import Path

import pytest
from fetchers.world import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")
