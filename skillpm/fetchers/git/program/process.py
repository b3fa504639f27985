"""Run git: in an empty folder, within limits of time and size, and killed together with its child processes.

This is the only module that starts git.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

from skillpm.cachedir import retry_if_emptied
from skillpm.errors import FetchError
from skillpm.fetchers.git.program.errors import GitFailed, GitStopped
from skillpm.fetchers.git.program.limits import GitLimits, limit_process
from skillpm.files import kill_group, read_start, translate_os_errors

GIT_SETTINGS = {
    # Nothing may run other programs, or convert file contents.
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.symlinks": "false",
    # Reject file names that mean `.git` on macOS or Windows, on every system.
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    # Larger files are streamed: git never holds one in memory as a whole.
    "core.bigFileThreshold": "8m",
    # Check every object on arrival, or a malformed tree would reach our own parser.
    "fetch.fsckObjects": "true",
    "transfer.fsckObjects": "true",
    # Two faults of old tools that are common in honest repositories.
    "fetch.fsck.zeroPaddedFilemode": "warn",
    "fetch.fsck.missingSpaceBeforeDate": "warn",
    # CI systems usually write a token into an insteadOf URL. Our own URLs never carry user info to git.
    "transfer.credentialsInUrl": "allow",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    # Use only the repository that `--git-dir` names, never a folder that looks like a bare one.
    "safe.bareRepository": "explicit",
    # No background process may outlive the call, or repack a cache in use.
    "gc.auto": "0",
    "maintenance.auto": "false",
    # Keep packs as packs: one file per fetch instead of one per object.
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    # Without this, a fetch into a cache that has trees but no commits has nothing to negotiate with, and fails.
    "fetch.negotiationAlgorithm": "noop",
    # `Remote` follows the first redirect after checking its target.
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
}
GIT_SETTING_OPTIONS = [word for key, value in GIT_SETTINGS.items() for word in ("-c", f"{key}={value}")]
# Variables of the user that still apply: how to connect, and how to prove who one is.
ALLOWED_VARIABLES = (
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_EXEC_PATH", "GIT_PROXY_COMMAND",
    "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_CERT_PASSWORD_PROTECTED",
)  # fmt: skip


def build_base_environment(environ: Mapping[str, str], git_environ: Mapping[str, str], config: str) -> dict[str, str]:
    """Return the environment of every git call; `config` is the file that replaces the user's global configuration."""
    return {
        **environ,
        **{key: git_environ[key] for key in ALLOWED_VARIABLES if key in git_environ},
        # English messages (`errors.py` reads them), UTF-8 paths.
        "LC_ALL": "C.UTF-8",
        "LANGUAGE": "C",
        # Never prompt: neither in the terminal nor in a window of its own.
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": config,
        "GIT_PROTOCOL_FROM_USER": "0",
        # A replace ref would return other bytes than those of the requested id.
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ATTR_NOSYSTEM": "1",
        # Reading objects must never contact the network; a call that fetches allows its one transport.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }


def open_anonymous_file(folder: str) -> int:
    """Open a temporary file without a name, and return its descriptor: in memory if the system supports that.

    A file rather than a pipe: git can then never block on a stderr that is not being read.
    """
    if sys.platform == "linux" and hasattr(os, "memfd_create"):
        return os.memfd_create("stderr")
    parent = os.path.dirname(folder)
    with translate_os_errors("write to the git cache", parent), open_temporary_file(parent) as file:
        return os.dup(file.fileno())


def open_temporary_file(folder: str) -> IO[bytes]:
    """Create a file without a name in a folder, to be read and written."""
    if sys.platform == "linux" and hasattr(os, "O_TMPFILE"):
        with suppress(OSError):  # not supported by this file system
            return open(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600), "w+b")
    from tempfile import TemporaryFile  # noqa: PLC0415  (imports random and shutil, with bz2 and lzma)

    return TemporaryFile(dir=folder)


