"""Approval is explicit: `True` alone, from a function or from a coroutine, on every path that opens a skill."""

import asyncio
import inspect
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kit import make_skill, prefix_paths
from kit.registry import write_files

from skillpm import (
    AsyncSkillService,
    ConfirmationRequired,
    Registry,
    Rules,
    SkillForbidden,
    SkillpmError,
    SkillService,
    ToolResult,
    UsageError,
)

GUIDE = Path(__file__).parents[2] / "docs/guides/python.md"
ASK = Rules.from_mapping({"*": "ask"})
NOT_APPROVED = "Error: `pdf` was not approved"
Answer = Callable[[str], Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, prefix_paths("pdf", make_skill("pdf", "Reads PDF.") | {"notes.md": "Notes.\n"}))
    return tmp_path


def serve(folder: Path, ask: Answer, rules: Rules = ASK) -> SkillService:
    return SkillService(Registry.load(folder), rules=rules, ask=ask)


# Every way in which a program gets the content of a skill.
PATHS: dict[str, Callable[[SkillService], object]] = {
    "load": lambda it: it.load("pdf").text,
    "read": lambda it: it.read("pdf", "notes.md"),
    "read_bytes": lambda it: it.read_bytes("pdf", "notes.md"),
    "call": lambda it: check(it.call({"name": "pdf"})),
    "call with a file": lambda it: check(it.call({"name": "pdf", "file": "notes.md"})),
}
ASYNC_PATHS: dict[str, Callable[[AsyncSkillService], Awaitable[object]]] = {
    "load": lambda it: it.load("pdf"),
    "read": lambda it: it.read("pdf", "notes.md"),
    "read_bytes": lambda it: it.read_bytes("pdf", "notes.md"),
    "call": lambda it: check_async(it.call({"name": "pdf"})),
    "call with a file": lambda it: check_async(it.call({"name": "pdf", "file": "notes.md"})),
}


def check(result: ToolResult) -> ToolResult:
    """Raise if a call was refused, as the other methods do."""
    if not result.ok:
        raise PermissionError(result.text)
    return result


async def check_async(result: Awaitable[ToolResult]) -> ToolResult:
    return check(await result)


def describe(error: Exception) -> str:
    """Return how a refusal reads on each path."""
    return f"Error: {error.message}" if isinstance(error, ConfirmationRequired) else str(error)


def raise_timeout(_: str) -> bool:
    raise TimeoutError


