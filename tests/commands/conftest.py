"""A project and an upstream for each test of commands."""

from pathlib import Path

import pytest
from commands.scene import Scene, two_skills
from kit import GitServer, Repository


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Give a world in which there is no project and nothing is installed."""
    return Scene(tmp_path / "scene")


@pytest.fixture
def project(scene: Scene) -> Scene:
    """Give a project that asks for nothing yet."""
    return scene.project()


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """Give a repository of two skills, its first commit tagged `v1.0.0`."""
    return two_skills(tmp_path / "upstream")


@pytest.fixture
def url(scene: Scene, upstream: Repository) -> str:
    """Give the upstream's address, which is `URL` in what a command said."""
    scene.names = {upstream.file_url: "URL", **scene.names}
    return upstream.file_url


@pytest.fixture
def served(scene: Scene, server: GitServer, upstream: Repository) -> str:
    """Give the upstream's address over HTTP, which is `URL` in what a command said."""
    address = server.serve("acme/skills", upstream)
    scene.names = {address: "URL", **scene.names}
    return address
