"""Files may disappear while they are read: a writer moves them, or a person deletes them."""

import shutil
from pathlib import Path

import pytest

from skillpm.core.digest import content_hash
from skillpm.errors import FileError
from skillpm.formats.receipt import InstalledFile
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk.disk_state import FileChange, find_changes
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.stat_cache import StatCache

NAMES = ("SKILL.md", "a.md", "pages/b.md", "pages/deep/c.md")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pdf"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def installed(folder: Path) -> dict[str, InstalledFile]:
    """Return the record of what is installed: one file was longer."""
    files = {
        name: InstalledFile(sha256=content_hash(name.encode()), size=len(name), executable=False) for name in NAMES
    }
    (folder / "SKILL.md").write_text("edited")
    return files


def test_file_removed_during_comparison_is_missing(folder: Path) -> None:
    changes = find_changes(str(folder), "pdf", installed(folder), StatCache())
    first = next(changes)
    (folder / "a.md").unlink()

    assert [first, *changes] == [
        FileChange(path="SKILL.md", state="modified"),
        FileChange(path="a.md", state="missing"),
    ]


def test_folder_removed_during_comparison_is_missing(folder: Path) -> None:
    changes = find_changes(str(folder), "pdf", installed(folder), StatCache())
    first = next(changes)
    shutil.rmtree(folder / "pages")

    assert [first, *changes] == [
        FileChange(path="SKILL.md", state="modified"),
        FileChange(path="pages/b.md", state="missing"),
        FileChange(path="pages/deep/c.md", state="missing"),
    ]


def test_reader_retries_after_a_removal(folder: Path) -> None:
    moved = folder.parent / "moved"

    def look(_: ReadView) -> tuple[str, bool]:
        try:
            return (moved / "a.md").read_text(), True
        finally:
            if folder.exists():
                folder.rename(moved)

    assert read_until_consistent(Layout(directory=str(folder.parent)), look) == "a.md"


def test_reader_that_gives_up_names_the_path(folder: Path) -> None:
    with pytest.raises(FileError) as caught:
        read_until_consistent(Layout(directory=str(folder.parent)), lambda _: ((folder / "x.md").read_text(), True))

    assert (caught.value.message, caught.value.where) == (
        "it disappeared while it was being read",
        str(folder / "x.md"),
    )
