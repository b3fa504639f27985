"""A workspace for each test."""

from pathlib import Path

import pytest
from seeds.world import SeedWorkspace


@pytest.fixture
def world(tmp_path: Path) -> SeedWorkspace:
    """Return a home with a project in it, both empty."""
    return SeedWorkspace(tmp_path)
