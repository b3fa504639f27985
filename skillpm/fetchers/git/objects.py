"""Git objects read straight from the database: one `cat-file` process, every byte checked by its id.

Never a checkout: so no filter, no line-ending conversion, no hook, no link can act.
"""

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha1, sha256
from typing import IO

from skillpm.fetchers.git.process import GitProcesses, format_command, kill_process, open_anonymous_file, read_stderr

BATCH_SIZE = 60  # requests in flight: less than the smallest pipe holds, so nobody waits for the other
TREE, LINK, GITLINK, EXECUTABLE = 0o040000, 0o120000, 0o160000, 0o100755
KIND_MASK = 0o170000


class CacheDamaged(Exception):
    """An object whose bytes are not what its id says, or a database git cannot read."""


@dataclass(frozen=True, slots=True)
class GitObject:
    """An object as the database holds it."""

    id: str
    kind: str
    data: bytes


class ObjectReader:
    """Asks one long-lived git process for objects; an object that is not there is None, and never fetched."""

    def __init__(self, processes: GitProcesses, args: Sequence[str], environment: dict[str, str], folder: str) -> None:
        args = [*args, "cat-file", "--batch-command"]
        processes.detail(f"{format_command(args)} (stays open)")
        self._stderr = open_anonymous_file(folder)
        self._process = processes.start(args, environment, folder, stdin=True, stderr=self._stderr)

    def close(self) -> None:
        """End the process."""
        kill_process(self._process)
        os.close(self._stderr)

    def read_sizes(self, names: Iterable[str]) -> dict[str, int | None]:
        """Give how many bytes objects hold, before anybody reads them."""
        answers = self._request("info", names)
        return {name: None if head is None else head[2] for name, head in answers}

    def read_ids(self, names: Iterable[str]) -> dict[str, str | None]:
        """Give the ids of objects, by whatever names (`COMMIT:folder`)."""
        return {name: None if head is None else head[0] for name, head in self._request("info", names)}

    def read(self, names: Iterable[str], *, max_size: int = 0) -> dict[str, GitObject | None]:
        """Give objects by the names they were asked for. One over `largest` bytes is none.

        Raises `CacheDamaged` for a wrong byte.
        """
        found: dict[str, GitObject | None] = {}
        if max_size:
            sizes = self.read_sizes(names := list(names))
            names = [name for name in names if (sizes[name] or 0) <= max_size]
            found = dict.fromkeys(sizes)
        for name, head in self._request("contents", names):
            found[name] = None if head is None else self._read_content(*head)
        return found

    def _request(self, verb: str, names: Iterable[str]) -> Iterator[tuple[str, tuple[str, str, int] | None]]:
        """Ask for many objects, some at a time; give the head of each answer, before the rest of it is read."""
        wanted = list(dict.fromkeys(names))
        for start in range(0, len(wanted), BATCH_SIZE):
            chunk = wanted[start : start + BATCH_SIZE]
            stdin, stdout = _pipes(self._process)
            with suppress(OSError):  # git has ended: then it said why, and gives no answer
                stdin.write("".join(f"{verb} {name}\n" for name in chunk).encode())
                stdin.flush()
            for name in chunk:
                line = stdout.readline()
                # Of a pack it cannot read git says here that it has no such object, and complains there.
                if os.pread(self._stderr, 1, 0).strip(b"\0"):
                    raise CacheDamaged(read_stderr(self._stderr))
                yield name, _parse_header(line)

    def _read_content(self, oid: str, kind: str, size: int) -> GitObject:
        _, stdout = _pipes(self._process)
        data = stdout.read(size)
        stdout.read(1)
        algorithm = sha1 if len(oid) == 40 else sha256  # noqa: PLR2004
        known = algorithm(f"{kind} {size}\0".encode(), usedforsecurity=False)
        known.update(data)
        if known.hexdigest() != oid:
            raise CacheDamaged(f"object {oid} is not what its id says")
        return GitObject(oid, kind, data)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:  # pragma: no cover  (started with both, always)
        raise CacheDamaged("no pipes")
    return process.stdin, process.stdout


def _parse_header(line: bytes) -> tuple[str, str, int] | None:
    """Read the first line of an answer: id, kind and size, or that there is no such object."""
    words = line.decode("utf-8", "replace").split()
    if words[-1:] == ["missing"]:
        return None
    if len(words) != 3 or not words[2].isdigit():  # noqa: PLR2004  (id, kind, size)
        raise CacheDamaged("git ended, or answered something else")
    return words[0], words[1], int(words[2])
