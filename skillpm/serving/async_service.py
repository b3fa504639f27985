"""The service for `async` programs: each method runs in a thread, so that reading files blocks no event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from skillpm.registry.card import Card
from skillpm.serving.approval import ANSWERS, ApprovalPending
from skillpm.serving.renderers.base import SkillSummary
from skillpm.serving.renderers.body_modes import Mode
from skillpm.serving.results import Loaded, Match, Prompt, ToolResult
from skillpm.serving.schema import ToolApi
from skillpm.serving.service import SkillService
from skillpm.serving.token_budget import LIST_BUDGET

Result = TypeVar("Result")


class AsyncSkillService:
    """A `SkillService` with `async` methods, of the same names, parameters, results and errors.

    `service` is the one behind it; what needs no file (`rules`, `schema`, `loaded`) is read there. If its `ask` is a
    coroutine function, it is awaited in the event loop of the caller; a call that is cancelled cancels its question.
    """

    def __init__(self, service: SkillService) -> None:
        self.service = service

    async def list(self) -> tuple[SkillSummary, ...]:
        """See `SkillService.list`."""
        return await _run(self.service.list)

    async def find(self, name: str) -> Card:
        """See `SkillService.find`."""
        return await _run(lambda: self.service.find(name))

    async def search(self, query: str) -> tuple[SkillSummary, ...]:
        """See `SkillService.search`."""
        return await _run(lambda: self.service.search(query))

    async def match(self, message: str, *, whole_words: bool = False) -> Match:
        """See `SkillService.match`."""
        return await _run(lambda: self.service.match(message, whole_words=whole_words))

    async def load(
        self,
        name: str,
        *,
        mode: Mode | None = None,
        style: str | None = None,
        arguments: str | Sequence[str] | None = None,
    ) -> Loaded:
        """See `SkillService.load`."""
        return await _run(lambda: self.service.load(name, mode=mode, style=style, arguments=arguments))

    async def read(self, name: str, path: str) -> str:
        """See `SkillService.read`."""
        return await _run(lambda: self.service.read(name, path))

    async def read_bytes(self, name: str, path: str) -> bytes:
        """See `SkillService.read_bytes`."""
        return await _run(lambda: self.service.read_bytes(name, path))

    async def prompt(
        self, *, style: str | None = None, mode: Mode | None = None, budget: int | None = LIST_BUDGET, task: str = ""
    ) -> Prompt:
        """See `SkillService.prompt`."""
        return await _run(lambda: self.service.prompt(style=style, mode=mode, budget=budget, task=task))

    async def tool(self, api: ToolApi = "anthropic") -> dict[str, Any]:
        """See `SkillService.tool`."""
        return await _run(lambda: self.service.tool(api))

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `SkillService.schema`."""
        return self.service.schema

    @property
    def description(self) -> Awaitable[str]:
        """See `SkillService.description`: `await service.description`."""
        return _run(lambda: self.service.description)

    def loaded_prompt(self) -> str:
        """See `SkillService.loaded_prompt`; it reads no file."""
        return self.service.loaded_prompt()

    async def call(self, arguments: Mapping[str, Any] | str) -> ToolResult:
        """See `SkillService.call`."""
        return await _run(lambda: self.service.call(arguments))


async def _run(work: Callable[[], Result]) -> Result:
    """Run blocking work in a thread, and await in this event loop what it asks a person."""
    answers: dict[str, bool] = {}

    def run() -> Result:
        ANSWERS.set(answers)  # in this thread's copy of the context only
        return work()

    while True:
        try:
            return await asyncio.to_thread(run)
        except ApprovalPending as pending:
            answers[pending.name] = await _await_answer(pending.answer)


async def _await_answer(answer: Awaitable[bool]) -> bool:
    try:
        return await answer is True
    except TimeoutError:
        return False
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # the call itself was cancelled, not only its question
        return False
