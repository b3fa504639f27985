"""Run a command once for each of its calls to the file system, and right before that call swap a folder with a link.

    python sweep.py      answers each line of JSON, the fields of a `Sweep`, with a JSON list of what it found

The swap is one call (`renameat2`), as another process could make it at that moment, and the link leads to a copy of the
folder, outside, so that every path still leads somewhere. Nothing there may change. Python reports each of its calls
right before it makes it (`sys.addaudithook`), so every moment is tried, and always the same ones.
"""

import ctypes
import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from kit import snapshot

EVENTS = {
    "open", "os.chmod", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.scandir", "os.symlink",
    "ctypes.dlsym",  # before `renameat2`, which Python does not report
}  # fmt: skip
PRECIOUS = "precious.txt"
INTERNAL_ERROR = 70
EXCHANGE = 2
AT_FDCWD = -100


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A command, the folder that is swapped while it runs, and at how many of its calls."""

    # A sandbox, which is copied for each run.
    template: str
    # Where the copies are put, one after the other.
    scratch: str
    words: list[str]
    variables: dict[str, str]
    # Relative to the sandbox.
    folder: str
    # For how many calls the link stays; 0: to the end.
    duration: int = 0
    # Evenly spread; 0: all.
    moments: int = 0
    # Further folders to create in the copy outside, with a file in each.
    inner: list[str] = field(default_factory=list)


def exchange_paths(one: str, other: str) -> None:
    """Swap two paths by one call, which Python does not report."""
    result = _renameat2(AT_FDCWD, one.encode(), AT_FDCWD, other.encode(), EXCHANGE)
    if result != 0 and ctypes.get_errno() != 2:  # a command may have removed the folder by then
        raise OSError(ctypes.get_errno(), "exchange", one)


_library = ctypes.CDLL(None, use_errno=True)
_renameat2 = _library.renameat2


class Swapper:
    """An audit hook that counts calls below a folder, and swaps at one of them."""

    def __init__(self, sweep: Sweep, moment: int) -> None:
        self._sweep, self._moment = sweep, moment
        self.calls = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        path = str(arguments[0]) if arguments else ""
        if event not in EVENTS or (path.startswith("/") and not path.startswith(self._sweep.scratch)):
            return
        self.calls += 1
        ends = (self._moment, self._moment + self._sweep.duration if self._sweep.duration else 0)
        if self.calls in ends and self._moment:
            exchange_paths(f"{self._sweep.scratch}/{self._sweep.folder}", f"{self._sweep.scratch}/link")


def add_precious_files(folder: Path, inner: list[str]) -> None:
    """Put a file into a folder and into these below it, which are created; a link is left as it is."""
    for each in (folder, *(folder / name for name in inner)):
        if not each.is_symlink():
            each.mkdir(parents=True, exist_ok=True)
            (each / PRECIOUS).write_text("of the user", encoding="utf-8")


def prepare(sweep: Sweep) -> Path:
    """Copy the sandbox, and create the link and the folder that it leads to; return that folder."""
    shutil.rmtree(sweep.scratch, ignore_errors=True)
    shutil.copytree(sweep.template, sweep.scratch, symlinks=True)
    outside = Path(sweep.scratch, "outside")
    shutil.copytree(Path(sweep.scratch, sweep.folder), outside, symlinks=True)
    add_precious_files(outside, sweep.inner)
    Path(sweep.scratch, "link").symlink_to(outside)
    return outside


def run(sweep: Sweep, moment: int) -> tuple[int, int, str]:
    """Run the command in a forked process; return its exit code, the number of its calls, and what it printed."""
    output = Path(sweep.scratch, "output")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            stream = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            for number in (1, 2):
                os.dup2(stream, number)
            os.environ.clear()
            os.environ.update(sweep.variables)
            os.chdir(f"{sweep.scratch}/work")
            from skillpm.cli.main import main  # noqa: PLC0415  (only the child runs commands)

            swapper = Swapper(sweep, moment)
            sys.addaudithook(swapper)
            code = main(sweep.words)
            os.write(writer, str(swapper.calls).encode())
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
            os.write(writer, str(swapper.calls).encode())
        except BaseException as error:  # noqa: BLE001  (also what nobody expects must be reported)
            sys.stderr.write(repr(error))
            code = 99
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    os.close(writer)
    with open(reader, "rb") as pipe:
        calls = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, int(calls or 0), output.read_text(encoding="utf-8")


def sweep_moments(sweep: Sweep) -> list[str]:
    """Return what went wrong, at which call."""
    prepare(sweep)
    code, calls, printed = run(sweep, 0)
    if not calls:
        return [f"not run: {code} {printed}"]
    step = -(-calls // sweep.moments) if sweep.moments else 1  # rounded up: never more than so many
    found = []
    for moment in range(1, calls + 1, step):
        outside = prepare(sweep)
        before = snapshot(outside)
        code, _, printed = run(sweep, moment)
        after = snapshot(outside)
        changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
        if changed:
            found.append(f"call {moment}: changed outside: {', '.join(changed)}")
        if code >= INTERNAL_ERROR:
            found.append(f"call {moment}: exit {code}: {printed}")
    return found


if __name__ == "__main__":
    from kit.warm import import_package  # the tests import this module, too, and need not import the package

    import_package()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(sweep_moments(Sweep(**json.loads(line)))) + "\n")
        sys.stdout.flush()
