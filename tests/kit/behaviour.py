"""How a server shall behave, changed by a test at any time, and what it has been asked."""

import re
import threading
from dataclasses import dataclass
from pathlib import Path

from .answers import Response
from .faults import FAULTS, Fault


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request and the answer to it.

    `command` is what protocol v2 asked for (`ls-refs`, `fetch`), else None; `bytes_out` counts
    the body; `status` is 0 where no answer was given; `authorization` is the header of that name.
    """

    method: str
    path: str
    query: str = ""
    command: str | None = None
    bytes_out: int = 0
    status: int = 0
    authorization: str = ""


@dataclass(kw_only=True, slots=True)
class _FaultRule:
    """Requests that go wrong: which, how, after how many that go well, and how often."""

    pattern: re.Pattern[str]
    fault: Fault
    after: int
    times: int


class ServerBehavior:
    """The switches of a server and its memory; any thread may use them."""

    def __init__(self) -> None:
        """Behave well, know no repository, and remember nothing."""
        self.protocol_v0 = False
        """Ignore that a client speaks protocol v2, as a server before git 2.18."""
        self.required_login: tuple[str, str] | None = None
        """Answer 401 to whoever does not bring this user and password."""
        self.redirect_to: str | None = None
        """Answer every request with 302 to the same path below this address."""
        self.garbage = False
        """Answer every request with 200 and a page of HTML, as a captive portal."""
        self.truncate_after: int | None = None
        """Promise each body whole, and close the connection after so many bytes of it."""
        self._lock = threading.Lock()
        self._resumed = threading.Event()
        self._resumed.set()
        self._requests: list[Request] = []
        self._failures: list[int] = []
        self._fault_rules: list[_FaultRule] = []
        self._folders: dict[str, Path] = {}
        self._responses: dict[str, Response] = {}

    def publish(self, path: str, response: Response | bytes) -> None:
        """Answer requests for a path with a file, or with just this answer."""
        whole = (
            Response(200, {"Content-Type": "application/octet-stream"}, response)
            if isinstance(response, bytes)
            else response
        )
        with self._lock:
            self._responses[path] = whole

    def find_published(self, path: str) -> Response | None:
        """Give what was published at a path."""
        with self._lock:
            return self._responses.get(path)

    @property
    def stall(self) -> bool:
        """Take requests and answer none; they are dropped when this ends."""
        return not self._resumed.is_set()

    @stall.setter
    def stall(self, wanted: bool) -> None:
        if wanted:
            self._resumed.clear()
        else:
            self._resumed.set()

    def wait_until_resumed(self) -> None:
        """Return when requests flow again."""
        self._resumed.wait()

    def fail_next(self, count: int, status: int) -> None:
        """Answer the next `count` requests with this status."""
        with self._lock:
            self._failures += [status] * count

    def take_failure(self) -> int | None:
        """Give the status of a failure that is due, once."""
        with self._lock:
            return self._failures.pop(0) if self._failures else None

    def add_fault(self, pattern: str, fault: str | Fault, *, times: int = 1_000_000, after: int = 0) -> None:
        """Let requests go wrong by a fault: those in whose `METHOD path?query command` the pattern is found."""
        found = FAULTS[fault] if isinstance(fault, str) else fault
        with self._lock:
            self._fault_rules.append(_FaultRule(pattern=re.compile(pattern), fault=found, after=after, times=times))

    def clear_faults(self) -> None:
        """Spoil no more."""
        with self._lock:
            self._fault_rules.clear()

    def take_fault(self, request: str) -> Fault | None:
        """Give what shall go wrong with a request."""
        with self._lock:
            for spoilt in self._fault_rules:
                if spoilt.pattern.search(request):
                    if spoilt.after:
                        spoilt.after -= 1
                    elif spoilt.times:
                        spoilt.times -= 1
                        return spoilt.fault
        return None

    def record_request(self, request: Request) -> None:
        """Count a request."""
        with self._lock:
            self._requests.append(request)

    @property
    def requests(self) -> list[Request]:
        """The requests since the beginning, or since `reset`, in the order of the answers."""
        with self._lock:
            return list(self._requests)

    @property
    def bytes_out(self) -> int:
        """The bytes of all bodies sent."""
        return sum(request.bytes_out for request in self.requests)

    def clear_requests(self) -> None:
        """Forget the requests so far; the switches stay."""
        with self._lock:
            self._requests.clear()

    def find_folder(self, name: str) -> Path | None:
        """Give the `.git` folder served under a name."""
        return self._folders.get(name)
