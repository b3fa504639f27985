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

from skillpm.cachedir import retry_if_emptied
from skillpm.errors import FetchError
from skillpm.fetchers.git.environment import GIT_SETTING_OPTIONS
from skillpm.fetchers.git.limits import GitLimits, limit_process
from skillpm.files import NOFOLLOW, translate_os_errors

STDERR_RESERVE = 4096


def open_anonymous_file(folder: str) -> int:
    """Open a file without a name.

    In memory, where the system has such files; else room for the first words is taken at once: a git that finds the
    disk full shall be able to say so.
    """
    if hasattr(os, "memfd_create"):
        return os.memfd_create("said")
    path = os.path.join(os.path.dirname(folder), f"said-{os.getpid()}-{threading.get_ident()}")
    with translate_os_errors("write in the git cache", path):
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | NOFOLLOW
        descriptor = retry_if_emptied(lambda: os.open(path, flags, 0o600), os.path.dirname(path))
        with suppress(FileNotFoundError):
            os.unlink(path)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, STDERR_RESERVE)
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                os.close(descriptor)
                raise
    return descriptor


def read_stderr(descriptor: int) -> str:
    """Give what a git wrote into its nameless file."""
    return os.pread(descriptor, 64_000, 0).decode("utf-8", "replace").replace("\0", "").strip()


LogFunction = Callable[[str], None]
POLL_INTERVAL = 0.2
HIDDEN_OPTIONS = ("--git-dir=", "--no-", "--quiet", "--end-of-options")  # what all calls have, and nobody wants to read


class GitFailed(Exception):
    """A git process ended badly: what it said, without the credentials of any URL."""

    def __init__(self, stderr: str) -> None:
        self.stderr = re.sub(r"//[^/\s]*@", "//***@", stderr)
        super().__init__(self.stderr)


class GitProcesses:
    """The git processes under way, so that an interrupt ends them all, with their own children."""

    def __init__(self, note: LogFunction | None = None, detail: LogFunction | None = None) -> None:
        self.stop_event = threading.Event()
        self.note = note or _discard
        self.detail = detail or _discard

    def start(
        self,
        args: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        *,
        stdin: bool,
        stderr: int,
        pass_fds: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start git in a process group of its own; it keeps the files `kept` open.

        Raises `FetchError` where there is no git.
        """

        def begin() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                ["git", *GIT_SETTING_OPTIONS, *args],
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
                pass_fds=pass_fds,
            )

        try:
            return retry_if_emptied(begin, folder)
        except OSError as error:
            if error.filename == "git" and isinstance(error, FileNotFoundError):
                raise FetchError(
                    "the program `git` was not found on PATH",
                    hint="install git (2.36 or newer), e.g. `apt-get install git`",
                ) from error
            raise FetchError(f"the program `git` cannot be started: {error.strerror}", where=folder) from error

    def run(  # noqa: PLR0913  (what to run, where, and how it is bounded and told)
        self,
        args: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        *,
        data: bytes | None = None,
        deadline: GitLimits | None = None,
        server_url: str = "",
        pass_fds: Sequence[int] = (),
    ) -> bytes:
        """Run git to its end and give what it printed. Raises `GitFailed`, or `FetchError` when the time is over.

        `asking` is the address of the server that it asks, where it asks one.
        """
        began = time.monotonic()
        try:
            return self._run(args, environment, folder, data, deadline, pass_fds)
        finally:
            took = (time.monotonic() - began) * 1000
            (self.note if server_url else self.detail)(f"{format_command(args, server_url)} {took:.0f} ms")

    def _run(
        self,
        args: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        data: bytes | None,
        deadline: GitLimits | None,
        pass_fds: Sequence[int],
    ) -> bytes:
        deadline = deadline or GitLimits("git", 60.0)
        complaint = open_anonymous_file(folder)
        try:
            child = self.start(args, environment, folder, stdin=data is not None, stderr=complaint, pass_fds=pass_fds)
            try:
                limit_process(child.pid, deadline.max_bytes)
                while True:
                    try:
                        output, _ = child.communicate(data, timeout=POLL_INTERVAL)
                        break
                    except subprocess.TimeoutExpired:
                        data = None
                        if self.stop_event.is_set():
                            raise FetchError("interrupted") from None
                        deadline.check()
                        deadline.check_usage(child.pid, os.fstat(complaint).st_size)
            except BaseException:
                kill_process(child)
                raise
            if child.returncode:
                raise GitFailed(read_stderr(complaint))
        finally:
            os.close(complaint)
        return output


def format_command(args: Sequence[str], server_url: str = "") -> str:
    """Give a call of git as a person would type it: without what all calls have, and with the server's address."""
    said, rest = ["git"], iter(args)
    for word in rest:
        if word == "-c":
            next(rest, "")
        elif not word.startswith(HIDDEN_OPTIONS):
            said.append(server_url if server_url and word == "origin" else word)
    return " ".join(said)


def _discard(_: str) -> None:
    """Tell nobody."""


def kill_process(child: subprocess.Popen[bytes]) -> None:
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
