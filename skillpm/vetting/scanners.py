"""Other scanners, `[audit.scanners]`: run a command of the user over a copy of a skill, and read the SARIF it writes.

Only the user's own configuration names such commands. The skill is written to a private folder in the cache, without
executable bits; nothing of it is executed by skillpm.
"""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO

from skillpm.cachedir import tag_cache_folder
from skillpm.core.file_tree import FileTree
from skillpm.core.names import is_skill_name
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, SkillpmError
from skillpm.files import kill_group, read_regular_file, translate_os_errors
from skillpm.formats.trust.audit_settings import OUTPUT, PATH, AuditScanner
from skillpm.formats.trust.sarif import ScannerFinding, read_sarif

MAX_OUTPUT = 20_000_000
# In seconds.
GRACE = 2


class ScannerFailed(SkillpmError):
    """A configured scanner gave no findings that can be read: the skill counts as not scanned."""


class _Answer(Value):
    """What a process has printed, and how it ended."""

    code: int
    stdout: bytes
    stderr: str
    # Why it was ended; empty if it ended by itself.
    aborted: str = ""


def run_scanner(
    scanner: AuditScanner, name: str, tree: FileTree, cache_dir: str, environ: Mapping[str, str]
) -> tuple[ScannerFinding, ...]:
    """Return what a scanner finds in a skill. Raises `ScannerFailed`."""
    with _private_copy(name, tree, cache_dir) as folder:
        output = os.path.join(os.path.dirname(folder), "output.sarif")
        command = [word.replace(PATH, folder).replace(OUTPUT, output) for word in scanner.command]
        answer = _run(command, os.path.dirname(folder), environ, scanner.timeout)
        writes_file = any(OUTPUT in word for word in scanner.command)
        try:
            if answer.aborted:
                raise _failure(scanner, answer.aborted)
            data = _read_output(output) if writes_file else answer.stdout
            # Most scanners exit with 1 if they find something, so that only the SARIF says whether they have worked.
            return read_sarif(data.decode(), scanner.name, folder)
        except (DocumentError, UnicodeDecodeError, FileNotFoundError) as error:
            last = answer.stderr.strip().splitlines()[-1:] or [getattr(error, "message", "it wrote no SARIF")]
            raise _failure(scanner, f"it exited with {answer.code} without valid SARIF: {last[0]}") from error


def _failure(scanner: AuditScanner, reason: str) -> ScannerFailed:
    return ScannerFailed(f"the scanner `{scanner.name}` failed: {sanitize(reason, 300)}")


@contextmanager
def _private_copy(name: str, tree: FileTree, cache_dir: str) -> Iterator[str]:
    """Write a skill to a new folder that only the user can read, and delete it afterwards."""
    with translate_os_errors("prepare a skill for a scanner", cache_dir):
        tag_cache_folder(cache_dir)
        private = tempfile.mkdtemp(prefix="scan-", dir=cache_dir)
    try:
        # The name of a folder that is not installed is its author's, and the command may be one of a shell.
        folder = os.path.join(private, name if is_skill_name(name) else "skill")
        with translate_os_errors("prepare a skill for a scanner", folder):
            for file in tree.files:
                path = os.path.join(folder, *file.path.split("/"))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "xb") as copy:
                    copy.write(file.data)
        yield folder
    finally:
        shutil.rmtree(private, ignore_errors=True)


def _run(command: list[str], folder: str, environ: Mapping[str, str], timeout: int) -> _Answer:
    """Run a command in its own process group; kill the group if it takes too long or prints too much."""
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        reason = f"`{sanitize(command[0], 80)}` cannot be run: {error.strerror}"
        return _Answer(code=-1, stdout=b"", stderr="", aborted=reason)
    printed, errors = _Reader(process, process.stdout, MAX_OUTPUT), _Reader(process, process.stderr, MAX_OUTPUT)
    aborted = ""
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired:
        code, aborted = -1, f"it took longer than {timeout} seconds"
    finally:
        _kill(process)  # and what it has left running
    for reader in (printed, errors):
        reader.join(timeout=GRACE)  # a process that has left the group may hold the pipe open
        if reader.is_overfull:
            aborted = aborted or f"it printed more than {MAX_OUTPUT // 1_000_000} MB"
    return _Answer(code=code, stdout=printed.data, stderr=errors.data.decode("utf-8", "replace"), aborted=aborted)


class _Reader(threading.Thread):
    """Reads what a process prints, and ends it when that is too much."""

    def __init__(self, process: "subprocess.Popen[bytes]", stream: IO[bytes] | None, limit: int) -> None:
        super().__init__(daemon=True)
        self.data = b""
        self.is_overfull = False
        self._process, self._stream, self._limit = process, stream, limit
        self.start()

    def run(self) -> None:
        """Read the stream to its end."""
        if self._stream is not None:
            with self._stream as stream:
                self.data = stream.read(self._limit)
                self.is_overfull = bool(stream.read(1))
        if self.is_overfull:
            _kill(self._process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its process group; the threads that read from it come to an end by that."""
    with suppress(OSError):
        kill_group(process)


def _read_output(path: str) -> bytes:
    """Return the file that a scanner was to write. Raises `FileNotFoundError`, `DocumentError`."""
    try:
        return read_regular_file(path, MAX_OUTPUT)
    except FileNotFoundError:
        raise
    except OSError as error:  # a pipe would never end
        raise DocumentError(f"its output is {error.strerror}") from error
