"""Content-addressed store of skills, shared by all projects of a user, and what was proved of them.

An entry is one file: a line with a checksum, a line of JSON that lists the files, then their bytes. One file rather
than a folder, so that it is written by one rename and read by one open. Every read verifies every byte, so a damaged
entry is never installed: it is removed and fetched again.

Two trees with the same digest may differ in executable bits, which the digest does not include. An entry's key is
therefore the digest and a `variant` (for a git skill, its tree id).
"""

import json
import os
from contextlib import suppress
from typing import Any, Protocol

from skillpm.cachedir import (
    is_own_entry,
    record_use,
    retry_if_emptied,
    tag_cache_folder,
    translate_cache_errors,
    write_cache_file,
)
from skillpm.core.digest import Digest, content_hash
from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.files import discard_file
from skillpm.kinds.base import Pin

MAGIC = b"skillpm-tree 1 "
KEY_LENGTH = 64  # hex digits
MAX_ADDED_BYTES = 10_000_000  # that are kept in memory


class StoreDamaged(Exception):
    """An entry did not match its digest; it has been removed."""


class Store:
    """A folder of entries, safe to use from several processes at once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        # By path: what was added, and is taken once.
        self._added: dict[str, FileTree] = {}
        self._added_bytes = 0

    def path(self, digest: Digest, variant: str = "") -> str:
        """Return the path of an entry, whether it exists or not."""
        key = digest.removeprefix("sha256:")
        return os.path.join(self.folder, key[:2], f"{key[2:]}-{variant[:16]}" if variant else key[2:])

    def has(self, digest: Digest, variant: str = "") -> bool:
        """Return whether an entry exists, without verifying it."""
        return os.path.isfile(self.path(digest, variant))

    def add(self, tree: FileTree, variant: str = "", *, replace: bool = False) -> Digest:
        """Store a tree unless it exists; return its digest. `replace` writes it even so."""
        digest = tree.digest
        path = self.path(digest, variant)
        if os.path.exists(path) and not replace:
            return digest
        rows = [[file.path, len(file.data), file.content_hash, file.executable, file.link] for file in tree.files]
        listing = json.dumps(rows, ensure_ascii=False).encode()
        head = MAGIC + content_hash(listing).encode() + b"\n" + listing + b"\n"
        with translate_cache_errors("write a skill to the store", path):
            data = b"".join([head, *(file.data for file in tree.files)])
            if replace and _is_same(path, data):
                return digest
            retry_if_emptied(lambda: _write_entry(path, data, self.folder), self.folder)
        self._added_bytes += len(data)
        if self._added_bytes <= MAX_ADDED_BYTES:
            self._added[path] = tree
        return digest

    def take_added(self, digest: Digest, variant: str = "") -> FileTree | None:
        """Return a tree that this process has added, once, as it was verified then; None for any other."""
        return self._added.pop(self.path(digest, variant), None)

    def read(self, digest: Digest, variant: str = "") -> FileTree | None:
        """Return a tree, every byte of it verified; None if it is not stored.

        Raises `StoreDamaged` after removing an entry that does not match its digest, or that may not be read, and
        `FileError` for one that cannot be removed, or that the disk cannot read.
        """
        path = self.path(digest, variant)
        with translate_cache_errors("read a skill from the store", path):
            try:
                with open(path, "rb") as file:
                    data = file.read()
            except FileNotFoundError:
                return None
            except PermissionError:
                data = b""
            tree = _parse_entry(data)
            # The entry's own checksums are verified by then. The digest detects an entry stored under another's name.
            if tree is None or tree.digest != digest:
                self._discard(path)
                raise StoreDamaged(path)
        record_use(path)
        return tree

    def _discard(self, path: str) -> None:
        discard_file(path)

    def find_digests(self, prefix: str) -> list[Digest]:
        """Return the digests of all entries that begin with a prefix, of two hex digits or more; without `sha256:`."""
        try:
            names = os.listdir(os.path.join(self.folder, prefix[:2]))
        except OSError:
            return []
        keys = {prefix[:2] + name.partition("-")[0] for name in names}
        return sorted(Digest(f"sha256:{key}") for key in keys if len(key) == KEY_LENGTH and key.startswith(prefix))

    def read_any(self, digest: Digest) -> FileTree | None:
        """Return a tree with this digest, in any variant: executable bits may differ from those of another."""
        key = digest.removeprefix("sha256:")
        folder = os.path.join(self.folder, key[:2])
        try:
            names = sorted(name for name in os.listdir(folder) if name.partition("-")[0] == key[2:])
        except OSError:
            return None
        for name in names:
            with suppress(StoreDamaged):
                if (tree := self.read(digest, name.partition("-")[2])) is not None:
                    return tree
        return None


class LockedContent(Protocol):
    """What a lockfile says of a skill: a `LockedSkill`, or a `FetchedSkill` that is about to be locked."""

    @property
    def pin(self) -> Pin: ...  # noqa: D102
    @property
    def digest(self) -> Digest | None: ...  # noqa: D102
    @property
    def version(self) -> str: ...  # noqa: D102


def claim_key(name: str, skill: LockedContent) -> str:
    """Return the SHA-256 of what a lockfile claims: that this source has this content. Empty for a local source."""
    from hashlib import sha256  # noqa: PLC0415  (2 ms that most commands save)

    claim = skill.pin.claim(name, skill.version)
    return sha256("\n".join([*claim, skill.digest or ""]).encode()).hexdigest() if claim else ""


class Proofs:
    """Which locked content was proved to be that of its source, so that the store may be used without a request.

    The digest of a locked skill says which bytes, not where they come from: the store has them, too, if they belong to
    another commit, another archive or another index. For git, a proof says that the commit has this tree at this path;
    for an archive, that its URL served it; for an index, that it served this version of this skill. What was proved
    once on a machine is remembered as an empty file in the cache.
    """

    def __init__(self, cache_dir: str, mirror: str = "") -> None:
        self.folder = os.path.join(cache_dir, "proofs")
        # With the address of a mirror, a proof says only that the mirror had the skill.
        self.mirror = mirror

    def path(self, name: str, skill: LockedContent) -> str:
        """Return the path of a proof, whether it exists or not; empty for a local source, which is read each time."""
        from hashlib import sha256  # noqa: PLC0415  (2 ms that most commands save)

        key = claim_key(name, skill)
        if self.mirror:
            key = sha256(f"{self.mirror}\n{key}".encode()).hexdigest()
        return os.path.join(self.folder, key) if key else ""

    def has(self, name: str, skill: LockedContent) -> bool:
        """Return whether nothing remains to be proved: what OCI names by digests needs no proof beside them."""
        is_named_by_digest = skill.pin.is_content_addressed and not self.mirror
        return is_named_by_digest or not self.path(name, skill) or self.has_place(name, skill)

    def has_place(self, name: str, skill: LockedContent) -> bool:
        """Return whether it was proved that the content comes from its source, as rules about places ask.

        A digest says which bytes, not which server has them.
        """
        path = self.path(name, skill)
        return bool(path) and self._is_recorded(path)

    def _is_recorded(self, path: str) -> bool:
        try:
            return is_own_entry(path, os.lstat(path))
        except OSError:
            return False

    def add(self, name: str, skill: LockedContent) -> None:
        """Record a proof. A failure is ignored: it costs a request later."""
        path = self.path(name, skill)
        with suppress(OSError):
            if self._is_recorded(path):
                record_use(path)
            else:
                os.makedirs(self.folder, exist_ok=True)
                if os.path.lexists(path):
                    os.unlink(path)  # of another user, so that it does not count
                open(path, "xb").close()  # empty, so it cannot be half-written


def is_intact(path: str) -> bool:
    """Return whether an entry matches the digest in its name; nothing is removed. Raises `OSError`."""
    with open(path, "rb") as file:
        tree = _parse_entry(file.read())
    folder, name = os.path.split(path)
    return tree is not None and tree.digest == f"sha256:{os.path.basename(folder)}{name.partition('-')[0]}"


def _is_same(path: str, data: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read() == data
    except FileNotFoundError:
        return False


def _write_entry(path: str, data: bytes, folder: str) -> None:
    tag_cache_folder(os.path.dirname(folder))
    write_cache_file(path, data)


def _parse_entry(data: bytes) -> FileTree | None:
    """Return the tree of an entry, or None if any byte is wrong."""
    start = len(MAGIC) + 65  # 64 hex digits and a line feed
    end = data.find(b"\n", start)
    listing = data[start:end]
    if not data.startswith(MAGIC) or end < 0 or data[len(MAGIC) : start] != content_hash(listing).encode() + b"\n":
        return None
    try:
        rows: Any = json.loads(listing)
        files, at = [], end + 1
        for path, size, content, executable, link in rows:
            part = data[at : at + size]
            # A part cut short by a full disk has another hash, so sizes need no check of their own.
            if content_hash(part) != content or not (isinstance(path, str) and isinstance(link, str)):
                return None
            files.append(TreeFile(path=path, data=part, executable=executable is True, link=link, content_hash=content))
            at += size
    except (ValueError, TypeError, RecursionError):
        return None
    return FileTree(files=tuple(files)) if at == len(data) else None
