"""Commits and trees are read from a small pack as git reads them; whatever is unusual or damaged is left to git."""

import io
import subprocess
import zlib
from pathlib import Path

import pytest
from fetchers.packing import git_pack, pack_entry
from kit import Repository, make_skill, prefix_paths

from skillpm.fetchers.git.program.small_pack import MAX_OBJECTS, MAX_PACK_SIZE, read_small_pack

COMMIT, TREE, BLOB = 1, 2, 3
OBJECT = bytes(range(20))


def tree_of(*names: str) -> bytes:
    return b"".join(f"40000 {name}\0".encode() + OBJECT for name in names)


def test_a_pack_is_read_as_git_reads_it(tmp_path: Path) -> None:
    upstream = Repository.create(tmp_path / "upstream")
    for number in range(40):
        upstream.write(prefix_paths(f"skills/skill-{number}", make_skill(f"skill-{number}")))
    upstream.commit()

    def git(*words: str, data: bytes = b"") -> bytes:
        words = ("git", "-C", str(upstream.path), *words)
        return subprocess.run(words, input=data, check=True, capture_output=True).stdout

    listed = git("rev-list", "--objects", "--no-object-names", "--filter=blob:none", "HEAD")
    found = read_small_pack(io.BytesIO(git("pack-objects", "--stdout", "--window=0", data=listed)))

    expected = {
        oid: (kind, git("cat-file", kind, oid))
        for oid in listed.decode().split()
        for kind in [git("cat-file", "-t", oid).decode().strip()]
    }
    assert found is not None
    assert {oid: (item.kind, item.data) for oid, item in found.items()} == expected


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(git_pack([])[:-1], id="cut off"),
        pytest.param(git_pack([pack_entry(TREE, tree_of("a"))])[:-1] + b"\0", id="checksum"),
        pytest.param(git_pack([pack_entry(BLOB, b"text")]), id="file"),
        pytest.param(git_pack([pack_entry(6, b"", packed=b"\1" + zlib.compress(b"delta"))]), id="delta to an offset"),
        pytest.param(git_pack([pack_entry(7, b"", packed=OBJECT + zlib.compress(b"delta"))]), id="delta to an object"),
        pytest.param(git_pack([pack_entry(TREE, tree_of("a", "b", "a"))]), id="two entries of one name"),
        pytest.param(git_pack([pack_entry(TREE, tree_of("a")[:-1])]), id="tree that ends in an id"),
        pytest.param(git_pack([pack_entry(TREE, tree_of("a") + b"40000 b")]), id="tree that ends in a name"),
        pytest.param(git_pack([pack_entry(TREE, tree_of("a"), size=10)]), id="more than its size"),
        pytest.param(git_pack([pack_entry(TREE, tree_of("a"), size=100)]), id="less than its size"),
        pytest.param(git_pack([pack_entry(TREE, bytes(10_000_001))]), id="bomb"),
        pytest.param(git_pack([pack_entry(TREE, b"", size=1 << 200)]), id="size of any length"),
        pytest.param(git_pack([pack_entry(TREE, b"", packed=b"no zlib")]), id="not compressed"),
        pytest.param(git_pack([b"\xff" * 300]), id="no end of a size"),
        pytest.param(git_pack([pack_entry(TREE, tree_of("a"))], count=2), id="fewer objects than it says"),
        pytest.param(git_pack([pack_entry(TREE, tree_of("a"))] * 2, count=1), id="more objects than it says"),
        pytest.param(git_pack([pack_entry(TREE, b"")] * (MAX_OBJECTS + 1)), id="too many objects"),
        pytest.param(git_pack([pack_entry(TREE, b"", packed=bytes(MAX_PACK_SIZE))]), id="too large"),
    ],
)
def test_anything_else_is_left_to_git(data: bytes) -> None:
    assert read_small_pack(io.BytesIO(data)) is None
