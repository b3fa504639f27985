"""Fixtures: an index publisher and a page for each test, one browser for all of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from indexes.world import IndexPublisher

if TYPE_CHECKING:
    from indexes.reader import Reader
    from playwright.sync_api import Browser


@pytest.fixture
def publisher(tmp_path: Path) -> IndexPublisher:
    return IndexPublisher(tmp_path / "publisher")


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    pytest.importorskip("playwright", reason="needs playwright: pip install playwright")
    from indexes.reader import chromium  # noqa: PLC0415  (only browser tests need playwright)

    with chromium() as browser:
        yield browser


@pytest.fixture
def reader(browser: "Browser") -> Iterator["Reader"]:
    from indexes.reader import reading  # noqa: PLC0415

    with reading(browser) as reader:
        yield reader