REFUSALS: dict[str, Answer] = {
    "False": lambda _: False,
    "None": lambda _: None,
    "no": lambda _: "no",
    "yes": lambda _: "yes",
    "1": lambda _: 1,
    "1.0": lambda _: 1.0,
    "an object": lambda _: object(),
    "a list": lambda _: [True],
    "a function": lambda _: raise_timeout,
    "a timeout": raise_timeout,
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("answer", REFUSALS)
def test_anything_but_true_refuses(folder: Path, path: str, answer: str) -> None:
    service = serve(folder, REFUSALS[answer])

    with pytest.raises((ConfirmationRequired, PermissionError)) as caught:
        PATHS[path](service)
    with pytest.raises((ConfirmationRequired, PermissionError)) as awaited:
        asyncio.run(run(ASYNC_PATHS[path](AsyncSkillService(service))))

    assert describe(caught.value) == describe(awaited.value) == NOT_APPROVED
    assert service.loaded == {}


@pytest.mark.parametrize("path", PATHS)
def test_true_approves_one_call_and_is_asked_for_once(folder: Path, path: str) -> None:
    asked: list[str] = []

    def ask(name: str) -> bool:
        asked.append(name)
        return True

    service = serve(folder, ask)

    PATHS[path](service)
    asyncio.run(run(ASYNC_PATHS[path](AsyncSkillService(service))))

    assert asked == ["pdf", "pdf"]


async def run(work: Awaitable[object]) -> object:
    return await work


# Coroutines


def answering(value: object) -> Answer:
    async def ask(_: str) -> Any:
        await asyncio.sleep(0)
        return value

    return ask


@pytest.mark.parametrize("path", PATHS)
def test_a_coroutine_is_awaited_in_the_loop_of_the_caller(folder: Path, path: str) -> None:
    asked: list[tuple[str, object]] = []

    async def ask(name: str) -> bool:
        asked.append((name, asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return True

    async def main() -> None:
        await ASYNC_PATHS[path](AsyncSkillService(serve(folder, ask)))
        assert asked == [("pdf", asyncio.get_running_loop())]

    asyncio.run(main())


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("value", [False, None, "no", "yes", 1, [True]], ids=repr)
def test_a_coroutine_that_returns_anything_but_true_refuses(folder: Path, path: str, value: object) -> None:
    service = AsyncSkillService(serve(folder, answering(value)))

    with pytest.raises((ConfirmationRequired, PermissionError)) as caught:
        asyncio.run(run(ASYNC_PATHS[path](service)))
    assert describe(caught.value) == NOT_APPROVED


async def answer_slowly(_: int, __: str) -> bool:
    return True


class AsyncCallable:
    """Asks like a coroutine function, and is none."""

    async def __call__(self, _: str) -> bool:
        return True


COROUTINES: dict[str, Answer] = {
    "a coroutine function": answering(value=True),
    "a partial function": partial(answer_slowly, 1),
    "an object": AsyncCallable(),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", COROUTINES)
def test_a_coroutine_is_refused_where_there_is_no_loop(folder: Path, path: str, kind: str) -> None:
    service = serve(folder, COROUTINES[kind])

    with pytest.raises(UsageError) as caught:
        PATHS[path](service)

    assert (caught.value.message, caught.value.hint) == (
        "`ask` returned a coroutine, which a synchronous service cannot await",
        "use `AsyncSkillService`, or an `ask` that returns True or False",
    )
    asyncio.run(run(ASYNC_PATHS[path](AsyncSkillService(service))))


def test_a_coroutine_is_not_awaited_by_a_synchronous_call_in_a_loop(folder: Path) -> None:
    async def main() -> None:
        serve(folder, answering(value=True)).load("pdf")

    with pytest.raises(UsageError):
        asyncio.run(main())


async def cancel_itself(_: str) -> bool:
    raise asyncio.CancelledError


async def time_out(_: str) -> bool:
    async with asyncio.timeout(0):
        await asyncio.Event().wait()
    return True


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("ask", [cancel_itself, time_out])
def test_a_question_that_is_cancelled_or_times_out_is_a_no(folder: Path, path: str, ask: Answer) -> None:
    with pytest.raises((ConfirmationRequired, PermissionError)) as caught:
        asyncio.run(run(ASYNC_PATHS[path](AsyncSkillService(serve(folder, ask)))))
    assert describe(caught.value) == NOT_APPROVED


@pytest.mark.parametrize("path", PATHS)
def test_a_call_that_is_cancelled_cancels_its_question(folder: Path, path: str) -> None:
    ended: list[str] = []

    async def main() -> None:
        is_asked = asyncio.Event()

        async def ask(name: str) -> bool:
            try:
                is_asked.set()
                await asyncio.Event().wait()
            finally:
                ended.append(name)
            return True

        service = serve(folder, ask)
        call = asyncio.ensure_future(ASYNC_PATHS[path](AsyncSkillService(service)))
        await is_asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert service.loaded == {}

    asyncio.run(main())
    assert ended == ["pdf"]


def test_many_open_questions_leave_threads_for_other_work(folder: Path) -> None:
    """A question of a person may itself use a thread (`asyncio.to_thread(input)`), of which there are few."""
    open_questions = 100

    async def main() -> None:
        everyone_is_asked, asked = asyncio.Event(), 0

        async def ask(_: str) -> bool:
            nonlocal asked
            asked += 1
            if asked == open_questions:
                everyone_is_asked.set()
            await everyone_is_asked.wait()
            return await asyncio.to_thread(lambda: True)

        service = AsyncSkillService(serve(folder, ask))
        async with asyncio.timeout(60):
            await asyncio.gather(*(service.load("pdf") for _ in range(open_questions)))

    asyncio.run(main())


def test_a_rule_that_changes_during_a_question_applies(folder: Path) -> None:
    rules = [ASK]

    async def ask(_: str) -> bool:
        rules[0] = Rules.from_mapping({"*": "deny"})
        return True

    from skillpm.serving.live_permissions import EffectivePermissions  # noqa: PLC0415  (not a public name)

    service = SkillService(Registry.load(folder), permits=lambda: EffectivePermissions(rules=rules[0]), ask=ask)
    with pytest.raises(SkillForbidden):
        asyncio.run(run(AsyncSkillService(service).load("pdf")))


def test_an_error_of_the_question_is_an_error_of_the_call(folder: Path) -> None:
    async def ask(_: str) -> bool:
        raise OSError("no terminal")

    with pytest.raises(OSError, match="no terminal"):
        asyncio.run(run(AsyncSkillService(serve(folder, ask)).load("pdf")))


def test_two_calls_have_their_own_answers(folder: Path) -> None:
    answers = iter([True, False])

    async def ask(_: str) -> bool:
        return next(answers)

    async def main() -> list[object]:
        service = AsyncSkillService(serve(folder, ask))
        return [type(await outcome(service.load("pdf"))).__name__ for _ in range(2)]

    async def outcome(work: Awaitable[object]) -> object:
        try:
            return await work
        except SkillpmError as error:
            return error

    assert asyncio.run(main()) == ["Loaded", "ConfirmationRequired"]


def test_no_async_generator_is_taken_for_an_answer(folder: Path) -> None:
    async def ask(_: str) -> AsyncIterator[bool]:
        yield True

    assert inspect.isasyncgenfunction(ask)
    with pytest.raises(ConfirmationRequired):
        serve(folder, ask).load("pdf")


def test_the_example_of_the_guide_is_typed_and_runs(folder: Path, tmp_path: Path) -> None:
    text = GUIDE.read_text()
    start = text.index("```python\nimport asyncio")
    example = text[start + len("```python\n") : text.index("```", start + 3)]
    script = tmp_path / "example.py"
    script.write_text(example)
    (tmp_path / "skills.json").write_text('{"skills": {}, "permissions": {"deploy-*": "ask"}}')
    write_files(tmp_path / ".agent-skills", prefix_paths("deploy-prod", make_skill("deploy-prod", "Ships.")))

    typed = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    result = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert typed.stdout == "Success: no issues found in 1 source file\n", typed.stdout
    assert result.stdout == "refused: `deploy-prod` was not approved\n"
