"""The end of what a client sends, seen by the SDK only when all of it is answered."""

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
def _endless_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_answers, "DRAIN_TIMEOUT", math.inf)


def request(number: int) -> SessionMessage:
    return SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/call"))


def answer(number: int) -> SessionMessage:
    return SessionMessage(types.JSONRPCResponse(jsonrpc="2.0", id=number, result={}))


def given_up(number: int) -> SessionMessage:
    params = {"requestId": number}
    return SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params))


async def read_to_the_end(sent: list[Item], *answered: SessionMessage, is_broken: bool = False) -> list[str]:
    """Send, read, and answer only when nothing but the end is left to read; tell in which order all that ended."""
    client, incoming = anyio.create_memory_object_stream[Item](len(sent))
    outgoing, taken = anyio.create_memory_object_stream[SessionMessage](len(answered))
    answers, told = StdioDrain(incoming, outgoing), list[str]()
    tell = told.append
    for item in sent:
        await client.send(item)
    await client.aclose()
    if is_broken:
        await taken.aclose()

    async def read() -> None:
        async with answers.input_stream as reading:
            async for _ in reading:
                tell("read")
        tell("end")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            for item in answered:
                tell("answered")
                try:
                    await answers.output_stream.send(item)
                except anyio.BrokenResourceError:
                    tell("nobody listens")
    for stream in (outgoing, taken):
        await stream.aclose()
    return told


def test_the_end_comes_after_the_last_answer() -> None:
    told = run_in_thread(lambda: read_to_the_end([request(1), request(2)], answer(2), answer(1)))

    assert told == ["read", "read", "answered", "answered", "end"]


def test_what_needs_no_answer_is_not_waited_for() -> None:
    told = run_in_thread(lambda: read_to_the_end([ValueError("rubbish"), request(1), given_up(1), given_up(7)]))

    assert told == ["read", "read", "read", "read", "end"]


def test_a_client_that_takes_no_answer_is_not_waited_for() -> None:
    told = run_in_thread(lambda: read_to_the_end([request(1)], answer(1), is_broken=True))

    assert told == ["read", "answered", "nobody listens", "end"]
