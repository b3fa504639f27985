"""The messages of one client over stdin and stdout.

Every request that was read before stdin ended is answered, so that `skillpm mcp < requests` works. At the end of the
input the SDK drops the requests in progress, and their clients get "connection closed". So the end of the input is
withheld from the SDK until each of them has its answer.
"""

import os
import sys
from typing import Any, BinaryIO, Self

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from skillpm.core.limits import MAX_MCP_MESSAGE

OPEN_ENDED_METHOD = "subscriptions/listen"  # answered when the client disconnects, so there is nothing to wait for
DRAIN_TIMEOUT = 30.0  # seconds; a request that was canceled by a non-standard message never gets an answer


class BoundedLines:
    """The lines of a stream. One that is longer than any message is skipped, never held in memory."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> str:
        """Return the next line; empty at the end. In place of one that is too long, return one that is no message."""
        line = self._stream.readline(MAX_MCP_MESSAGE)
        if len(line) < MAX_MCP_MESSAGE or line.endswith(b"\n"):
            return line.decode("utf-8", "replace")
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(MAX_MCP_MESSAGE)
        return "too long\n"


def open_input() -> Any:
    """Return stdin as a stream of lines for the SDK, and let nothing else read from it, as the SDK does."""
    stream = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    with open(os.devnull, "rb") as null:
        os.dup2(null.fileno(), sys.stdin.fileno())
    lines: Any = BoundedLines(stream)
    return anyio.wrap_file(lines)


class StdioDrain:
    """The streams of one client, and its unanswered requests.

    Pass `input_stream` and `output_stream` to the SDK in place of `incoming` and `outgoing`.
    """

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self.input_stream = _InputStream(incoming, self)
        self.output_stream = _OutputStream(outgoing, self)
        self._pending: set[types.RequestId] = set()
        self._response_sent = anyio.Event()

    def record_request(self, item: SessionMessage | Exception) -> None:
        """Record a request that was read, or the cancellation of one."""
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, types.JSONRPCRequest) and message.method != OPEN_ENDED_METHOD:
            self._pending.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._complete((message.params or {}).get("requestId"))

    def record_response(self, item: SessionMessage) -> None:
        """Record an answer that was sent, or that the client no longer reads."""
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self._complete(item.message.id)

    async def wait(self) -> None:
        """Wait until all requests are answered, but at most `DRAIN_TIMEOUT`."""
        with anyio.move_on_after(DRAIN_TIMEOUT):
            while self._pending:
                self._response_sent = anyio.Event()
                await self._response_sent.wait()

    def _complete(self, request: Any) -> None:
        if isinstance(request, int | str):
            self._pending.discard(request)
        self._response_sent.set()


class _Stream:
    """A stream of the SDK whose messages are recorded."""

    def __init__(self, stream: Any, drain: StdioDrain) -> None:
        self._stream, self._drain = stream, drain

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._stream.aclose()


class _InputStream(_Stream):
    """The client's messages; the stream ends only when all requests are answered."""

    async def receive(self) -> SessionMessage | Exception:
        try:
            item: SessionMessage | Exception = await self._stream.receive()
        except anyio.EndOfStream:
            await self._drain.wait()
            raise
        self._drain.record_request(item)
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _OutputStream(_Stream):
    """The messages to the client."""

    async def send(self, item: SessionMessage, /) -> None:
        try:
            await self._stream.send(item)
        finally:
            self._drain.record_response(item)
