"""Read a pack of a few commits and trees in memory (gitformat-pack): two processes and six files less than with git."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha1
from itertools import count
from typing import IO

from skillpm.fetchers.git.program.objects import GitObject, ObjectReader
from skillpm.fetchers.git.program.process import GitProcesses

MAX_PACK_SIZE = 1_000_000
MAX_CONTENT_SIZE = 10_000_000
MAX_OBJECTS = 2_000
HEADER, CHECKSUM_SIZE, ID_SIZE = b"PACK\0\0\0\2", 20, 20
KINDS = {1: "commit", 2: "tree"}


class SmallPackReader(ObjectReader):
    """Reader of the objects of a pack, whose ids were computed from what they contain."""

    def __init__(self, objects: Mapping[str, GitObject]) -> None:
        super().__init__(GitProcesses(), "", {}, "")
        self.objects = objects

    def _request(self, _: str, names: Iterable[str]) -> Iterator[tuple[str, tuple[str, str, int] | None]]:
        for name in names:
            item = self.objects.get(name)
            yield name, None if item is None else (name, item.kind, len(item.data))

    def _read_content(self, oid: str, _: str, __: int) -> GitObject:
        return self.objects[oid]


def read_small_pack(pack: IO[bytes]) -> dict[str, GitObject] | None:
    """Return the objects of a pack by their ids; None for a pack that is large or unusual, or that is damaged.

    A pack is unusual with other objects than commits and trees, with deltas, and with a tree that ends early or has two
    entries of one name. Git reads those, or says what is wrong with them.
    """
    pack.seek(0)
    data = pack.read(MAX_PACK_SIZE + 1)
    end, how_many = len(data) - CHECKSUM_SIZE, int.from_bytes(data[8:12], "big")
    is_usual = data.startswith(HEADER) and len(data) <= MAX_PACK_SIZE and how_many <= MAX_OBJECTS
    if not is_usual or sha1(data[:end], usedforsecurity=False).digest() != data[end:]:
        return None
    objects: dict[str, GitObject] = {}
    at, total = 12, 0
    for _ in range(how_many):
        number, size, at = _read_head(data, at)
        kind, total = KINDS.get(number, ""), total + size
        if not kind or total > MAX_CONTENT_SIZE:
            return None
        # What git compresses never grows by more.
        part = data[at : min(end, at + size + size // 512 + 64)]
        stream = zlib.decompressobj()
        try:
            content = stream.decompress(part, size + 1)
        except zlib.error:
            return None
        if not stream.eof or len(content) != size or (kind == "tree" and not _has_distinct_names(content)):
            return None
        at += len(part) - len(stream.unused_data)
        oid = sha1(f"{kind} {size}\0".encode() + content, usedforsecurity=False).hexdigest()
        objects[oid] = GitObject(oid, kind, content)
    return objects if at == end else None


def _read_head(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the type of an object, its size, and where its content begins; in a checksum, whatever this gives."""
    byte = data[at]
    kind, size = byte >> 4 & 7, byte & 15
    for shift in count(4, 7):
        at += 1
        if byte < 128 or at >= len(data):  # noqa: PLR2004
            break
        byte = data[at]
        size |= (byte & 127) << shift
    return kind, size, at


def _has_distinct_names(tree: bytes) -> bool:
    """Return whether a tree is whole, and no two of its entries have one name."""
    names: list[bytes] = []
    at = 0
    while at < len(tree):
        if (end := tree.find(b"\0", at)) < 0:
            return False
        names.append(tree[tree.find(b" ", at) + 1 : end])
        at = end + 1 + ID_SIZE
    return at == len(tree) and len({*names}) == len(names)
