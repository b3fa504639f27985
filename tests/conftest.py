"""What holds for all tests."""

import signal
import threading

# Whoever starts the tests in the background (`&` in a script) has them ignore Ctrl-C, and so would every process that
# they start: with a handler of ours in place, processes begin as they do in a terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
