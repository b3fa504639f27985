"""The SDK sees the end of a client's input only when all requests are answered."""

import math

import anyio
import mcp_types as types
import pytest
from kit.alone import run_in_thread
from mcp.shared.message import SessionMessage

from skillpm.serving.mcp import stdio as last_answers
from skillpm.serving.mcp.stdio import StdioDrain

Item = SessionMessage | Exception


@pytest.fixture(autouse=True)
def _no_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_answers, "DRAIN_TIMEOUT", math.inf)


def request(number: int) -> SessionMessage:
    return SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/call"))


def answer(number: int) -> SessionMessage:
    return SessionMessage(types.JSONRPCResponse(jsonrpc="2.0", id=number, result={}))


def given_up(number: int) -> SessionMessage:
    params = {"requestId": number}
    return SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))


async def read_to_the_end(sent: list[Item], *answered: SessionMessage, is_broken: bool = False) -> list[str]:
    """Run a drain whose answers are sent after all requests were read; return the order of events."""
    client, incoming = anyio.create_memory_object_stream[Item](len(sent))
    outgoing, taken = anyio.create_memory_object_stream[SessionMessage](len(answered))
    drain, events = StdioDrain(incoming, outgoing), list[str]()
    record = events.append
    for item in sent:
        await client.send(item)
    await client.aclose()
    if is_broken:
        await taken.aclose()

    async def read() -> None:
        async with drain.input_stream as reading:
            async for _ in reading:
                record("read")
        record("end")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            for item in answered:
                record("answered")
                try:
                    await drain.output_stream.send(item)
                except anyio.BrokenResourceError:
                    record("write failed")
    for stream in (outgoing, taken):
        await stream.aclose()
    return events


def test_end_of_input_follows_the_last_answer() -> None:
    events = run_in_thread(lambda: read_to_the_end([request(1), request(2)], answer(2), answer(1)))

    assert events == ["read", "read", "answered", "answered", "end"]


def test_messages_without_answer_are_not_waited_for() -> None:
    events = run_in_thread(lambda: read_to_the_end([ValueError("rubbish"), request(1), given_up(1), given_up(7)]))

    assert events == ["read", "read", "read", "read", "end"]


def test_client_that_stopped_reading_is_not_waited_for() -> None:
    events = run_in_thread(lambda: read_to_the_end([request(1)], answer(1), is_broken=True))

    assert events == ["read", "answered", "write failed", "end"]
