"""Entry point of the process. Ctrl-C never prints a traceback, not even during start-up and exit."""

import gc
import signal
import sys

from skillpm.cli.prepared_answers import print_answer


def main() -> int:
    """Run the command line of this process and return the exit code.

    While modules are imported and after the command has ended, there is nothing to clean up: the default action of
    SIGINT then ends the process, and shells see that a signal did it.
    """
    # Our processes are short-lived; collecting garbage cycles only costs time (30 ms at 10,000 skills).
    gc.disable()
    try:
        return _run_with_json() if "--json" in sys.argv else _run()
    finally:
        gc.freeze()  # or else Python searches all modules for cycles at exit (33 of 546 M instructions of an install)


def _run() -> int:
    # A shell starts background jobs (`&`) with SIGINT ignored, and so does nohup: leave it ignored.
    handles_sigint = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handles_sigint:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if print_answer(sys.argv[1:]):
        return 0
    from skillpm.cli.main import main as run  # noqa: PLC0415  (imports take most of the time of a short command)

    if not handles_sigint:
        return run()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return run()
    except KeyboardInterrupt:  # a second Ctrl-C, while the first was being reported
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _run_with_json() -> int:
    """Run the command line so that one object is printed whatever ends it, and return the exit code."""
    from skillpm.cli.interrupts import begin_run, handle_signals, print_interrupt  # noqa: PLC0415  (only with --json)

    handle_signals()
    if print_answer(sys.argv[1:]):
        return 0
    from skillpm.cli.main import main as run  # noqa: PLC0415

    try:
        begin_run()
        code = run()
    except KeyboardInterrupt:
        code = 130
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    if code > 128:  # noqa: PLR2004  (128 and the number of a signal)
        print_interrupt(code - 128)
    return code
