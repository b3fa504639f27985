"""Fixtures of the tests of commands: sandboxes, projects and upstream repositories."""

from pathlib import Path

import pytest
from commands.scene import CommandSandbox, create_two_skills
from kit import GitServer, Repository


@pytest.fixture
def scene(tmp_path: Path) -> CommandSandbox:
    """Return a sandbox without a project and without installed skills."""
    return CommandSandbox(tmp_path / "scene")


@pytest.fixture
def project(scene: CommandSandbox) -> CommandSandbox:
    """Return a project without requirements."""
    return scene.create_project()


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """Return a repository of two skills, with the first commit tagged `v1.0.0`."""
    return create_two_skills(tmp_path / "upstream")


@pytest.fixture
def url(scene: CommandSandbox, upstream: Repository) -> str:
    """Return the URL of the upstream; its placeholder in outputs is `URL`."""
    scene.placeholders = {upstream.file_url: "URL", **scene.placeholders}
    return upstream.file_url


@pytest.fixture
def served(scene: CommandSandbox, server: GitServer, upstream: Repository) -> str:
    """Return the HTTP URL of the upstream; its placeholder in outputs is `URL`."""
    address = server.serve("acme/skills", upstream)
    scene.placeholders = {address: "URL", **scene.placeholders}
    return address
