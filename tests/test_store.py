"""The store returns every byte that was stored or reports damage, but never a wrong byte."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillpm.core.digest import Digest, content_hash
from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.core.limits import Limits
from skillpm.core.tree_checks import check_tree
from skillpm.errors import FileError
from skillpm.store import MAGIC, Store, StoreDamaged


def tree(**files: str | bytes) -> FileTree:
    """Make a tree: file names with `_` for `/`; files that begin with `#!` are executable."""
    parts = {"SKILL.md": b"# x\n", **{name.replace("_", "/"): as_bytes(data) for name, data in files.items()}}
    entries = [SourceEntry(path=path, data=data, executable=data.startswith(b"#!")) for path, data in parts.items()]
    return check_tree(entries, name="x", limits=Limits())


def as_bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


def entries(store: Store) -> list[str]:
    return sorted(str(path.relative_to(store.folder)) for path in Path(store.folder).rglob("*") if path.is_file())


def test_a_stored_tree_is_read_again(store: Store) -> None:
    skill = tree(scripts_run="#!/bin/sh\n", data=b"\0\xff\n", empty="")

    digest = store.add(skill)
    assert digest == skill.digest
    assert store.has(digest)
    assert store.read(digest) == skill
    assert entries(store) == [f"{digest[7:9]}/{digest[9:]}"]


def test_what_was_added_is_taken_once(store: Store) -> None:
    skill = tree(data="text")
    digest = store.add(skill, "4b825dc6")

    assert store.take_added(digest) is None
    assert store.take_added(digest, "4b825dc6") is skill
    assert store.take_added(digest, "4b825dc6") is None
    assert store.read(digest, "4b825dc6") == skill
    store.add(skill, "4b825dc6")  # which is there
    assert store.take_added(digest, "4b825dc6") is None


def test_no_more_than_ten_megabytes_are_kept_to_be_taken(store: Store) -> None:
    digests = [store.add(tree(data=bytes([number]) * 4_000_000)) for number in range(4)]
    assert [store.take_added(digest) is not None for digest in digests] == [True, True, False, False]


def test_an_unknown_digest_has_no_entry(store: Store) -> None:
    digest = Digest("sha256:" + "0" * 64)

    assert not store.has(digest)
    assert store.read(digest) is None


def test_link_targets_of_the_source_are_stored(store: Store) -> None:
    linked = check_tree(
        [SourceEntry(path="SKILL.md", data=b"#"), SourceEntry(path="a", kind="link", data=b"SKILL.md")],
        name="x",
        limits=Limits(),
    )

    assert store.read(store.add(linked)) == linked


def test_an_existing_entry_is_kept(store: Store) -> None:
    digest = store.add(tree())
    before = os.stat(store.path(digest))
    store.add(tree())

    assert os.stat(store.path(digest)) == before


def test_an_existing_entry_is_replaced_on_request(store: Store) -> None:
    digest = store.add(tree())
    Path(store.path(digest)).write_bytes(b"damaged")
    store.add(tree(), replace=True)

    assert store.read(digest) == tree()


def test_two_variants_of_one_content_are_two_entries(store: Store) -> None:
    plain, executable = (
        tree(run="#!"),
        FileTree(files=tuple(file.replace(executable=False) for file in tree(run="#!").files)),
    )
    assert plain.digest == executable.digest

    digest = store.add(plain, "9d2f1ae1" * 5)
    store.add(executable, "0c3b5d77" * 5)
    assert store.read(digest, "9d2f1ae1" * 5) == plain
    assert store.read(digest, "0c3b5d77" * 5) == executable
    assert (store.has(digest), store.read(digest)) == (False, None)
    assert entries(store) == [
        f"{digest[7:9]}/{digest[9:]}-0c3b5d770c3b5d77",
        f"{digest[7:9]}/{digest[9:]}-9d2f1ae19d2f1ae1",
    ]


def test_another_entry_under_this_name_is_detected(store: Store) -> None:
    one, other = store.add(tree(a="1")), store.add(tree(a="2"))
    os.replace(store.path(one), store.path(other))

    with pytest.raises(StoreDamaged):
        store.read(other)


# Damage


def test_any_wrong_byte_is_detected_and_the_entry_removed(store: Store) -> None:
    digest = store.add(tree(run="#!/bin/sh\nexit 1\n", empty=""))
    path = Path(store.path(digest))
    sound = path.read_bytes()

    for at in range(len(sound)):
        for wrong in (sound[at] ^ 1, sound[at] ^ 0x80):
            path.write_bytes(sound[:at] + bytes([wrong]) + sound[at + 1 :])
            with pytest.raises(StoreDamaged):
                store.read(digest)
            assert not path.exists(), f"byte {at}"
    store.add(tree(run="#!/bin/sh\nexit 1\n", empty=""))
    assert path.read_bytes() == sound


def test_a_truncated_or_extended_entry_is_detected(store: Store) -> None:
    digest = store.add(tree(a="1"))
    path = Path(store.path(digest))
    sound = path.read_bytes()

    for damaged in [*(sound[:length] for length in range(len(sound))), sound + b"\n", b"\n" + sound, sound + sound]:
        path.write_bytes(damaged)
        with pytest.raises(StoreDamaged):
            store.read(digest)


@pytest.mark.parametrize(
    "rows",
    [
        *("null", "5", "{}", "[1]", "[[]]", '[["a"]]', '{"a": 1}', "[" * 100_000, "nonsense", "\udcff"),
        *('[["SKILL.md", "4", "x", false, ""]]', '[["SKILL.md", null, "x", false, ""]]'),
        f'[[5, 0, "{content_hash(b"")}", false, ""]]',
        f'[["SKILL.md", 0, "{content_hash(b"")}", false, 5]]',
        f'[["SKILL.md", 0, "{content_hash(b"")}", false, ""]]',
        json.dumps([["SKILL.md", -1, content_hash(b""), False, ""]] * 3),
    ],
    ids=lambda rows: rows[:40].encode("ascii", "replace").decode(),
)
def test_a_forged_listing_is_rejected(store: Store, rows: str) -> None:
    """Its checksum is valid, so only its content is wrong."""
    digest = store.add(tree())
    listing = rows.encode("utf-8", "surrogateescape")
    path = Path(store.path(digest))
    path.write_bytes(MAGIC + content_hash(listing).encode() + b"\n" + listing + b"\n")

    with pytest.raises(StoreDamaged):
        store.read(digest)
    assert not path.exists()


@settings(max_examples=100)
@given(st.binary(max_size=80))
def test_garbage_is_never_read_as_an_entry(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    store = Store(str(tmp_path_factory.getbasetemp() / "garbage"))
    digest = store.add(tree(), replace=True)
    for garbage in (data, MAGIC + data):
        Path(store.path(digest)).write_bytes(garbage)
        with pytest.raises(StoreDamaged):
            store.read(digest)


# Many at once


def test_many_writers_and_readers_at_once_see_whole_entries_only(store: Store) -> None:
    skill = tree(big=b"x" * 200_000)
    digest = store.add(skill)
    done = Event()

    def write(_: int) -> None:
        for _ in range(10):
            store.add(skill, replace=True)

    def read(_: int) -> int:
        reads = 0
        while not reads or not done.is_set():
            assert store.read(digest) == skill
            reads += 1
        return reads

    with ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(read, n) for n in range(2)]
        list(pool.map(write, range(6)))
        done.set()
        assert min(reader.result() for reader in readers) >= 1
    assert len(entries(store)) == 1


def test_many_processes_at_once_leave_one_intact_entry(store: Store) -> None:
    program = (
        "import sys; from skillpm.store import Store; from skillpm.core.file_tree import SourceEntry\n"
        "from skillpm.core.limits import Limits\n"
        "from skillpm.core.tree_checks import check_tree\n"
        "tree = check_tree([SourceEntry(path='SKILL.md', data=b'x' * 100_000)], name='x', limits=Limits())\n"
        "sys.stdin.readline()\n"
        "for _ in range(20): Store(sys.argv[1]).add(tree, replace=True)\n"
        "print(tree.digest)"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, store.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    output = {process.communicate()[0].strip() for process in processes}

    assert [process.returncode for process in processes] == [0] * 4
    (digest,) = output
    kept = store.read(Digest(digest))
    assert kept is not None
    assert kept.read("SKILL.md") == b"x" * 100_000
    assert len(entries(store)) == 1


# A store that cannot be used


def test_a_store_that_is_not_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    store = Store(str(tmp_path / "store"))

    with pytest.raises(FileError) as caught:
        store.add(tree())
    assert caught.value.message == "cannot write a skill to the store: a part of the path is not a folder"
    with pytest.raises(FileError) as caught:
        store.read(tree().digest)
    assert (caught.value.message, caught.value.where) == (
        "cannot read a skill from the store: a part of the path is not a folder",
        store.path(tree().digest),
    )


def test_an_unreadable_entry_is_reported_and_nothing_is_left_behind(store: Store) -> None:
    digest = tree().digest
    os.makedirs(store.path(digest))

    with pytest.raises(FileError) as caught:
        store.read(digest)
    assert (caught.value.message, caught.value.where) == (
        "cannot read a skill from the store: Is a directory",
        store.path(digest),
    )
    with pytest.raises(FileError) as caught:
        store.add(tree(), replace=True)
    assert caught.value.message == "cannot write a skill to the store: Is a directory"
    assert entries(store) == []
