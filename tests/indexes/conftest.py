"""A publisher's desk and a server for each test; one browser for all."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from indexes.world import IndexPublisher

if TYPE_CHECKING:
    from indexes.reader import Reader
    from playwright.sync_api import Browser


@pytest.fixture
def desk(tmp_path: Path) -> IndexPublisher:
    return IndexPublisher(tmp_path / "desk")


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    pytest.importorskip("playwright", reason="no playwright here: pip install playwright")
    from indexes.reader import chromium  # noqa: PLC0415  (only tests with a browser need it)

    with chromium() as browser:
        yield browser


@pytest.fixture
def reader(browser: "Browser") -> Iterator["Reader"]:
    from indexes.reader import reading  # noqa: PLC0415

    with reading(browser) as reader:
        yield reader
