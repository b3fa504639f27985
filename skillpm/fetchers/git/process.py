"""The one door to the git program: started in an empty folder, held to a time and a size, ended with its children."""

import errno
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from skillpm.cachedir import insist
from skillpm.errors import FetchError
from skillpm.fetchers.git.environment import WORDS
from skillpm.fetchers.git.limits import Deadline, bind
from skillpm.files import NOFOLLOW, told

ROOM_TO_COMPLAIN = 4096


def nameless_file(folder: str) -> int:
    """Open a file without a name.

    In memory, where the system has such files; else room for the first words is taken at once: a git that finds the
    disk full shall be able to say so.
    """
    if hasattr(os, "memfd_create"):
        return os.memfd_create("said")
    path = os.path.join(os.path.dirname(folder), f"said-{os.getpid()}-{threading.get_ident()}")
    with told("write in the git cache", path):
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | NOFOLLOW
        descriptor = insist(lambda: os.open(path, flags, 0o600), os.path.dirname(path))
        with suppress(FileNotFoundError):
            os.unlink(path)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, ROOM_TO_COMPLAIN)
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                os.close(descriptor)
                raise
    return descriptor


def what_was_said(complaint: int) -> str:
    """Give what a git wrote into its nameless file."""
    return os.pread(complaint, 64_000, 0).decode("utf-8", "replace").replace("\0", "").strip()


Tell = Callable[[str], None]
SLICE = 0.2
USUAL = ("--git-dir=", "--no-", "--quiet", "--end-of-options")  # what all calls have, and nobody wants to read


class GitFailed(Exception):
    """A git process ended badly: what it said, without the credentials of any URL."""

    def __init__(self, said: str) -> None:
        self.said = re.sub(r"//[^/\s]*@", "//***@", said)
        super().__init__(self.said)


class Children:
    """The git processes under way, so that an interrupt ends them all, with their own children."""

    def __init__(self, note: Tell | None = None, detail: Tell | None = None) -> None:
        self.stopped = threading.Event()
        self.note = note or _silent
        self.detail = detail or _silent

    def start(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        *,
        stdin: bool,
        stderr: int,
        kept: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start git in a process group of its own; it keeps the files `kept` open.

        Raises `FetchError` where there is no git.
        """

        def begin() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                ["git", *WORDS, *words],
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
                pass_fds=kept,
            )

        try:
            return insist(begin, folder)
        except OSError as error:
            if error.filename == "git" and isinstance(error, FileNotFoundError):
                raise FetchError(
                    "the program `git` was not found on PATH",
                    hint="install git (2.36 or newer), e.g. `apt-get install git`",
                ) from error
            raise FetchError(f"the program `git` cannot be started: {error.strerror}", where=folder) from error

    def run(  # noqa: PLR0913  (what to run, where, and how it is bounded and told)
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        *,
        data: bytes | None = None,
        deadline: Deadline | None = None,
        asking: str = "",
        kept: Sequence[int] = (),
    ) -> bytes:
        """Run git to its end and give what it printed. Raises `GitFailed`, or `FetchError` when the time is over.

        `asking` is the address of the server that it asks, where it asks one.
        """
        began = time.monotonic()
        try:
            return self._ran(words, environment, folder, data, deadline, kept)
        finally:
            took = (time.monotonic() - began) * 1000
            (self.note if asking else self.detail)(f"{spelled(words, asking)} {took:.0f} ms")

    def _ran(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        data: bytes | None,
        deadline: Deadline | None,
        kept: Sequence[int],
    ) -> bytes:
        deadline = deadline or Deadline("git", 60.0)
        complaint = nameless_file(folder)
        try:
            child = self.start(words, environment, folder, stdin=data is not None, stderr=complaint, kept=kept)
            try:
                bind(child.pid, deadline.most_bytes)
                while True:
                    try:
                        output, _ = child.communicate(data, timeout=SLICE)
                        break
                    except subprocess.TimeoutExpired:
                        data = None
                        if self.stopped.is_set():
                            raise FetchError("interrupted") from None
                        deadline.check()
                        deadline.weigh(child.pid, os.fstat(complaint).st_size)
            except BaseException:
                end(child)
                raise
            if child.returncode:
                raise GitFailed(what_was_said(complaint))
        finally:
            os.close(complaint)
        return output


def spelled(words: Sequence[str], asking: str = "") -> str:
    """Give a call of git as a person would type it: without what all calls have, and with the server's address."""
    said, rest = ["git"], iter(words)
    for word in rest:
        if word == "-c":
            next(rest, "")
        elif not word.startswith(USUAL):
            said.append(asking if asking and word == "origin" else word)
    return " ".join(said)


def _silent(_: str) -> None:
    """Tell nobody."""


def end(child: subprocess.Popen[bytes]) -> None:
    """End a process and everything it started, and wait for it."""
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with suppress(OSError):  # what was not yet written can no longer be
                pipe.close()
    child.wait()
