"""Read git objects from the object database: one `cat-file` process, every object verified against its id.

Nothing is ever checked out, so no filter, line-ending conversion, hook or link can act.
"""

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from hashlib import sha1, sha256
from typing import IO

from skillpm.fetchers.git.program.process import (
    GitProcesses,
    format_command,
    kill_process,
    open_anonymous_file,
    read_stderr,
)
from skillpm.fetchers.git.program.repository_cache import is_empty

# Requests in flight. They fit into the smallest pipe (4 KiB), so that git never blocks on a full stdout while we block
# on a full stdin.
BATCH_SIZE = 60
TREE, FILE, LINK, GITLINK = 0o040000, 0o100000, 0o120000, 0o160000
REGULAR, EXECUTABLE = 0o100644, 0o100755
KIND_MASK = 0o170000


class CacheDamaged(Exception):
    """An object that does not match its id, or an object database that git cannot read."""


class GitObject:
    """An object of the database."""

    __slots__ = ("data", "id", "kind")

    def __init__(self, oid: str, kind: str, data: bytes) -> None:
        self.id, self.kind, self.data = oid, kind, data


class ObjectReader:
    """Reader that requests objects from one long-lived git process. A missing object is None, and is never fetched."""

    def __init__(self, processes: GitProcesses, path: str, environment: dict[str, str], folder: str) -> None:
        self._path = path
        self._start_arguments = processes, environment, folder
        self._stderr = -1
        self._process: subprocess.Popen[bytes] | None = None
        # By id: the entries of trees that were parsed, (mode, id) by name.
        self.parsed_trees: dict[str, Mapping[str, tuple[int, str]]] = {}
        self._parsed_bytes = 0

    def _start(self) -> tuple[IO[bytes], IO[bytes]]:
        """Start the process on first use; return its stdin and stdout."""
        if self._process is None:
            processes, environment, folder = self._start_arguments
            args = [f"--git-dir={self._path}", "cat-file", "--batch-command"]
            processes.detail(f"{format_command(args)} (stays open)")
            self._stderr = open_anonymous_file(folder)
            self._process = processes.start(args, environment, folder, stdin=subprocess.PIPE, stderr=self._stderr)
        return _pipes(self._process)

    def close(self) -> None:
        """Kill the process."""
        if self._process is not None:
            kill_process(self._process)
            os.close(self._stderr)

    def read_sizes(self, names: Iterable[str]) -> dict[str, int | None]:
        """Return the sizes of objects in bytes, without reading them."""
        answers = self._request("info", names)
        return {name: None if head is None else head[2] for name, head in answers}

    def read_ids(self, names: Iterable[str]) -> dict[str, str | None]:
        """Return the ids of objects by any name that git understands (`COMMIT:folder`)."""
        return {name: None if head is None else head[0] for name, head in self._request("info", names)}

    def read(self, names: Iterable[str], *, max_size: int = 0) -> dict[str, GitObject | None]:
        """Return objects by the names they were requested with. One larger than `max_size` bytes (if not 0) is None.

        Raises `CacheDamaged` for an object that does not match its id.
        """
        objects: dict[str, GitObject | None] = {}
        if max_size:
            sizes = self.read_sizes(names := list(names))
            names = [name for name in names if (sizes[name] or 0) <= max_size]
            objects = dict.fromkeys(sizes)
        for name, head in self._request("contents", names):
            objects[name] = None if head is None else self._read_content(*head)
        return objects

    def keep_parsed_tree(self, tree: str, entries: Mapping[str, tuple[int, str]], size: int, max_bytes: int) -> None:
        """Keep the entries of a tree of `size` bytes in `parsed_trees`; forget the others beyond `max_bytes`."""
        if self._parsed_bytes + size > max_bytes:
            self.parsed_trees.clear()
            self._parsed_bytes = 0
        self.parsed_trees[tree] = entries
        self._parsed_bytes += size

    @cached_property
    def _is_empty(self) -> bool:
        # Until a fetch, which closes this reader: the lock of the cache is held.
        return is_empty(self._path)

    def _request(self, verb: str, names: Iterable[str]) -> Iterator[tuple[str, tuple[str, str, int] | None]]:
        """Request objects in batches; yield the header of each response, before its content is read."""
        unique = list(dict.fromkeys(names))
        if self._process is None and self._is_empty:
            yield from ((name, None) for name in unique)
            return
        for start in range(0, len(unique), BATCH_SIZE):
            chunk = unique[start : start + BATCH_SIZE]
            stdin, stdout = self._start()
            with suppress(OSError):  # git has exited; its stderr or its missing response is handled below
                stdin.write("".join(f"{verb} {name}\n" for name in chunk).encode())
                stdin.flush()
            for name in chunk:
                line = stdout.readline()
                # For a pack that it cannot read, git reports the object as missing, and the error only on stderr.
                if os.fstat(self._stderr).st_size:
                    raise CacheDamaged(read_stderr(self._stderr))
                yield name, _parse_header(line)

    def _read_content(self, oid: str, kind: str, size: int) -> GitObject:
        _, stdout = self._start()
        data = stdout.read(size)
        stdout.read(1)
        algorithm = sha1 if len(oid) == 40 else sha256  # noqa: PLR2004
        checksum = algorithm(f"{kind} {size}\0".encode(), usedforsecurity=False)
        checksum.update(data)
        if checksum.hexdigest() != oid:
            raise CacheDamaged(f"object {oid} does not match its id")
        return GitObject(oid, kind, data)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:  # pragma: no cover  (always started with both)
        raise CacheDamaged("no pipes")
    return process.stdin, process.stdout


def _parse_header(line: bytes) -> tuple[str, str, int] | None:
    """Parse the first line of a response: id, kind and size; None for a missing object."""
    words = line.decode("utf-8", "replace").split()
    if words[-1:] == ["missing"]:
        return None
    if len(words) != 3 or not words[2].isdigit():  # noqa: PLR2004  (id, kind, size)
        raise CacheDamaged("git exited, or sent an unexpected response")
    return words[0], words[1], int(words[2])
