"""Signals while a command runs with `--json`: its output is exactly one object, whatever ends it.

Imported before anything else, so this imports nothing but `signal` and `os`.
"""

import os
import signal
from contextlib import suppress
from typing import Literal

ERROR_CODE = "interrupted"
_phase: Literal["off", "start", "run", "end", "printed"] = "off"


def handle_signals() -> None:
    """Handle the signals that end a process, except those that it was started to ignore (`nohup`, `&`)."""
    global _phase  # noqa: PLW0603  (there is one process, and so one state)
    _phase = "start"
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _end)


def begin_run() -> None:
    """From here on, a signal raises `KeyboardInterrupt` or `SystemExit`, so that the command cleans up."""
    global _phase  # noqa: PLW0603
    _phase = "run"


def begin_output() -> None:
    """From here on, a signal comes too late: the object is being printed."""
    global _phase  # noqa: PLW0603
    if _phase != "off":
        _phase = "printed"


def print_interrupt(number: int) -> None:
    """Print the object of a command that a signal ended."""
    begin_output()
    message = f"interrupted by {signal.Signals(number).name}"
    keys = {"code": ERROR_CODE, "message": message, "where": "", "hint": ""}
    lines = [*(f'    "{key}": "{value}"' for key, value in keys.items()), '    "skills": []']
    text = "\n".join(["{", '  "error": {', ",\n".join(lines), "  }", "}", ""])
    with suppress(OSError):  # stdout is closed
        os.write(1, text.encode())


def _end(number: int, _: object) -> None:
    """End the process, with the exit code that shells give for a signal."""
    global _phase  # noqa: PLW0603
    if _phase == "printed":
        return
    if _phase == "run":
        _phase = "end"
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
    # Nothing has begun, or this is a second signal, and the user does not want to wait.
    print_interrupt(number)
    os._exit(128 + number)
