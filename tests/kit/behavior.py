"""Behavior of a test server, which tests can change at any time, and a record of its requests."""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .answers import Response
from .faults import FAULTS, Fault


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request and its response.

    `command` is the command of protocol v2 (`ls-refs`, `fetch`), else None; `bytes_out` is the
    size of the body; `status` is 0 if there was no response; `authorization` is the header.
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
    """Which requests fail, how, after how many successful ones, and how often."""

    pattern: re.Pattern[str]
    fault: Fault
    after: int
    times: int


class ServerBehavior:
    """The switches of a server and its recorded requests. Thread-safe."""

    def __init__(self) -> None:
        """Serve nothing, with all switches off."""
        self.protocol_v0 = False
        """Ignore a client's protocol v2, as a server before git 2.18 does."""
        self.required_login: tuple[str, str] | None = None
        """Respond with 401 to requests without this user and password."""
        self.redirect_to: str | None = None
        """Redirect every request (302) to the same path below this address."""
        self.garbage = False
        """Respond to every request with 200 and an HTML page, as a captive portal does."""
        self.truncate_after: int | None = None
        """Close the connection after this many bytes of each body."""
        self._lock = threading.Lock()
        self._resumed = threading.Event()
        self._resumed.set()
        self._requests: list[Request] = []
        self._failures: list[int] = []
        self._fault_rules: list[_FaultRule] = []
        self._folders: dict[str, Path] = {}
        self._responses: dict[str, Response] = {}

    def publish(self, path: str, response: Response | bytes) -> None:
        """Serve a file or a response at a path."""
        published = (
            Response(200, {"Content-Type": "application/octet-stream"}, response)
            if isinstance(response, bytes)
            else response
        )
        with self._lock:
            self._responses[path] = published

    def retract(self) -> None:
        """Stop serving everything that was published."""
        with self._lock:
            self._responses.clear()

    def respond(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response | None:
        """Return the response of a server that is more than files and repositories; None to serve those."""
        del method, target, headers, body
        return None

    def find_published(self, path: str) -> Response | None:
        """Return the response published at a path."""
        with self._lock:
            return self._responses.get(path)

    @property
    def stall(self) -> bool:
        """Accept requests without responding; they are dropped when this is reset."""
        return not self._resumed.is_set()

    @stall.setter
    def stall(self, value: bool) -> None:
        if value:
            self._resumed.clear()
        else:
            self._resumed.set()

    def wait_until_resumed(self) -> None:
        """Block until `stall` is reset."""
        self._resumed.wait()

    def fail_next(self, count: int, status: int) -> None:
        """Respond to the next `count` requests with this status."""
        with self._lock:
            self._failures += [status] * count

    def take_failure(self) -> int | None:
        """Return and remove the next status set by `fail_next`."""
        with self._lock:
            return self._failures.pop(0) if self._failures else None

    def add_fault(self, pattern: str, fault: str | Fault, *, times: int = 1_000_000, after: int = 0) -> None:
        """Add a fault for the requests whose `METHOD path?query command` matches a pattern."""
        function = FAULTS[fault] if isinstance(fault, str) else fault
        with self._lock:
            self._fault_rules.append(_FaultRule(pattern=re.compile(pattern), fault=function, after=after, times=times))

    def clear_faults(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._fault_rules.clear()

    def take_fault(self, request: str) -> Fault | None:
        """Return the fault for a request, if one is due."""
        with self._lock:
            for rule in self._fault_rules:
                if rule.pattern.search(request):
                    if rule.after:
                        rule.after -= 1
                    elif rule.times:
                        rule.times -= 1
                        return rule.fault
        return None

    def record_request(self, request: Request) -> None:
        """Record a request."""
        with self._lock:
            self._requests.append(request)

    @property
    def requests(self) -> list[Request]:
        """The requests since the start or the last `clear_requests`, in the order of the responses."""
        with self._lock:
            return list(self._requests)

    @property
    def bytes_out(self) -> int:
        """The bytes of all bodies sent."""
        return sum(request.bytes_out for request in self.requests)

    def clear_requests(self) -> None:
        """Clear the recorded requests; the switches are kept."""
        with self._lock:
            self._requests.clear()

    def find_folder(self, name: str) -> Path | None:
        """Return the `.git` folder served under a name."""
        return self._folders.get(name)
