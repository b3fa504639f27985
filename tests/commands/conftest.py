"""A project and an upstream for each test of commands."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, create_two_skills
from kit import GitServer, Repository


@pytest.fixture
def scene(tmp_path: Path) -> CommandSandbox:
    """Give a world in which there is no project and nothing is installed."""
    return CommandSandbox(tmp_path / "scene")


@pytest.fixture
def project(scene: CommandSandbox) -> CommandSandbox:
    """Give a project that asks for nothing yet."""
    return scene.create_project()


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """Give a repository of two skills, its first commit tagged `v1.0.0`."""
    return create_two_skills(tmp_path / "upstream")


@pytest.fixture
def url(scene: CommandSandbox, upstream: Repository) -> str:
    """Give the upstream's address, which is `URL` in what a command said."""
    scene.placeholders = {upstream.file_url: "URL", **scene.placeholders}
    return upstream.file_url


@pytest.fixture
def served(scene: CommandSandbox, server: GitServer, upstream: Repository) -> str:
    """Give the upstream's address over HTTP, which is `URL` in what a command said."""
    address = server.serve("acme/skills", upstream)
    scene.placeholders = {address: "URL", **scene.placeholders}
    return address
