"""How other tools recognise a skill's content: their sums over its files, computed as they do."""

import unicodedata
from collections.abc import Iterable, Mapping
from hashlib import sha1, sha256

from skillpm.core.values import Value

# The order of ASCII's marks for `localeCompare` (ICU's root collation), which Vercel's `skills` sorts paths by.
COLLATION_ORDER = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
IGNORED_FOLDERS = frozenset([".git", "node_modules"])


class HashedFile(Value):
    """One file of a folder, as sums see it: path with `/`, bytes (of a link: its target), git's kinds of file."""

    path: str
    data: bytes
    executable: bool = False
    is_link: bool = False


def vercel_hash(files: Iterable[HashedFile]) -> str:
    """Give `computedHash` of `skills-lock.json`: SHA-256 over path and bytes of each file, in JavaScript's order.

    Paths beyond ASCII are sorted by their bare letters, as nearly as can be said without ICU.
    """
    known = sha256()
    kept = (file for file in files if not (file.is_link or IGNORED_FOLDERS & {*file.path.split("/")[:-1]}))
    for file in sorted(kept, key=lambda file: _locale_key(file.path)):
        known.update(file.path.encode("utf-8", "surrogateescape") + file.data)
    return known.hexdigest()


def git_tree_id(files: Iterable[HashedFile]) -> str:
    """Give the id that git has for a folder with these files."""
    root: dict[str, object] = {}
    for file in files:
        folder = root
        *above, name = file.path.split("/")
        for part in above:
            folder = folder.setdefault(part, {})  # type: ignore[assignment]
        folder[name] = file
    return _tree_id(root)


def _tree_id(folder: Mapping[str, object]) -> str:
    rows = []
    for name, item in folder.items():
        encoded = name.encode("utf-8", "surrogateescape")
        if isinstance(item, HashedFile):
            mode = b"120000" if item.is_link else b"100755" if item.executable else b"100644"
            rows.append((encoded, mode, _object_id("blob", item.data)))
        elif isinstance(item, dict):
            rows.append((encoded + b"/", b"40000", _tree_id(item)))
    data = b"".join(
        mode + b" " + name.removesuffix(b"/") + b"\0" + bytes.fromhex(oid) for name, mode, oid in sorted(rows)
    )
    return _object_id("tree", data)


def _object_id(kind: str, data: bytes) -> str:
    return sha1(f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()


def _locale_key(path: str) -> tuple[list[int], list[bool], str]:
    plain = "".join(c for c in unicodedata.normalize("NFKD", path) if not unicodedata.combining(c))
    first = [1000 + ord(c.lower()[0]) if c.isalpha() else COLLATION_ORDER.find(c) % 1000 for c in plain]
    return first, [c != c.lower() for c in plain], path
