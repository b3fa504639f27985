"""Fork server for commands: each runs in a process of its own, forked from one that has imported everything.

Starting Python takes most of the time of a command, and the tests run some ten thousand commands. The fork server runs
no command itself, so each command starts from a fresh state. `SKILLPM_TESTS_COLD=1` starts Python for each command.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

# Python and libc read these when they start; they have no effect on a process that is already running.
STARTUP_PREFIXES = ("PYTHON", "LC_", "LANG", "TZ", "MALLOC", "LD_")
STARTUP_VARIABLES = {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
EXCLUDED_MODULES = {"skillpm.serving.mcp.server"}  # takes seconds to import, and few tests need it
MAX_MESSAGE_SIZE = 1 << 20


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


def serve(socket_fd: int) -> None:
    """Fork a command for each message on a socket."""
    import skillpm  # noqa: PLC0415  (only in the process that forks)

    for module in pkgutil.walk_packages(skillpm.__path__, "skillpm."):
        if module.name not in {"skillpm.__main__", *EXCLUDED_MODULES}:
            importlib.import_module(module.name)
    gc.freeze()
    requests = socket.socket(fileno=socket_fd)
    while True:
        message, files, _, _ = socket.recv_fds(requests, MAX_MESSAGE_SIZE, 3)
        if not message:
            return
        child = os.fork()
        if child == 0:
            requests.close()
            _run_command(json.loads(message), files)
        for file in files:
            os.close(file)
        requests.send(str(child).encode())
        requests.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _run_command(request: dict[str, object], files: Sequence[int]) -> None:
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
        os._exit(code)
