"""The content hashes of other tools, computed as they do."""

import unicodedata
from collections.abc import Iterable, Mapping
from hashlib import sha1, sha256

from skillpm.core.values import Value

# The order of ASCII punctuation and digits in `localeCompare` (ICU's root collation), by which Vercel's `skills` sorts.
COLLATION_ORDER = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
IGNORED_FOLDERS = frozenset([".git", "node_modules"])


class HashedFile(Value):
    """One file of a folder: path with `/`, bytes (for a link, the target), and git's kind of file."""

    path: str
    data: bytes
    executable: bool = False
    is_link: bool = False


def vercel_hash(files: Iterable[HashedFile]) -> str:
    """Return `computedHash` of `skills-lock.json`: SHA-256 over path and bytes of each file, in JavaScript's order.

    Paths beyond ASCII are sorted by their base letters, an approximation of ICU's order.
    """
    digest = sha256()
    hashed = (file for file in files if not (file.is_link or IGNORED_FOLDERS & {*file.path.split("/")[:-1]}))
    for file in sorted(hashed, key=lambda file: _locale_key(file.path)):
        digest.update(file.path.encode("utf-8", "surrogateescape") + file.data)
    return digest.hexdigest()


def git_tree_id(files: Iterable[HashedFile]) -> str:
    """Return the git tree id of a folder with these files."""
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
    # Letters after punctuation and digits. Case only decides between otherwise equal paths, lower case first.
    primary = [1000 + ord(c.lower()[0]) if c.isalpha() else COLLATION_ORDER.find(c) % 1000 for c in plain]
    return primary, [c != c.lower() for c in plain], path
