"""Git objects read straight from the database: one `cat-file --batch` process, every byte checked by its id.

Never a checkout: so no filter, no line-ending conversion, no hook, no link can act.
"""

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha1, sha256
from typing import IO

from skillpm.errors import RefusedError
from skillpm.fetching.git.process import Children, end

CHUNK = 400  # requests in flight: less than a pipe holds, so nobody waits for the other
MOST_ENTRIES = 300_000
DEEPEST_WALK = 32
TREE, LINK, GITLINK, EXECUTABLE = 0o040000, 0o120000, 0o160000, 0o100755
KINDS = 0o170000


class CacheDamaged(Exception):
    """An object whose bytes are not what its id says, or a database git cannot read."""


@dataclass(frozen=True, slots=True)
class GitObject:
    """An object as the database holds it."""

    id: str
    kind: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Leaf:
    """Something in a tree that is no tree: its path from the root of the walk, its mode, its object."""

    path: str
    mode: int
    id: str


class ObjectReader:
    """Asks one long-lived git process for objects; an object that is not there is None, and never fetched."""

    def __init__(self, children: Children, words: Sequence[str], environment: dict[str, str], folder: str) -> None:
        self._process = children.start([*words, "cat-file", "--batch"], environment, folder, stdin=True, quiet=True)

    def close(self) -> None:
        """End the process."""
        end(self._process)

    def read(self, names: Iterable[str], *, largest: int = 0) -> dict[str, GitObject | None]:
        """Give objects by the names they were asked for.

        Raises `CacheDamaged` for a wrong byte, `RefusedError` for an object over `largest` bytes.
        """
        wanted = list(dict.fromkeys(names))
        found: dict[str, GitObject | None] = {}
        for start in range(0, len(wanted), CHUNK):
            chunk = wanted[start : start + CHUNK]
            try:
                stdin, stdout = _pipes(self._process)
                stdin.write("".join(f"{name}\n" for name in chunk).encode())
                stdin.flush()
                for name in chunk:
                    found[name] = _answer(stdout, largest)
            except OSError as error:
                raise CacheDamaged(str(error)) from error
        return found


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:  # pragma: no cover  (started with both, always)
        raise CacheDamaged("no pipes")
    return process.stdin, process.stdout


def _answer(stdout: IO[bytes], largest: int) -> GitObject | None:
    head = stdout.readline().decode("utf-8", "replace").split()
    if head[-1:] == ["missing"]:
        return None
    if len(head) != 3 or not head[2].isdigit():  # noqa: PLR2004  (id, kind, size)
        raise CacheDamaged("git ended or answered something else")
    size = int(head[2])
    if largest and size > largest:
        raise RefusedError(f"a file of {size} bytes is over the limit of {largest}", hint="raise SKILLPM_MAX_FILE")
    data = stdout.read(size)
    stdout.read(1)
    algorithm = sha1 if len(head[0]) == 40 else sha256  # noqa: PLR2004
    if algorithm(f"{head[1]} {size}\0".encode() + data, usedforsecurity=False).hexdigest() != head[0]:
        raise CacheDamaged(f"object {head[0]} is not what its id says")
    return GitObject(head[0], head[1], data)


def parse_tree(data: bytes, width: int) -> Iterator[tuple[int, str, str]]:
    """Give (mode, name, id) of a tree's entries; names that are not UTF-8 come with surrogates, for the gate."""
    at = 0
    while at < len(data):
        blank = data.index(b" ", at)
        nul = data.index(b"\0", blank)
        name = data[blank + 1 : nul]
        if b"/" in name:
            raise RefusedError(f"the repository holds a file name with a slash in it: {name[:80]!r}")
        yield int(data[at:blank], 8), name.decode("utf-8", "surrogateescape"), data[nul + 1 : nul + 1 + width].hex()
        at = nul + 1 + width


@dataclass(frozen=True, slots=True)
class Walked:
    """What lies below a tree: its leaves, its folders with their tree ids, and the trees the database lacks."""

    leaves: list[Leaf]
    folders: dict[str, str]
    lacking: list[str]


def walk(reader: ObjectReader, root: str, most: int = MOST_ENTRIES) -> Walked:
    """Give all that lies below a tree. Asks level by level, each in one go.

    Raises `RefusedError` as soon as there are more than `most` entries: a tree may name itself a million times.
    """
    walked = Walked([], {".": root}, [])
    level = [("", root)]
    for _ in range(DEEPEST_WALK + 1):
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
                if mode & KINDS == TREE:
                    below.append((f"{prefix}{name}/", oid))
                    walked.folders[prefix + name] = oid
                else:
                    walked.leaves.append(Leaf(prefix + name, mode, oid))
                if len(walked.leaves) + len(walked.folders) > most:
                    raise RefusedError(f"it holds more than {most} files", hint="raise SKILLPM_MAX_FILES")
        if not below:
            return walked
        level = below
    raise RefusedError(f"it has folders deeper than {DEEPEST_WALK}")


def folder_id(reader: ObjectReader, root: str, path: str) -> str | None:
    """Give the tree id of the folder at `path`, which must be a real folder at every step; None where it is not."""
    tree = root
    for part in path.split("/") if path != "." else ():
        found = reader.read([tree])[tree]
        if found is None or found.kind != "tree":
            return None
        entries = parse_tree(found.data, len(tree) // 2)
        step = next((oid for mode, name, oid in entries if name == part and mode & KINDS == TREE), None)
        if step is None:
            return None
        tree = step
    return tree
