"""What lies below a tree, without going further than anything honest goes: a tree may name itself a million times."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from skillpm.core.file_tree import Entry
from skillpm.core.text import show
from skillpm.errors import RefusedError
from skillpm.fetchers.git.objects import EXECUTABLE, GITLINK, KINDS, LINK, TREE, CacheDamaged, ObjectReader
from skillpm.fetchers.git.repository import Repository

MOST_ENTRIES = 300_000
MOST_CHARACTERS = 30_000_000
MOST_TREE_BYTES = 50_000_000
DEEPEST_WALK = 32
LONGEST_ENTRY = 5000
OCTAL = re.compile(rb"[0-7]{1,6}")


class TooMuch(Exception):
    """There is more below a tree than may be."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """Something in a tree that is no tree: its path from the root of the walk, its mode, its object."""

    path: str
    mode: int
    id: str


@dataclass(slots=True)
class Walked:
    """What lies below a tree: leaves, folders with tree ids, trees the database lacks; `cut` where it is too deep."""

    leaves: list[Leaf]
    folders: dict[str, str]
    lacking: list[str]
    cut: bool = False


def walk(reader: ObjectReader, root: str, most: int = MOST_ENTRIES) -> Walked:
    """Give all that lies below a tree. Asks level by level, each in one go. Raises `TooMuch`."""
    walked = Walked([], {".": root}, [])
    level = [("", root)]
    characters, tree_bytes = 0, 0
    for _ in range(DEEPEST_WALK + 1):
        tree_bytes += sum(size or 0 for size in reader.sizes(tree for _, tree in level).values())
        if tree_bytes > MOST_TREE_BYTES:
            raise TooMuch
        objects = reader.read(tree for _, tree in level)
        below: list[tuple[str, str]] = []
        for prefix, tree in level:
            found = objects[tree]
            if found is None:
                walked.lacking.append(tree)
                continue
            if found.kind != "tree":
                raise CacheDamaged(f"{tree} is a {found.kind}")
            for mode, name, oid in parse_tree(found.data, len(tree) // 2):
                path = prefix + name
                if mode & KINDS == TREE:
                    below.append((f"{path}/", oid))
                    walked.folders[path] = oid
                else:
                    walked.leaves.append(Leaf(path, mode, oid))
                characters += len(path)
                if max(len(walked.leaves), len(walked.folders) - 1) > most or characters > MOST_CHARACTERS:
                    raise TooMuch
        if not below:
            return walked
        level = below
    walked.cut = True
    return walked


def folder_id(reader: ObjectReader, root: str, path: str) -> str | None:
    """Give the tree id of the folder at `path`, which must be a real folder at every step; None where it is not."""
    tree = root
    for part in path.split("/") if path != "." else ():
        mode, oid = entry_of(reader, tree, part)
        if mode & KINDS != TREE:
            return None
        tree = oid
    return tree


def entry_of(reader: ObjectReader, tree: str, wanted: str) -> tuple[int, str]:
    """Give mode and id of one entry of a tree; mode 0 where there is none."""
    if (reader.sizes([tree])[tree] or 0) > MOST_TREE_BYTES:
        raise TooMuch
    found = reader.read([tree])[tree]
    entries = parse_tree(found.data, len(tree) // 2) if found is not None and found.kind == "tree" else ()
    return next(((mode, oid) for mode, name, oid in entries if name == wanted), (0, ""))


def parse_tree(data: bytes, width: int) -> Iterator[tuple[int, str, str]]:
    """Give (mode, name, id) of a tree's entries; names that are not UTF-8 come with surrogates, for the gate."""
    at = 0
    while at < len(data):
        head, nul, _ = data[at : at + LONGEST_ENTRY].partition(b"\0")
        mode, blank, name = head.partition(b" ")
        start = at + len(head) + 1
        at = start + width
        if not (nul and blank and name and OCTAL.fullmatch(mode)) or b"/" in name or at > len(data):
            raise RefusedError(f"the repository holds a tree that no git would write: {head[:80]!r}")
        yield int(mode, 8), name.decode("utf-8", "surrogateescape"), data[start:at].hex()


def entries_of(
    repository: Repository, leaves: Sequence[Leaf], name: str, warn: Callable[[str], None]
) -> Iterator[Entry]:
    """Give a folder's files for the gate, which `bring` has found to be there and not too big."""
    blobs = repository.reader.read(leaf.id for leaf in leaves if leaf.mode != GITLINK)
    for leaf in leaves:
        if leaf.mode == GITLINK:
            warn(f"{name}: `{show(leaf.path)}` is a submodule, which is not followed")
        elif (blob := blobs[leaf.id]) is None or blob.kind != "blob":
            raise CacheDamaged(f"object {leaf.id} is gone, or no file")
        elif leaf.mode == LINK:
            yield Entry(path=leaf.path, kind="link", data=blob.data)
        else:
            yield Entry(path=leaf.path, data=blob.data, executable=leaf.mode == EXECUTABLE)
