"""How often a server is asked again, and how long is waited before: the same over HTTP and through git.

A pause of our own grows, is never in step with others', and is a tenth of the time left at most. A server that asks
for a pause (`Retry-After`) gets it, up to half a minute; one that asks for more is not asked again.
"""

import time
from threading import Event

from skillpm.errors import FetchError

MAX_ATTEMPTS = 3
MAX_PAUSE = 30.0
RETRYABLE_STATUSES = frozenset([408, 425, 429, 500, 502, 503, 504])


class RetryPolicy:
    """The time that one question to a server may take, with all its tries and pauses."""

    def __init__(self, what: str, seconds: float) -> None:
        self.what = what
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds

    @property
    def remaining_seconds(self) -> float:
        """Give the seconds that are left."""
        return self.deadline - time.monotonic()

    def check(self) -> None:
        """Raise `FetchError` when it is over."""
        if self.remaining_seconds <= 0:
            raise FetchError(
                f"{self.what} gave no answer within {self.seconds:g} s",
                hint="try again, or allow more with SKILLPM_NETWORK_TIMEOUT",
            )

    def pause(self, attempt: int, stop_event: Event, *, status: int = 0, retry_after: str = "") -> None:
        """Wait before the next try. Raises `FetchError` where that is too long, or we are stopped."""
        self.check()
        asked = parse_retry_after(retry_after, time.time())
        if asked > min(MAX_PAUSE, self.remaining_seconds):
            raise FetchError(
                f"{self.what}: the server asks to wait {asked:.0f} s (it answers {status})",
                hint="try again then; nothing was changed",
            )
        import random  # noqa: PLC0415  (2 ms, and nearly nobody has to wait)

        if stop_event.wait(asked or min(random.uniform(0.5, 1) * 0.5 * 2**attempt, self.remaining_seconds / 10)):  # noqa: S311
            raise FetchError("interrupted")


def parse_retry_after(retry_after: str, now: float) -> float:
    """Read a `Retry-After`: seconds, or a date. 0 for what cannot be understood."""
    try:
        if (seconds := float(retry_after)) >= 0:
            return seconds
    except ValueError:
        pass
    import email.utils  # noqa: PLC0415  (the same)

    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return 0.0
