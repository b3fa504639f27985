"""An open connection to a git server over HTTP: git's remote helper, and protocol version 2 (gitprotocol-v2).

`git fetch` starts such a helper for each request (gitremote-helpers, `stateless-connect`). Kept open, one helper serves
all requests of a command over one connection, with git's own rules for credentials, proxies and certificates.
"""

import os
import re
import selectors
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from threading import Thread
from typing import IO, NamedTuple
from weakref import finalize

from skillpm.core.git_syntax import is_commit
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import FetchError
from skillpm.fetchers.git.program.errors import GitFailed
from skillpm.fetchers.git.program.limits import GitLimits, limit_process
from skillpm.fetchers.git.program.process import (
    POLL_INTERVAL,
    GitProcesses,
    kill_process,
    open_anonymous_file,
    read_stderr,
)
from skillpm.files import read_start

# The lengths that mark the end of a response, of a list in it, and of a section (gitprotocol-common, gitprotocol-v2).
FLUSH, DELIMITER, RESPONSE_END = range(3)
HEADER_SIZE = 4
PACK_DATA, SERVER_ERROR = 1, 3  # side bands; the other one is progress
READ_SIZE = 1 << 16
# A helper's words for a command it does not have: git promises none but `fetch` (gitremote-helpers).
UNKNOWN_COMMAND = "unknown command"
HUNG_UP = "fatal: the remote end hung up unexpectedly"
MAX_HEADER_BYTES = 1_000_000
STATUS_OR_HEADER = rb"<= Recv header: (HTTP/[0-9.]+ [0-9]{3}\b|%b: *([^\r\n]+))"


class ResponseHeaders:
    """HTTP headers that a git process receives.

    Git prints the status of a failed request, but never `Retry-After` or `Location`; only its curl trace has these.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.environment = {"GIT_TRACE_CURL": f"/dev/fd/{descriptor}", "GIT_TRACE_CURL_NO_DATA": "1"}

    @property
    def size(self) -> int:
        """The bytes of the trace so far."""
        return os.fstat(self.descriptor).st_size

    def clear(self) -> None:
        """Forget the headers so far."""
        os.ftruncate(self.descriptor, 0)

    def take(self, name: bytes) -> str:
        """Return a header of the last response, or an empty string, and clear the trace."""
        trace = read_start(self.descriptor, MAX_HEADER_BYTES)
        self.clear()
        value = b""
        for match in re.finditer(STATUS_OR_HEADER % name, trace, re.IGNORECASE):
            value = match[2] or b""  # a status line begins the next response
        return value.decode("ascii", "replace").strip()


class RemoteRef(NamedTuple):
    """A ref of the server: the object that it names, and for an annotated tag the commit that this points at."""

    id: str
    commit: str


class FetchRequest(NamedTuple):
    """What to fetch: objects by id, with all that belongs to them, less what a depth and a filter leave out.

    What belongs to `haves` is left out, too, if the server has them.
    """

    ids: tuple[str, ...]
    depth: int = 0
    filter: str = ""
    haves: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the request in the words of `git fetch`, for the log."""
        depth = f" --depth={self.depth}" if self.depth else ""
        chosen = f" --filter={self.filter}" if self.filter else ""
        return f"fetch{depth}{chosen} {pluralize(len(self.ids), 'object')} from"


