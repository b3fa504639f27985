"""The HTTP headers that git receives, from its curl trace: git itself prints the status of a failed request only."""

import os
import re

MAX_HEADER_BYTES = 1_000_000
STATUS_OR_HEADER = rb"<= Recv header: (HTTP/[0-9.]+ [0-9]{3}\b|%b: *([^\r\n]+))"


class ResponseHeaders:
    """HTTP headers that a git process receives.

    Git prints the status of a failed request, but never `Retry-After` or `Location`; only its curl trace has these.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.environment = {"GIT_TRACE_CURL": f"/dev/fd/{descriptor}", "GIT_TRACE_CURL_NO_DATA": "1"}

    @property
    def size(self) -> int:
        """The bytes of the trace so far."""
        return os.fstat(self.descriptor).st_size

    def clear(self) -> None:
        """Forget the headers so far."""
        os.ftruncate(self.descriptor, 0)

    def take(self, name: bytes) -> str:
        """Return a header of the last response, or an empty string, and clear the trace."""
        trace = os.pread(self.descriptor, MAX_HEADER_BYTES, 0)
        self.clear()
        value = b""
        for match in re.finditer(STATUS_OR_HEADER % name, trace, re.IGNORECASE):
            value = match[2] or b""  # a status line begins the next response
        return value.decode("ascii", "replace").strip()
