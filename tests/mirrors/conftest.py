"""Origins for each test."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from kit import GitServer, OciRegistry
from mirrors.world import Machine, Origins


@pytest.fixture
def origins(tmp_path: Path) -> Iterator[Origins]:
    server, registry = GitServer(), OciRegistry()
    try:
        yield Origins(tmp_path, server, registry)
    finally:
        for each in (server, registry):
            with suppress(OSError):
                each.close()


@pytest.fixture
def first(origins: Origins) -> Machine:
    """A machine that has installed everything from its origins."""
    return origins.lock()


@pytest.fixture
def registry() -> Iterator[OciRegistry]:
    """An empty registry, for a mirror."""
    with OciRegistry() as registry:
        yield registry
