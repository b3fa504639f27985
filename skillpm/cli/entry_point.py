"""Where a process comes in and goes out: at no moment does Ctrl-C show anybody a traceback."""

import signal


def main() -> int:
    """Run the command that was typed; give the exit code.

    Before a command begins, while it is being loaded, and when it has ended, there is nothing to clear up: then the
    system ends the process, as shells expect it.
    """
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else somebody has it ignored (`&`, nohup)
    if is_ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from skillpm.cli.main import main as run  # noqa: PLC0415  (loading takes most of the time of a short command)

    if not is_ours:
        return run()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return run()
    except KeyboardInterrupt:  # once more, while the first was being told
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
