"""Directory descriptors: a folder that is swapped with a link is not followed, whichever it is and whatever is done."""

import errno
import os
import resource
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from kit import run_before_event, snapshot
from kit.sandbox import IS_ROOT

from skillpm.directories import (
    HAS_DESCRIPTORS,
    Directory,
    exchange,
    hold_folders,
    is_below_held,
    make_folder,
    make_folders,
    make_link,
    open_directory,
    remove_file,
    remove_folder,
    rename,
    set_folder_mode,
)
from skillpm.errors import FileError
from skillpm.files import discard_file, remove_tree, write_document, write_new_file
from skillpm.installer.disk.rename import move_path
from skillpm.installer.disk.staging import copy_folder, copy_path
from skillpm.locks import hold_lock

pytestmark = pytest.mark.skipif(not HAS_DESCRIPTORS, reason="the system has no directory descriptors")


def lock(path: str) -> None:
    try:
        with hold_lock(path, 0, "it"):
            pass
    except FileError as error:
        raise error.__cause__ or error from None


# Everything that changes a folder `root/a/b`; `root/loose` and `root/source` are beside it.
CHANGES: Mapping[str, Callable[[str], object]] = {
    "make_folder": lambda root: make_folder(f"{root}/a/b/new"),
    "make_folders": lambda root: make_folders(f"{root}/a/b/new/inner"),
    "make_link": lambda root: make_link(f"{root}/a/b/new", "target"),
    "remove_file": lambda root: remove_file(f"{root}/a/b/file"),
    "remove_folder": lambda root: remove_folder(f"{root}/a/b/empty"),
    "set_folder_mode": lambda root: set_folder_mode(f"{root}/a/b/empty", 0o700),
    "rename away": lambda root: rename(f"{root}/a/b/file", f"{root}/moved"),
    "rename into": lambda root: rename(f"{root}/loose", f"{root}/a/b/moved"),
    "exchange": lambda root: exchange(f"{root}/a/b/file", f"{root}/loose"),
    "exchange, other way": lambda root: exchange(f"{root}/loose", f"{root}/a/b/file"),
    "write_new_file": lambda root: write_new_file(f"{root}/a/b/new", b"new", 0o644),
    "write_document": lambda root: write_document(f"{root}/a/b/file", b"new", fsync=False),
    "write_document, following": lambda root: write_document(
        f"{root}/a/b/file", b"new", fsync=True, link_boundary=root
    ),
    "discard_file": lambda root: discard_file(f"{root}/a/b/file"),
    "remove_tree": lambda root: remove_tree(f"{root}/a/b/full"),
    "copy_folder": lambda root: copy_folder(f"{root}/source", f"{root}/a/b/copy"),
    "copy_path": lambda root: copy_path(f"{root}/loose", f"{root}/a/b/copy"),
    "move_path": lambda root: move_path(f"{root}/a/b/full", f"{root}/moved"),
    "hold_lock": lambda root: lock(f"{root}/a/b/lock"),
}
# Reading, too, where what is read is put where others may read it.
READS: Mapping[str, Callable[[str], object]] = {
    "copy_folder": lambda root: copy_folder(f"{root}/a/b/full", f"{root}/copy"),
    "copy_path": lambda root: copy_path(f"{root}/a/b/file", f"{root}/copy"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder beside another, `outside`, with the same files."""
    root = tmp_path / "root"
    for folder in ("a/b/empty", "a/b/full/inner", "source"):
        (root / folder).mkdir(parents=True)
    for file in ("a/b/file", "a/b/full/inner/file", "a/b/full/file", "source/file", "loose"):
        (root / file).write_text("old" if file != "loose" else "loose")
    shutil.copytree(root, tmp_path / "outside")
    return root


def swap(root: Path, folder: str) -> None:
    """Replace a folder with a link to its counterpart outside."""
    (root / folder).rename(root / "away")
    (root / folder).symlink_to(root.parent / "outside" / folder)


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    yield
    assert not before or os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize("folder", ["a", "a/b"])
@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_changed_through_a_folder_that_became_a_link(root: Path, change: str, folder: str) -> None:
    before = snapshot(root.parent / "outside")

    with no_descriptor_left(), hold_folders([str(root)]):
        swap(root, folder)
        with pytest.raises(OSError, match="symbolic links") as caught:
            CHANGES[change](str(root))

    assert caught.value.errno == errno.ELOOP
    assert snapshot(root.parent / "outside") == before


@pytest.mark.parametrize("change", CHANGES)
def test_by_path_each_of_these_changes_would_reach_the_other_folder(root: Path, change: str) -> None:
    before = snapshot(root.parent / "outside")
    swap(root, "a")

    if change == "write_document, following":
        with pytest.raises(OSError, match="symbolic links"):  # refused by its boundary
            CHANGES[change](str(root))
    else:
        CHANGES[change](str(root))
        assert snapshot(root.parent / "outside") != before


@pytest.mark.parametrize("folder", ["a", "a/b"])
@pytest.mark.parametrize("read", READS)
def test_nothing_is_copied_from_a_folder_that_became_a_link(root: Path, read: str, folder: str) -> None:
    with no_descriptor_left(), hold_folders([str(root)]):
        swap(root, folder)
        with pytest.raises(OSError, match="symbolic links") as caught:
            READS[read](str(root))

    assert caught.value.errno == errno.ELOOP
    assert not (root / "copy").exists() or not list((root / "copy").iterdir())


@pytest.mark.parametrize("change", CHANGES)
def test_a_held_folder_may_be_swapped_itself(root: Path, change: str) -> None:
    before = snapshot(root.parent / "outside")

    with no_descriptor_left(), hold_folders([str(root)]):
        root.rename(root.parent / "away")
        root.symlink_to(root.parent / "outside")
        old = snapshot(root.parent / "away")
        if change == "write_document, following":  # whether a link is followed is decided by paths
            with pytest.raises(OSError, match="symbolic links"):
                write_document(f"{root}/a/b/file", b"new", fsync=False, link_boundary=f"{root.parent}/away")
        else:
            CHANGES[change](str(root))
            assert snapshot(root.parent / "away") != old

    assert snapshot(root.parent / "outside") == before


@pytest.mark.parametrize("change", CHANGES)
def test_a_link_that_is_there_at_first_is_followed_once(root: Path, change: str) -> None:
    (root / "a").rename(root / "real")
    (root / "a").symlink_to("real")
    before = snapshot(root.parent / "outside")

    with no_descriptor_left(), hold_folders([str(root)]), hold_folders([f"{root}/a/b"], boundary=str(root)):
        (root / "a").unlink()
        (root / "a").symlink_to(root.parent / "outside/a")
        old = snapshot(root)
        if change == "write_document, following":
            with pytest.raises(OSError, match="symbolic links"):
                CHANGES[change](str(root))
        else:
            CHANGES[change](str(root))
            assert snapshot(root) != old

    assert snapshot(root.parent / "outside") == before


def test_a_document_behind_a_link_is_compared_where_it_will_be_replaced(root: Path) -> None:
    """Else the link could lead elsewhere while it is read, and back again before it is replaced."""
    (root / "link").symlink_to("a/b/file")
    seen: list[str] = []

    write_document(f"{root}/link", b"new", fsync=False, link_boundary=str(root), before_rename=seen.append)

    assert seen == [f"{root}/a/b/file"]
    assert (root / "a/b/file").read_text() == "new"


def test_a_link_out_of_the_boundary_is_not_held(root: Path) -> None:
    swap(root, "a")

    with no_descriptor_left(), hold_folders([str(root)]), pytest.raises(OSError, match="symbolic links") as caught:
        hold_folders([f"{root}/a/b"], boundary=str(root)).__enter__()

    assert (caught.value.errno, caught.value.filename) == (errno.ELOOP, f"{root}/a")


def test_a_folder_in_a_tree_that_becomes_a_link_while_the_tree_is_removed(root: Path) -> None:
    before = snapshot(root.parent / "outside")
    swaps = run_before_event("open", "inner", lambda: swap(root, "a/b/full/inner"))

    with no_descriptor_left(), hold_folders([str(root)]), swaps, pytest.raises(OSError, match="symbolic links"):
        remove_tree(f"{root}/a/b/full")

    assert snapshot(root.parent / "outside") == before


def test_a_folder_that_is_moved_elsewhere_while_the_tree_is_removed(root: Path) -> None:
    def move() -> None:
        (root / "a/b/full/inner").rename(root.parent / "outside/inner")

    # The folder is open; its last file is about to go. Its parent is then another folder, which has an `inner`, too.
    moves = run_before_event("os.remove", "last", move)
    (root / "a/b/full/inner/file").rename(root / "a/b/full/inner/last")

    with no_descriptor_left(), hold_folders([str(root)]), moves, pytest.raises(OSError, match="Stale") as caught:
        remove_tree(f"{root}/a/b/full")

    assert caught.value.errno == errno.ESTALE
    assert (root.parent / "outside/inner").is_dir()
    assert (root.parent / "outside/a/b/full/inner/file").read_text() == "old"


def test_a_tree_that_is_deeper_than_paths_and_descriptors_reach(root: Path) -> None:
    at = os.open(root / "source", os.O_RDONLY)
    for _ in range(60):
        os.mkdir("inner" * 20, dir_fd=at)
        inner = os.open("inner" * 20, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = len(os.listdir("/proc/self/fd")) + 20 if os.path.isdir("/proc/self/fd") else 100

    with no_descriptor_left(), hold_folders([str(root)]):
        resource.setrlimit(resource.RLIMIT_NOFILE, (few, limits[1]))
        try:
            remove_tree(f"{root}/source")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    assert not (root / "source").exists()


@pytest.mark.parametrize("mode", [0o500, 0o300, 0o000])
def test_a_folder_without_rights_is_removed(root: Path, mode: int) -> None:
    (root / "a/b/full/inner").chmod(mode)

    with no_descriptor_left(), hold_folders([str(root)]):
        remove_tree(f"{root}/a/b/full")

    assert not (root / "a/b/full").exists()


def test_missing_folders_are_created_below_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    with no_descriptor_left(), hold_folders([f"{tmp_path}/new/project"]):
        made = make_folders(f"{tmp_path}/new/project/inner")
        assert make_folders(f"{tmp_path}/new/project/inner") == []
        (tmp_path / "new/project").rename(tmp_path / "away")
        (tmp_path / "new/project").symlink_to(tmp_path / "outside")
        with pytest.raises(OSError, match="symbolic links"):
            make_folder(f"{tmp_path}/new/project/second")

    assert made == [f"{tmp_path}/new", f"{tmp_path}/new/project", f"{tmp_path}/new/project/inner"]
    assert list((tmp_path / "outside").iterdir()) == []


def test_errors_name_the_whole_path(root: Path) -> None:
    base = f"{root}/a/b"
    with hold_folders([str(root)]):
        failures = [
            (lambda: make_folder(f"{base}/file"), f"{base}/file"),
            (lambda: make_folders(f"{base}/file"), f"{base}/file"),
            (lambda: make_folders(f"{base}/file/inner"), f"{base}/file"),
            (lambda: remove_file(f"{base}/none"), f"{base}/none"),
            (lambda: remove_folder(f"{base}/full"), f"{base}/full"),
            (lambda: rename(f"{base}/none", f"{base}/other"), f"{base}/none"),
            (lambda: exchange(f"{base}/none", f"{base}/file"), f"{base}/file"),
            (lambda: open_directory(f"{base}/none/inner"), f"{base}/none"),
            (lambda: open_directory(f"{base}/../b"), f"{base}/../b"),
            (lambda: write_new_file(f"{base}/file", b"", 0o644), f"{base}/file"),
        ]
        for action, path in failures:
            with pytest.raises(OSError, match=r".") as caught:
                action()  # type: ignore[no-untyped-call]
            assert caught.value.filename == path


def test_what_is_exempt_or_not_below_a_held_folder_is_reached_by_path(root: Path) -> None:
    with hold_folders([str(root)], exempt=[f"{root}/a"]):
        held = [is_below_held(f"{root}{path}") for path in ("", "/loose", "/a", "/a/b", "2", "/../outside")]

    assert held == [True, True, False, False, False, True]
    assert not is_below_held(str(root))


def test_a_folder_is_held_for_one_thread_only(root: Path) -> None:
    seen: list[bool] = []
    with hold_folders([str(root)]):
        thread = threading.Thread(target=lambda: seen.append(is_below_held(str(root))))
        thread.start()
        thread.join()

    assert seen == [False]


def test_without_a_descriptor_entries_are_reached_by_path(root: Path) -> None:
    with Directory(f"{root}/a/b", None) as folder, folder.entries() as entries:
        folder.make_folder("new")
        folder.set_folder_mode("new", 0o711)
        folder.make_link("link", "new")
        assert folder.readlink("link") == "new"
        folder.remove_file("link")
        folder.remove_folder("new")
        assert sorted(entry.name for entry in entries) == ["empty", "file", "full"]


@pytest.mark.skipif(IS_ROOT, reason="root may read every folder")
def test_a_folder_that_may_be_entered_but_not_read_is_worked_in(root: Path) -> None:
    (root / "a").chmod(0o300)

    with hold_folders([str(root)]):
        remove_file(f"{root}/a/b/file")
    (root / "a").chmod(0o700)

    assert not (root / "a/b/file").exists()