class Connection:
    """The helper of one server. Any error leaves it unusable: `close` it and open another one."""

    def __init__(
        self, processes: GitProcesses, args: Sequence[str], environment: Mapping[str, str], folder: str, max_bytes: int
    ) -> None:
        self.max_bytes = max_bytes
        self.features: dict[str, str] = {}
        self.headers = ResponseHeaders(open_anonymous_file(folder))
        self._stderr = open_anonymous_file(folder)
        self._stop_event = processes.stop_event
        self._process = processes.start(
            args,
            {**environment, **self.headers.environment},
            folder,
            stdin=subprocess.PIPE,
            stderr=self._stderr,
            pass_fds=[self.headers.descriptor],
        )
        # Also called at exit, and when the caller of the library drops the connection.
        self.close = finalize(self, _close, self._process, (self._stderr, self.headers.descriptor))
        self._buffer = bytearray()
        self._next_check = time.monotonic() + POLL_INTERVAL
        limit_process(self._process.pid, max_bytes)

    def open(self, limits: GitLimits) -> bool:
        """Ask the server what it can do; return whether it can serve the requests of this class.

        Raises `GitFailed`, as all methods do, and `FetchError` if a limit is exceeded.
        """
        try:
            self._write(b"stateless-connect git-upload-pack\n", limits)
            # For the first SKILL.md: until the server answers, there is time. In a thread, where no signal is handled:
            # a module in C loses the Ctrl-C that arrives while it is imported.
            Thread(target=import_module, args=["yaml"]).start()
            while b"\n" not in self._buffer:
                self._fill(limits)
        except GitFailed as failed:
            if UNKNOWN_COMMAND in failed.stderr:
                return False
            raise
        answer = bytes(self._buffer[: self._buffer.index(b"\n")])
        del self._buffer[: len(answer) + 1]
        if answer:  # `fallback`: the server speaks an older version, or is a plain web server
            return False
        lines = (data for _, data in self._read_until(FLUSH, limits))
        self.features = dict(_split_feature(line.rstrip(b"\n")) for line in lines)
        return (
            "ls-refs" in self.features
            and {"shallow", "filter"} <= {*self.features.get("fetch", "").split()}
            and self.features.get("object-format", "sha1") == "sha1"
        )

    def list_refs(self, prefixes: Sequence[str], limits: GitLimits) -> dict[str, RemoteRef]:
        """Return the server's refs whose names begin with one of these prefixes."""
        arguments = ["peel", *(f"ref-prefix {prefix}" for prefix in prefixes)]
        refs: dict[str, RemoteRef] = {}
        size = 0
        for length, data in self._request("ls-refs", arguments, limits):
            size += len(data)
            self._check_size(size, limits)
            words = data.decode("utf-8", "replace").rstrip("\n").split(" ")
            if length != FLUSH and len(words) > 1 and is_commit(words[0]):
                peeled = next((word.removeprefix("peeled:") for word in words[2:] if word.startswith("peeled:")), "")
                refs[words[1]] = RemoteRef(words[0], peeled if is_commit(peeled) else words[0])
        return refs

    def fetch(self, request: FetchRequest, pack: IO[bytes], limits: GitLimits) -> list[str]:
        """Write the pack of a request to a file; return the commits whose parents were left out."""
        arguments = [
            "no-progress",
            "ofs-delta",
            *([f"deepen {request.depth}"] if request.depth else []),
            *([f"filter {request.filter}"] if request.filter else []),
            *(f"want {oid}" for oid in request.ids),
            *(f"have {oid}" for oid in request.haves),
            "done",
        ]
        shallow: list[str] = []
        section, size = b"", 0
        for length, data in self._request("fetch", arguments, limits):
            size += len(data)
            self._check_size(size, limits)
            if length in {FLUSH, DELIMITER}:
                section = b""
            elif not section:
                section = data.rstrip(b"\n")
            elif section == b"shallow-info":
                shallow += [data[8:].decode("ascii", "replace").strip()] if data.startswith(b"shallow ") else []
            elif section == b"packfile" and data[:1] == bytes([PACK_DATA]):
                pack.write(data[1:])
            elif section == b"packfile" and data[:1] == bytes([SERVER_ERROR]):
                raise GitFailed("".join(f"remote: {line}\n" for line in _text(data[1:]).splitlines()))
        return [oid for oid in shallow if is_commit(oid)][: len(request.ids)]  # with depth 1, one for each id

    def _check_size(self, size: int, limits: GitLimits) -> None:
        if size > self.max_bytes:
            raise too_many_bytes_error(limits.what, self.max_bytes)

    def _request(self, command: str, arguments: Iterable[str], limits: GitLimits) -> Iterator[tuple[int, bytes]]:
        capabilities = ["object-format=sha1"] if "object-format" in self.features else []
        self.headers.clear()
        os.ftruncate(self._stderr, 0)  # messages about the last request would explain nothing about this one
        os.lseek(self._stderr, 0, os.SEEK_SET)
        self._write(_render_request([f"command={command}", *capabilities], arguments), limits)
        length = RESPONSE_END
        for length, data in self._read_until(RESPONSE_END, limits):
            yield length, data
        if length != FLUSH:  # the request failed, or its response ended early
            raise GitFailed(self._read_stderr() or "fatal: unexpected disconnect while reading sideband packet")

    def _read_until(self, end: int, limits: GitLimits) -> Iterator[tuple[int, bytes]]:
        """Yield packets, each with its length as the server gave it, until the one of this length."""
        while True:
            header = self._take(HEADER_SIZE, limits)
            try:
                length = int(header, 16)
            except ValueError:
                length = -1
            if length == end:
                return
            if not (FLUSH <= length <= DELIMITER or length >= HEADER_SIZE):
                raise GitFailed(f"fatal: protocol error: bad line length character: {sanitize(_text(header))}")
            data = self._take(length - HEADER_SIZE, limits) if length >= HEADER_SIZE else b""
            if data.startswith(b"ERR "):
                raise GitFailed(f"fatal: remote error: {_text(data[4:])}")
            yield length, data

    def _take(self, size: int, limits: GitLimits) -> bytes:
        while len(self._buffer) < size:
            self._fill(limits)
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _fill(self, limits: GitLimits) -> None:
        stdout = self._pipe(self._process.stdout)
        self._wait(stdout, selectors.EVENT_READ, limits)
        data = os.read(stdout, READ_SIZE)
        if not data:
            raise self._helper_ended()
        self._buffer += data

    def _write(self, data: bytes, limits: GitLimits) -> None:
        stdin = self._pipe(self._process.stdin)
        if hasattr(os, "set_blocking"):  # Windows, which keeps no connections, has it since Python 3.12
            os.set_blocking(stdin, False)
        rest = memoryview(data)
        while rest:
            self._wait(stdin, selectors.EVENT_WRITE, limits)
            try:
                rest = rest[os.write(stdin, rest) :]
            except BrokenPipeError:
                raise self._helper_ended() from None

    def _wait(self, pipe: int, event: int, limits: GitLimits) -> None:
        """Wait until a pipe is ready; several times a second, check the limits."""
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, event)
            while True:
                ready = selector.select(POLL_INTERVAL)
                if (now := time.monotonic()) >= self._next_check:
                    self._next_check = now + POLL_INTERVAL
                    if self._stop_event.is_set():
                        raise FetchError("interrupted")
                    limits.check()
                    limits.check_usage(self._process.pid, os.fstat(self._stderr).st_size)
                if ready:
                    return

    def _helper_ended(self) -> GitFailed:
        self._process.wait()
        return GitFailed(self._read_stderr() or HUNG_UP)

    def _read_stderr(self) -> str:
        return read_stderr(self._stderr)

    def _pipe(self, pipe: IO[bytes] | None) -> int:
        if pipe is None or pipe.closed:  # pragma: no cover  (started with both, and never used after `close`)
            raise GitFailed(HUNG_UP)
        return pipe.fileno()


def too_many_bytes_error(url: str, max_bytes: int) -> FetchError:
    """Return the error for a server that sends more than the limit."""
    return FetchError(f"{url} sends more than {max_bytes} bytes", hint="if you trust it, raise SKILLPM_MAX_DOWNLOAD")


def _close(process: subprocess.Popen[bytes], descriptors: Iterable[int]) -> None:
    kill_process(process)
    for descriptor in descriptors:
        os.close(descriptor)


def _render_request(head: Iterable[str], arguments: Iterable[str]) -> bytes:
    return b"".join([*map(_render_packet, head), b"%04x" % DELIMITER, *map(_render_packet, arguments), b"%04x" % FLUSH])


def _render_packet(line: str) -> bytes:
    return b"%04x%s\n" % (len(line.encode()) + HEADER_SIZE + 1, line.encode())


def _split_feature(line: bytes) -> tuple[str, str]:
    name, _, value = _text(line).partition("=")
    return name, value


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip("\n")
