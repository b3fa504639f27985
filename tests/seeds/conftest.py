"""A world for each test."""

from pathlib import Path

import pytest
from seeds.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Give a home with a project in it, both empty."""
    return World(tmp_path)
