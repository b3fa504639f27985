"""Fixtures of the tests of policies."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from commands.conftest import project, scene, served, upstream, url
from policy.world import Buyer, Market

__all__ = ["project", "scene", "served", "upstream", "url"]


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    """Return servers and folders that offer the same skill in every way."""
    market = Market(tmp_path_factory.mktemp("market"))
    yield market
    market.close()


@pytest.fixture
def buyer(tmp_path: Path, market: Market) -> Buyer:
    """Return a project without skills."""
    return Buyer(tmp_path, market)
