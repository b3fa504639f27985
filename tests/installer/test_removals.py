"""What a reader looks at may go away under its eyes: a writer moves it, or a person removes it."""

import shutil
from pathlib import Path

import pytest

from skillpm.core.digest import content_hash
from skillpm.errors import FileError
from skillpm.formats.receipt import InstalledFile
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk_state import FileChange, find_changes
from skillpm.installer.layout import Layout
from skillpm.installer.stat_cache import StatCache

NAMES = ("SKILL.md", "a.md", "pages/b.md", "pages/deep/c.md")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pdf"
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def installed(folder: Path) -> dict[str, InstalledFile]:
    """Give what was installed: all as it is, but for one file that was longer."""
    files = {
        name: InstalledFile(sha256=content_hash(name.encode()), size=len(name), executable=False) for name in NAMES
    }
    (folder / "SKILL.md").write_text("edited")
    return files


def test_a_file_that_goes_while_files_are_compared_is_missing(folder: Path) -> None:
    changes = find_changes(str(folder), "pdf", installed(folder), StatCache())
    first = next(changes)
    (folder / "a.md").unlink()

    assert [first, *changes] == [
        FileChange(path="SKILL.md", state="modified"),
        FileChange(path="a.md", state="missing"),
    ]


def test_a_folder_that_goes_while_files_are_compared_is_missing(folder: Path) -> None:
    changes = find_changes(str(folder), "pdf", installed(folder), StatCache())
    first = next(changes)
    shutil.rmtree(folder / "pages")

    assert [first, *changes] == [
        FileChange(path="SKILL.md", state="modified"),
        FileChange(path="pages/b.md", state="missing"),
        FileChange(path="pages/deep/c.md", state="missing"),
    ]


def test_a_reader_looks_again_where_something_went(folder: Path) -> None:
    moved = folder.parent / "moved"

    def look(_: ReadView) -> tuple[str, bool]:
        try:
            return (moved / "a.md").read_text(), True
        finally:
            if folder.exists():
                folder.rename(moved)

    assert read_until_consistent(Layout(directory=str(folder.parent)), look) == "a.md"


def test_a_reader_that_never_finds_it_says_where(folder: Path) -> None:
    with pytest.raises(FileError) as told:
        read_until_consistent(Layout(directory=str(folder.parent)), lambda _: ((folder / "x.md").read_text(), True))

    assert (told.value.message, told.value.where) == ("this goes away while it is looked at", str(folder / "x.md"))
