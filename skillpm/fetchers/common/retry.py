"""Retry policy for HTTP and git: number of attempts, pauses, and the deadline of all attempts together.

Pauses grow exponentially with random jitter, so that many clients do not retry at the same moment, up to a tenth of
the remaining time. `Retry-After` is respected up to 30 seconds; a longer one ends the request.
"""

import time
from threading import Event

from skillpm.errors import FetchError

MAX_ATTEMPTS = 3
IDLE_HINT = "try again, or raise SKILLPM_IDLE_TIMEOUT; nothing was changed"
MAX_PAUSE = 30.0
RETRYABLE_STATUSES = frozenset([408, 425, 429, 500, 502, 503, 504])


class RetryPolicy:
    """Deadline of one request, with all its attempts and pauses; `what` is the URL, for messages."""

    def __init__(self, what: str, seconds: float) -> None:
        self.what = what
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds

    @property
    def remaining_seconds(self) -> float:
        """The seconds until the deadline; negative after it."""
        return self.deadline - time.monotonic()

    def check(self) -> None:
        """Raise `FetchError` after the deadline."""
        if self.remaining_seconds <= 0:
            raise FetchError(
                f"{self.what} did not respond within {self.seconds:g} s",
                hint="try again, or raise SKILLPM_NETWORK_TIMEOUT",
            )

    def pause(self, attempt: int, stop_event: Event, *, status: int = 0, retry_after: str = "") -> None:
        """Wait before the next attempt. Raises `FetchError` if the pause is too long, or `stop_event` is set."""
        self.check()
        requested = parse_retry_after(retry_after, time.time())
        if requested > min(MAX_PAUSE, self.remaining_seconds):
            raise FetchError(
                f"{self.what}: the server asks to wait {requested:.0f} s (HTTP {status})",
                hint="try again after that; nothing was changed",
            )
        import random  # noqa: PLC0415  (takes 2 ms, and is rarely needed)

        if stop_event.wait(requested or min(random.uniform(0.5, 1) * 0.5 * 2**attempt, self.remaining_seconds / 10)):  # noqa: S311
            raise FetchError("interrupted")


def parse_retry_after(retry_after: str, now: float) -> float:
    """Parse a `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date. 0 if it is invalid."""
    try:
        if (seconds := float(retry_after)) >= 0:
            return seconds
    except ValueError:
        pass
    import email.utils  # noqa: PLC0415  (as above)

    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return 0.0
