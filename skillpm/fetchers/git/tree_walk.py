"""What lies below a tree, without going further than anything honest goes: a tree may name itself a million times."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from skillpm.core.file_tree import SourceEntry
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError
from skillpm.fetchers.git.objects import EXECUTABLE, GITLINK, KIND_MASK, LINK, TREE, CacheDamaged, ObjectReader
from skillpm.fetchers.git.repository import Repository

MAX_ENTRIES = 300_000
MAX_PATH_CHARACTERS = 30_000_000
MAX_TREE_BYTES = 50_000_000
MAX_DEPTH = 32
MAX_ENTRY_LENGTH = 5000
OCTAL_MODE = re.compile(rb"[0-7]{1,6}")


class TreeTooLarge(Exception):
    """There is more below a tree than may be."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """Something in a tree that is no tree: its path from the root of the walk, its mode, its object."""

    path: str
    mode: int
    id: str


@dataclass(slots=True)
class TreeListing:
    """What lies below a tree: leaves, folders with tree ids, trees the database lacks; `cut` where it is too deep."""

    entries: list[TreeEntry]
    folders: dict[str, str]
    missing_trees: list[str]
    is_truncated: bool = False


def walk_tree(reader: ObjectReader, root: str, max_entries: int = MAX_ENTRIES) -> TreeListing:
    """Give all that lies below a tree. Asks level by level, each in one go. Raises `TooMuch`."""
    walked = TreeListing([], {".": root}, [])
    level = [("", root)]
    characters, tree_bytes = 0, 0
    for _ in range(MAX_DEPTH + 1):
        tree_bytes += sum(size or 0 for size in reader.read_sizes(tree for _, tree in level).values())
        if tree_bytes > MAX_TREE_BYTES:
            raise TreeTooLarge
        objects = reader.read(tree for _, tree in level)
        below: list[tuple[str, str]] = []
        for prefix, tree in level:
            found = objects[tree]
            if found is None:
                walked.missing_trees.append(tree)
                continue
            if found.kind != "tree":
                raise CacheDamaged(f"{tree} is a {found.kind}")
            for mode, name, oid in parse_tree(found.data, len(tree) // 2):
                path = prefix + name
                if mode & KIND_MASK == TREE:
                    below.append((f"{path}/", oid))
                    walked.folders[path] = oid
                else:
                    walked.entries.append(TreeEntry(path, mode, oid))
                characters += len(path)
                if max(len(walked.entries), len(walked.folders) - 1) > max_entries or characters > MAX_PATH_CHARACTERS:
                    raise TreeTooLarge
        if not below:
            return walked
        level = below
    walked.is_truncated = True
    return walked


def find_folder_id(reader: ObjectReader, root: str, path: str) -> str | None:
    """Give the tree id of the folder at `path`, which must be a real folder at every step; None where it is not."""
    tree = root
    for part in path.split("/") if path != "." else ():
        mode, oid = find_entry(reader, tree, part)
        if mode & KIND_MASK != TREE:
            return None
        tree = oid
    return tree


def find_entry(reader: ObjectReader, tree: str, entry_name: str) -> tuple[int, str]:
    """Give mode and id of one entry of a tree; mode 0 where there is none."""
    if (reader.read_sizes([tree])[tree] or 0) > MAX_TREE_BYTES:
        raise TreeTooLarge
    found = reader.read([tree])[tree]
    entries = parse_tree(found.data, len(tree) // 2) if found is not None and found.kind == "tree" else ()
    return next(((mode, oid) for mode, name, oid in entries if name == entry_name), (0, ""))


def parse_tree(data: bytes, id_length: int) -> Iterator[tuple[int, str, str]]:
    """Give (mode, name, id) of a tree's entries; names that are not UTF-8 come with surrogates, for the gate."""
    at = 0
    while at < len(data):
        head, nul, _ = data[at : at + MAX_ENTRY_LENGTH].partition(b"\0")
        mode, blank, name = head.partition(b" ")
        start = at + len(head) + 1
        at = start + id_length
        if not (nul and blank and name and OCTAL_MODE.fullmatch(mode)) or b"/" in name or at > len(data):
            raise RefusedError(f"the repository holds a tree that no git would write: {head[:80]!r}")
        yield int(mode, 8), name.decode("utf-8", "surrogateescape"), data[start:at].hex()


def read_entries(
    repository: Repository, tree_entries: Sequence[TreeEntry], name: str, warn: Callable[[str], None]
) -> Iterator[SourceEntry]:
    """Give a folder's files for the gate, which `bring` has found to be there and not too big."""
    blobs = repository.reader.read(leaf.id for leaf in tree_entries if leaf.mode != GITLINK)
    for leaf in tree_entries:
        if leaf.mode == GITLINK:
            warn(f"{name}: `{sanitize(leaf.path)}` is a submodule, which is not followed")
        elif (blob := blobs[leaf.id]) is None or blob.kind != "blob":
            raise CacheDamaged(f"object {leaf.id} is gone, or no file")
        elif leaf.mode == LINK:
            yield SourceEntry(path=leaf.path, kind="link", data=blob.data)
        else:
            yield SourceEntry(path=leaf.path, data=blob.data, executable=leaf.mode == EXECUTABLE)
