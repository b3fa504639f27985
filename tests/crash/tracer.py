"""Run a command and count what it and all its children change in the file system; or kill all of them at the n-th; or
let the system refuse this one call.

    python tracer.py MOMENT REPORT COMMAND…      MOMENT 0: only count; 7: kill at the seventh; 7:28: refuse it, with
                                                 error number 28; journal.json: kill when a file of this name is
                                                 there, at the next change of the thread that made it

strace can kill as well (`-e inject=…:when=N`), but it counts for each thread by itself: the calls of git's processes,
and of threads, could not all be chosen. Here one counter goes through all of them, and at the chosen call, before it
is carried out, everything dies at once. A script of its own, with nothing imported that it can do without: it waits
for all children of its process, and starts some hundred times.
"""

import ctypes
import json
import os
import platform
import re
import signal
import struct
import sys

TRACEME, CONT_TO_SYSCALL, SETOPTIONS, GET_SYSCALL_INFO = 0, 24, 0x4200, 0x420E
SYSGOOD, FORK, VFORK, CLONE, EXEC, EXITKILL = 0x1, 0x2, 0x4, 0x8, 0x10, 0x100000
ALL_CHILDREN = 0x40000000  # __WALL: threads, too
ENTRY, EXIT = 1, 2
POKEUSER, ORIG_RAX, RAX = 6, 15 * 8, 10 * 8  # of x86_64: which call is to be made, and what it gives
# What changes a file system, and where its arguments name the file. An `open` counts when it may write or make.
NUMBERS = {
    "x86_64": {
        1: "write", 2: "open", 18: "pwrite64", 20: "writev", 40: "sendfile", 74: "fsync", 75: "fdatasync",
        76: "truncate", 77: "ftruncate", 82: "rename", 83: "mkdir", 84: "rmdir", 85: "creat", 86: "link", 87: "unlink",
        88: "symlink", 90: "chmod", 91: "fchmod", 92: "chown", 93: "fchown", 94: "lchown", 132: "utime",
        257: "openat", 258: "mkdirat", 260: "fchownat", 263: "unlinkat", 264: "renameat", 265: "linkat",
        266: "symlinkat", 268: "fchmodat", 277: "sync_file_range", 280: "utimensat", 285: "fallocate", 306: "syncfs",
        316: "renameat2", 326: "copy_file_range", 437: "openat2", 452: "fchmodat2",
    },
    "aarch64": {
        34: "mkdirat", 35: "unlinkat", 36: "symlinkat", 37: "linkat", 38: "renameat", 45: "truncate", 46: "ftruncate",
        47: "fallocate", 52: "fchmod", 53: "fchmodat", 54: "fchownat", 55: "fchown", 56: "openat", 64: "write",
        66: "writev", 68: "pwrite64", 71: "sendfile", 82: "fsync", 83: "fdatasync", 84: "sync_file_range",
        88: "utimensat", 267: "syncfs", 276: "renameat2", 285: "copy_file_range", 437: "openat2", 452: "fchmodat2",
    },
}  # fmt: skip
TWO_PATHS = {"rename": (0, 1), "renameat": (1, 3), "renameat2": (1, 3), "link": (0, 1), "linkat": (1, 3)}
TWO_PATHS |= {"symlink": (0, 1), "symlinkat": (0, 2)}
BY_FILE = {"write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "fchmod", "fchown", "sync_file_range"}
BY_FILE |= {"syncfs", "fallocate", "sendfile", "copy_file_range"}
NO_FILE = re.compile(r"/dev/(?!shm/)|/proc/")

CANNOT_REFUSE = sys.platform != "linux" or platform.machine() != "x86_64"
CANNOT_TRACE = sys.platform != "linux" or platform.machine() not in NUMBERS

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class Tracer:
    """Follows a command and all its children; `calls` are their changes in order, as [process, call, file…]."""

    def __init__(self, moment: int, error: int = 0, made: str = "") -> None:
        self.moment, self.error, self.made = moment, error, made
        self._refused = self._maker = 0
        self.calls: list[list[str]] = []
        self._living: set[int] = set()
        self._begun: set[int] = set()
        self._names = NUMBERS[platform.machine()]
        self._info = ctypes.create_string_buffer(88)

    def run(self, command: list[str]) -> int | None:
        """Run a command to its end; give its exit code, or None when it was killed."""
        first = os.fork()
        if first == 0:
            libc.ptrace(TRACEME, 0, None, None)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.execvp(command[0], command)  # noqa: S606
        os.waitpid(first, 0)
        self._begun.add(first)
        libc.ptrace(SETOPTIONS, first, None, SYSGOOD | FORK | VFORK | CLONE | EXEC | EXITKILL)
        libc.ptrace(CONT_TO_SYSCALL, first, None, None)
        code = None
        while (waited := _waited()) is not None:
            process, status = waited
            if os.WIFSTOPPED(status):
                self._living.add(process)
                before = len(self.calls)
                passed_on = self._stopped(process, status)
                if len(self.calls) > before and self._is_due(process):
                    self._kill()
                    return None
                libc.ptrace(CONT_TO_SYSCALL, process, None, passed_on)
            else:
                self._living.discard(process)
                code = os.waitstatus_to_exitcode(status) if process == first else code
        return code

    def _is_due(self, process: int) -> bool:
        """Return whether all processes must be killed before the change counted last."""
        if self.made and process == self._maker:
            return True
        if self.made and os.path.basename(self.calls[-1][-1]) == self.made:
            self._maker = process
        return bool(self.moment) and len(self.calls) == self.moment and not self.error

    def _stopped(self, process: int, status: int) -> int:
        """Look why a process stopped, count a change, and give the signal that it is to get."""
        stopped_by, event = os.WSTOPSIG(status), status >> 16
        if stopped_by == signal.SIGTRAP | 0x80:
            libc.ptrace(GET_SYSCALL_INFO, process, ctypes.c_void_p(88), ctypes.addressof(self._info))
            if self._info.raw[0] == ENTRY:
                number, *arguments = struct.unpack_from("<7Q", self._info.raw, 24)
                name = self._names.get(number)
                call = None if name is None else _change(process, name, arguments)
                self.calls += [] if call is None else [[str(process), *call]]
                if call is not None and self.error and len(self.calls) == self.moment:
                    self._refused = process
                    libc.ptrace(POKEUSER, process, ORIG_RAX, 2**64 - 1)  # no call at all
            elif self._info.raw[0] == EXIT and process == self._refused:
                self._refused = 0
                libc.ptrace(POKEUSER, process, RAX, 2**64 - self.error)
            return 0
        if event:
            return 0  # a birth, or another program
        if stopped_by == signal.SIGSTOP and process not in self._begun:
            self._begun.add(process)  # every child begins with a stop
            return 0
        return stopped_by

    def _kill(self) -> None:
        """Kill everybody at once, before the call that was counted last is carried out."""
        for process in self._living:
            os.kill(process, signal.SIGKILL)
        while (waited := _waited()) is not None:
            if os.WIFSTOPPED(waited[1]):
                os.kill(waited[0], signal.SIGKILL)  # it was being born


def _waited() -> tuple[int, int] | None:
    try:
        return os.waitpid(-1, ALL_CHILDREN)
    except ChildProcessError:
        return None


def _change(process: int, name: str, arguments: list[int]) -> list[str] | None:
    """Return a call and the files it names, or None if it changes nothing on disk."""
    if name in BY_FILE:
        number = arguments[2] if name == "copy_file_range" else arguments[0]
        file = _opened(process, number)
        return [name, file] if file.startswith("/") and not NO_FILE.match(file) else None
    if name in {"open", "openat"}:
        at = 0 if name == "open" else 1
        writes = arguments[at + 1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        file = _named(process, name, arguments, at) if writes else ""
        return [name, file] if writes and not NO_FILE.match(file) else None
    if name in TWO_PATHS:
        return [name, *(_named(process, name, arguments, at) for at in TWO_PATHS[name])]
    return [name, _named(process, name, arguments, 1 if name.endswith(("at", "at2")) else 0)]


def _named(process: int, name: str, arguments: list[int], at: int) -> str:
    """Return the path in an argument; of a name in an open folder, whose descriptor comes before it, the whole path."""
    path = _text(process, arguments[at])
    if not name.endswith(("at", "at2")) or at == 0 or path.startswith("/"):
        return path
    folder = ctypes.c_int(arguments[at - 1] & 0xFFFFFFFF).value
    return path if folder < 0 else f"{_opened(process, folder)}/{path}"


def _opened(process: int, number: int) -> str:
    try:
        return os.readlink(f"/proc/{process}/fd/{number}")
    except OSError:
        return ""


def _text(process: int, address: int) -> str:
    try:
        with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            try:
                found = memory.read(512)
            except OSError:  # the string ends where its page does
                memory.seek(address)
                found = memory.read(4096 - address % 4096)
    except (OSError, ValueError):
        return ""
    return found.split(b"\0", 1)[0].decode(errors="replace")


if __name__ == "__main__":
    at, _, refusal = sys.argv[1].partition(":")
    tracer = Tracer(int(at), int(refusal or 0)) if at.isdigit() else Tracer(0, made=at)
    ended = tracer.run(sys.argv[3:])
    with open(sys.argv[2], "w", encoding="utf-8") as report:
        json.dump({"calls": tracer.calls, "code": ended}, report)