def read_stderr(descriptor: int) -> str:
    """Return what a git process wrote to its anonymous file."""
    return read_start(descriptor, 64_000).decode("utf-8", "replace").strip()


LogFunction = Callable[[str], None]
POLL_INTERVAL = 0.2
HIDDEN_OPTIONS = ("--git-dir=", "--no-", "--quiet", "--end-of-options")  # the same in every call: noise in a log


class GitProcesses:
    """The running git processes of a command; `stop_event` ends them all."""

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
        stdin: int | IO[bytes],
        stderr: int,
        pass_fds: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start git in its own process group, with the descriptors `pass_fds` open.

        Raises `FetchError` if git is not installed.
        """

        def start_process() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                ["git", *GIT_SETTING_OPTIONS, *args],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=folder,
                env=dict(environment),
                # Git starts children of its own (git-remote-https, index-pack, ssh): its session is killed as a whole.
                start_new_session=True,
                pass_fds=pass_fds,
            )

        try:
            return retry_if_emptied(start_process, folder)
        except OSError as error:
            if error.filename == "git" and isinstance(error, FileNotFoundError):
                raise FetchError(
                    "`git` was not found on PATH",
                    hint="install git (2.37 or newer), e.g. `apt-get install git`",
                ) from error
            raise FetchError(f"cannot start git: {error.strerror}", where=folder) from error

    def run(  # noqa: PLR0913  (what to run, where, its limits and how it is logged)
        self,
        args: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        *,
        data: bytes | IO[bytes] | None = None,
        deadline: GitLimits | None = None,
        server_url: str = "",
        pass_fds: Sequence[int] = (),
    ) -> bytes:
        """Run git to completion and return its stdout; `server_url` is the server that it contacts, for the log.

        Raises `GitFailed` if git fails, `FetchError` if it exceeds a limit.
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
        data: bytes | IO[bytes] | None,
        deadline: GitLimits | None,
        pass_fds: Sequence[int],
    ) -> bytes:
        deadline = deadline or GitLimits("git", 60.0)
        stderr = open_anonymous_file(folder)
        try:
            stdin = subprocess.PIPE if isinstance(data, bytes) else data or subprocess.DEVNULL
            child = self.start(args, environment, folder, stdin=stdin, stderr=stderr, pass_fds=pass_fds)
            unwritten = data if isinstance(data, bytes) else None
            try:
                limit_process(child.pid, deadline.max_bytes)
                while True:
                    try:
                        output, _ = child.communicate(unwritten, timeout=POLL_INTERVAL)
                        break
                    except subprocess.TimeoutExpired:
                        unwritten = None  # `communicate` keeps what it has not written yet
                        if self.stop_event.is_set():
                            raise FetchError("interrupted") from None
                        deadline.check()
                        deadline.check_usage(child.pid, os.fstat(stderr).st_size)
                        if deadline.should_stop() and deadline.stop_on in (printed := read_stderr(stderr)):
                            raise GitStopped(printed) from None
            except BaseException:
                kill_process(child)
                raise
            if child.returncode:
                raise GitFailed(read_stderr(stderr))
        finally:
            os.close(stderr)
        return output


def format_command(args: Sequence[str], server_url: str = "") -> str:
    """Return a git call as a user would type it: without the options of every call, with the server's URL."""
    words, rest = ["git"], iter(args)
    for word in rest:
        if word == "-c":
            next(rest, "")
        elif not word.startswith(HIDDEN_OPTIONS):
            words.append(server_url if server_url and word == "origin" else word)
    return " ".join(words)


def _discard(_: str) -> None:
    pass


def kill_process(child: subprocess.Popen[bytes]) -> None:
    """Kill a process and its process group, and wait for it."""
    with suppress(ProcessLookupError):
        kill_group(child)
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with suppress(OSError):  # closing flushes stdin, which has no reader any more
                pipe.close()
    child.wait()
