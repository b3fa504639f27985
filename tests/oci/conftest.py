"""A registry and a sandbox for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kit import OciRegistry, Sandbox


@pytest.fixture
def registry() -> Iterator[OciRegistry]:
    with OciRegistry() as registry:
        yield registry


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A sandbox in which `work` is a project."""
    sandbox = Sandbox(tmp_path)
    sandbox.write("skills.json", '{"skills": {}}\n')
    return sandbox
