"""Entry point of the process. Ctrl-C never prints a traceback, not even during start-up and exit."""

import signal


def main() -> int:
    """Run the command line of this process and return the exit code.

    While modules are imported and after the command has ended, there is nothing to clean up: the default action of
    SIGINT then ends the process, and shells see that a signal did it.
    """
    # A shell starts background jobs (`&`) with SIGINT ignored, and so does nohup: leave it ignored.
    handles_sigint = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handles_sigint:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
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
