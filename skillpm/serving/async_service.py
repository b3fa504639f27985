"""The service for `async` programs: each method runs in a thread, so that reading files blocks no event loop."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.registry.card import Card
from skillpm.serving.body_modes import Mode
from skillpm.serving.renderers.base import SkillSummary
from skillpm.serving.results import Loaded, Match, Prompt, ToolResult
from skillpm.serving.service import SkillService
from skillpm.serving.tool.schema import ToolApi


class AsyncSkillService:
    """A `SkillService` with `async` methods, of the same names, parameters, results and errors.

    `service` is the one behind it; what needs no file (`rules`, `schema`, `loaded`) is read there.
    """

    def __init__(self, service: SkillService) -> None:
        self.service = service

    async def list(self) -> tuple[SkillSummary, ...]:
        """See `SkillService.list`."""
        return await asyncio.to_thread(self.service.list)

    async def find(self, name: str) -> Card:
        """See `SkillService.find`."""
        return await asyncio.to_thread(self.service.find, name)

    async def search(self, query: str) -> tuple[SkillSummary, ...]:
        """See `SkillService.search`."""
        return await asyncio.to_thread(self.service.search, query)

    async def match(self, message: str, *, whole_words: bool = False) -> Match:
        """See `SkillService.match`."""
        return await asyncio.to_thread(self.service.match, message, whole_words=whole_words)

    async def load(
        self,
        name: str,
        *,
        mode: Mode | None = None,
        style: str | None = None,
        arguments: str | Sequence[str] | None = None,
    ) -> Loaded:
        """See `SkillService.load`."""
        return await asyncio.to_thread(self.service.load, name, mode=mode, style=style, arguments=arguments)

    async def read(self, name: str, path: str) -> str:
        """See `SkillService.read`."""
        return await asyncio.to_thread(self.service.read, name, path)

    async def read_bytes(self, name: str, path: str) -> bytes:
        """See `SkillService.read_bytes`."""
        return await asyncio.to_thread(self.service.read_bytes, name, path)

    async def prompt(
        self, *, style: str | None = None, mode: Mode | None = None, budget: int | None = None, task: str = ""
    ) -> Prompt:
        """See `SkillService.prompt`."""
        return await asyncio.to_thread(self.service.prompt, style=style, mode=mode, budget=budget, task=task)

    async def tool(self, api: ToolApi = "anthropic") -> dict[str, Any]:
        """See `SkillService.tool`."""
        return await asyncio.to_thread(self.service.tool, api)

    async def call(self, arguments: Mapping[str, Any] | str) -> ToolResult:
        """See `SkillService.call`."""
        return await asyncio.to_thread(self.service.call, arguments)
