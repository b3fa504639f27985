"""Fork server for commands: each runs in a process of its own, forked from one that has imported everything.

Starting Python takes most of the time of a command, and the tests run some ten thousand commands. The fork server runs
no command itself, so each command starts from a fresh state; only the regular expressions that one has compiled are
compiled for the next. `SKILLPM_TESTS_COLD=1` starts Python for each command.
"""

import atexit
import gc
import importlib
import json
import os
import pickle
import pkgutil
import re
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

# Python and libc read these when they start; they have no effect on a process that is already running.
STARTUP_PREFIXES = ("PYTHON", "LC_", "LANG", "TZ", "MALLOC", "LD_")
STARTUP_VARIABLES = {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
EXCLUDED_MODULES = {"skillpm.serving.mcp.server"}  # takes seconds to import, and few tests need it
# Imported on first use by commands that most tests run.
LAZY_MODULES = ("click._textwrap", "encodings.ascii", "encodings.utf_8_sig", "packaging.version", "pathspec")
MAX_MESSAGE_SIZE = 1 << 20
PIPE_SIZE = 1 << 16


class ForkServer:
    """A single-threaded process that forks commands, one at a time."""

    def __init__(self) -> None:
        """Start the process; it ends when this process closes its end of the socket."""
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        variables = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[1]), **STARTUP_VARIABLES}
        if "PYTHONPATH" in os.environ:
            variables["PYTHONPATH"] += f":{os.environ['PYTHONPATH']}"
        words = [sys.executable, "-c", f"from kit.warm import serve; serve({theirs.fileno()})"]
        self._process = subprocess.Popen(words, env=variables, pass_fds=[theirs.fileno()], start_new_session=True)
        self.pid = os.getpid()
        theirs.close()

    def run(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str], stdin: bytes, timeout: float
    ) -> tuple[int, bytes, bytes] | None:
        """Return exit code, stdout and stderr of a command; None if the caller must start Python for it."""
        request = json.dumps({"words": [*arguments], "cwd": str(folder), "env": dict(variables)}).encode()
        if len(request) > MAX_MESSAGE_SIZE // 8 or not self._lock.acquire(blocking=False):
            return None
        try:
            with ExitStack() as opened:
                files = [opened.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
                files[0].write(stdin)
                files[0].seek(0)
                socket.send_fds(self._socket, [request], [file.fileno() for file in files])
                code = self._wait(arguments, timeout)
                return code, _read_all(files[1]), _read_all(files[2])
        finally:
            self._lock.release()

    def _wait(self, arguments: Sequence[str], timeout: float) -> int:
        pid = int(self._socket.recv(64))
        self._socket.settimeout(timeout)
        try:
            return int(self._socket.recv(64))
        except BaseException as error:
            os.killpg(pid, signal.SIGKILL)
            self._socket.settimeout(None)
            self._socket.recv(64)
            if isinstance(error, TimeoutError):
                raise subprocess.TimeoutExpired([*arguments], timeout) from None
            raise
        finally:
            self._socket.settimeout(None)


def _read_all(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def can_fork(variables: Mapping[str, str]) -> bool:
    """Return whether these variables have the same effect on a Python process that has already started."""
    starting = {name: value for name, value in variables.items() if name.startswith(STARTUP_PREFIXES)}
    return (
        starting.items() <= STARTUP_VARIABLES.items() and "LANG" in starting and "SKILLPM_TESTS_COLD" not in os.environ
    )


def import_package() -> None:
    """Import all modules, so that a process forked from this one imports nothing, whatever it may read then."""
    import skillpm  # noqa: PLC0415  (only in the processes that fork)

    for module in pkgutil.walk_packages(skillpm.__path__, "skillpm."):
        if module.name not in {"skillpm.__main__", *EXCLUDED_MODULES}:
            importlib.import_module(module.name)
    for name in LAZY_MODULES:
        importlib.import_module(name)


class PatternPipe:
    """Carries the regular expressions that a command has compiled to the process that forks the next one."""

    def __init__(self) -> None:
        """Let Python keep all of them: it drops old ones beyond 512."""
        self._reader, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        re._MAXCACHE = 10_000  # type: ignore[attr-defined]  # noqa: SLF001  (as `_cache`: there are no public names)
        self._known = {*re._cache}  # type: ignore[attr-defined]  # noqa: SLF001

    def send(self) -> None:
        """Send what this process has compiled, if the pipe can hold it."""
        new = [key[1:] for key in re._cache if key not in self._known]  # type: ignore[attr-defined]  # noqa: SLF001
        data = pickle.dumps(new)
        if new and len(data) < PIPE_SIZE:
            os.write(self._writer, data)

    def receive(self) -> None:
        """Compile what a command has sent; one that was killed has sent nothing."""
        with suppress(BlockingIOError):
            data = os.read(self._reader, PIPE_SIZE)
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a command shall print a warning again
                for pattern, flags in pickle.loads(data):  # noqa: S301  (from a process that this one forked)
                    with suppress(Warning):
                        re.compile(pattern, flags)
            self._known = {*re._cache}  # type: ignore[attr-defined]  # noqa: SLF001


def serve(socket_fd: int) -> None:
    """Fork a command for each message on a socket."""
    import_package()
    patterns = PatternPipe()
    requests = socket.socket(fileno=socket_fd)
    while True:
        message, files, _, _ = socket.recv_fds(requests, MAX_MESSAGE_SIZE, 3)
        if not message:
            return
        gc.freeze()
        child = os.fork()
        if child == 0:
            requests.close()
            _run_command(json.loads(message), files, patterns)
        for file in files:
            os.close(file)
        requests.send(str(child).encode())
        requests.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
        patterns.receive()


def _run_command(request: dict[str, object], files: Sequence[int], patterns: PatternPipe) -> None:
    """Run a command in this process and exit with its code."""
    os.setsid()
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.argv = ["skillpm", *request["words"]]  # type: ignore[misc]
    code = 1
    try:
        runpy.run_module("skillpm", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001  (as Python does with an uncaught exception)
        traceback.print_exc()
    finally:  # what Python does at exit, without tearing down the modules, which takes most of the time
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001  (as multiprocessing does)
        atexit._run_exitfuncs()  # noqa: SLF001
        sys.stdout.flush()
        sys.stderr.flush()
        patterns.send()
        os._exit(code)
