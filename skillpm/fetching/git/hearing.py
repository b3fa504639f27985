"""What a server says to git and git does not tell: for how long it asks to be left alone.

Git shows the headers of an answer only in its trace. That goes into a file without a name, in memory where there is
such a thing: there may be a token among the headers of a request.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from skillpm.fetching.git.said import nameless_file

MOST_HEARD = 1_000_000
ASKED = re.compile(rb"(HTTP/[0-9.]+ [0-9]{3}\b|retry-after: *([^\r\n]+))", re.IGNORECASE)


class Hearing:
    """The headers of the answers to one git process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.environment = {"GIT_TRACE_CURL": f"/dev/fd/{descriptor}", "GIT_TRACE_CURL_NO_DATA": "1"}

    @property
    def size(self) -> int:
        """Give how much was heard."""
        return os.fstat(self.descriptor).st_size

    def retry_after(self) -> str:
        """Give what the last answer said of a pause, and forget all that was heard."""
        heard = os.pread(self.descriptor, MOST_HEARD, 0)
        os.ftruncate(self.descriptor, 0)
        said = b""
        for line in heard.splitlines():
            if (match := ASKED.search(line)) and b"<= Recv header: " in line:
                said = match[2] or b""
        return said.decode("ascii", "replace")


@contextmanager
def hearing(url: str, folder: str) -> Iterator[Hearing | None]:
    """Listen to what a server says over HTTP; None over other transports, and on Windows."""
    if sys.platform == "win32" or not url.startswith(("https:", "http:")):
        yield None
        return
    descriptor = nameless_file(folder)
    try:
        yield Hearing(descriptor)
    finally:
        os.close(descriptor)
