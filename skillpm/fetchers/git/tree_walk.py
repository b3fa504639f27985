"""List the contents of a git tree within limits.

A few small tree objects can describe billions of paths: each tree may contain the next one many times.
"""

from collections.abc import Callable, Iterator, Sequence

from skillpm.core.file_tree import SourceEntry
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError
from skillpm.fetchers.git.program.objects import (
    EXECUTABLE,
    FILE,
    GITLINK,
    KIND_MASK,
    LINK,
    REGULAR,
    TREE,
    CacheDamaged,
    ObjectReader,
)
from skillpm.fetchers.git.repository import MAX_COMMIT_SIZE, Repository

MAX_ENTRIES = 300_000
MAX_PATH_CHARACTERS = 30_000_000
MAX_TREE_BYTES = 50_000_000
MAX_PARSED_BYTES = 2_000_000  # of trees that are kept as parsed, which takes ten times their size
MAX_DEPTH = 32
MAX_ENTRY_LENGTH = 5000
OCTAL_MODE = lazy_pattern(rb"[0-7]{1,6}")


class TreeTooLarge(Exception):
    """A tree with more entries than allowed."""


class TreeEntry:
    """A file, link or submodule in a tree: its path from the root of the walk, its mode and its object id."""

    __slots__ = ("id", "mode", "path")

    def __init__(self, path: str, mode: int, oid: str) -> None:
        self.path, self.mode, self.id = path, mode, oid

    @property
    def is_submodule(self) -> bool:
        """Whether the entry is a submodule."""
        return self.mode & KIND_MASK == GITLINK


class TreeListing:
    """The contents of a tree: entries, folders with their tree ids, missing trees; truncated if nested too deeply."""

    def __init__(self, root: str) -> None:
        self.entries: list[TreeEntry] = []
        self.folders = {".": root}
        self.missing_trees: list[str] = []
        self.is_truncated = False


def walk_tree(reader: ObjectReader, root: str, max_entries: int = MAX_ENTRIES) -> TreeListing:
    """List everything below a tree, level by level, with one request for each level. Raises `TreeTooLarge`."""
    listing = TreeListing(root)
    level = [("", root)]
    characters, tree_bytes = 0, 0
    for _ in range(MAX_DEPTH + 1):
        tree_bytes += sum(size or 0 for size in reader.read_sizes(tree for _, tree in level).values())
        if tree_bytes > MAX_TREE_BYTES:
            raise TreeTooLarge
        objects = reader.read(tree for _, tree in level)
        below: list[tuple[str, str]] = []
        for prefix, tree in level:
            item = objects[tree]
            if item is None:
                listing.missing_trees.append(tree)
                continue
            if item.kind != "tree":
                raise CacheDamaged(f"{tree} is a {item.kind}")
            for mode, name, oid in parse_tree(item.data, len(tree) // 2):
                path = prefix + name
                if mode & KIND_MASK == TREE:
                    below.append((f"{path}/", oid))
                    listing.folders[path] = oid
                else:
                    listing.entries.append(TreeEntry(path, mode, oid))
                characters += len(path)
                if (
                    max(len(listing.entries), len(listing.folders) - 1) > max_entries
                    or characters > MAX_PATH_CHARACTERS
                ):
                    raise TreeTooLarge
        if not below:
            return listing
        level = below
    listing.is_truncated = True
    return listing


def find_folder_id(reader: ObjectReader, root: str, path: str) -> str | None:
    """Return the tree id of the folder at `path`; None if a part of the path is missing or not a folder."""
    tree = root
    for part in path.split("/") if path != "." else ():
        mode, oid = find_entry(reader, tree, part)
        if mode & KIND_MASK != TREE:
            return None
        tree = oid
    return tree


def find_entry(reader: ObjectReader, tree: str, entry_name: str) -> tuple[int, str]:
    """Return mode and id of one entry of a tree; mode 0 if it does not exist."""
    if tree in reader.parsed_trees:
        return reader.parsed_trees[tree].get(entry_name, (0, ""))
    if (reader.read_sizes([tree])[tree] or 0) > MAX_TREE_BYTES:
        raise TreeTooLarge
    item = reader.read([tree])[tree]
    if item is None or item.kind != "tree":
        return 0, ""
    entries = parse_tree(item.data, len(tree) // 2)
    if len(item.data) > MAX_PARSED_BYTES:
        return next(((mode, oid) for mode, name, oid in entries if name == entry_name), (0, ""))
    # Kept, since a folder with ten thousand skills is searched for each of them.
    parsed: dict[str, tuple[int, str]] = {}
    for mode, name, oid in entries:
        parsed.setdefault(name, (mode, oid))
    reader.keep_parsed_tree(tree, parsed, len(item.data), MAX_PARSED_BYTES)
    return parsed.get(entry_name, (0, ""))


def read_entry(repository: Repository, commit: str, path: str) -> tuple[int, str] | None:
    """Return mode and id of what a commit has at a path; mode 0 for nothing, None if objects are not cached."""
    reader = repository.reader
    item = reader.read([commit], max_size=MAX_COMMIT_SIZE)[commit]
    if item is None or item.kind != "commit":
        return None
    mode, oid = TREE, item.data[5 : item.data.index(b"\n")].decode()
    for part in path.split("/") if path != "." else ():
        if mode & KIND_MASK != TREE:
            return 0, ""
        if reader.read_sizes([oid])[oid] is None:
            return None
        try:
            mode, oid = find_entry(reader, oid, part)
        except TreeTooLarge:
            return None
    return mode, oid


def format_entry(mode: int, oid: str) -> str:
    """Return mode and id as pins record them; of a file, only the executable bit of the mode counts."""
    if mode & KIND_MASK == FILE:
        mode = EXECUTABLE if mode == EXECUTABLE else REGULAR
    return f"{mode:06o} {oid}"


def parse_tree(data: bytes, id_length: int) -> Iterator[tuple[int, str, str]]:
    r"""Yield (mode, name, id) of a tree's entries. Names that are not UTF-8 have surrogates; `check_tree` rejects them.

    Format: `<mode> <name>\0<binary id>`, repeated. Raises `RefusedError` for anything else.
    """
    position = 0
    while position < len(data):
        head, nul, _ = data[position : position + MAX_ENTRY_LENGTH].partition(b"\0")
        mode, space, name = head.partition(b" ")
        start = position + len(head) + 1
        position = start + id_length
        if not (nul and space and name and OCTAL_MODE.fullmatch(mode)) or b"/" in name or position > len(data):
            raise RefusedError(f"the repository contains a malformed tree object: {head[:80]!r}")
        yield int(mode, 8), name.decode("utf-8", "surrogateescape"), data[start:position].hex()


def read_entries(
    repository: Repository, tree_entries: Sequence[TreeEntry], name: str, warn: Callable[[str], None]
) -> Iterator[SourceEntry]:
    """Yield the entries of a folder for `check_tree`; `fetch_missing` has fetched them and checked their sizes."""
    blobs = repository.reader.read(entry.id for entry in tree_entries if entry.mode != GITLINK)
    for entry in tree_entries:
        if entry.mode == GITLINK:
            warn(f"{name}: `{sanitize(entry.path)}` is a submodule, which skillpm does not fetch")
        elif (blob := blobs[entry.id]) is None or blob.kind != "blob":
            raise CacheDamaged(f"object {entry.id} is missing or not a blob")
        elif entry.mode == LINK:
            yield SourceEntry(path=entry.path, kind="link", data=blob.data)
        else:
            yield SourceEntry(path=entry.path, data=blob.data, executable=entry.mode == EXECUTABLE)
