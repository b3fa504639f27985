"""What the service gives: values, each with its text for an agent."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.token_estimate import estimate_tokens
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.registry.card import Card, McpServer
from skillpm.serving.referenced_files import find_referenced_files
from skillpm.serving.renderers.base import RenderedSkill
from skillpm.skillmd.body_references import find_shell_commands


class Loaded(Value):
    """A skill as an agent gets it: `text` in its style and mode; `body` is the whole body, arguments put in.

    `taken_for` is the name that was asked for, where no skill is called so and this one is near.
    """

    name: str
    title: str
    text: str
    directory: str
    files: tuple[str, ...]
    mode: str
    style: str
    truncated: bool
    body: str
    taken_for: str = ""

    @property
    def tokens(self) -> int:
        """About what the text costs a model."""
        return estimate_tokens(self.text)

    @property
    def saved(self) -> float:
        """The share of the whole body's tokens that the mode saves, from 0 to 1."""
        whole = estimate_tokens(self.body)
        return round(max(0.0, 1 - self.tokens / whole), 2) if whole else 0.0

    @property
    def references(self) -> tuple[str, ...]:
        """The files of the skill that its body names with `@`."""
        return find_referenced_files(self.body, self.files)

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that its body has in ``!`…` ``. They are listed; nothing runs them."""
        return find_shell_commands(self.body)


class Prompt(Value):
    """A catalogue for a system prompt: how many skills it names, about how many tokens it costs, what a budget cost."""

    style: str
    skills: int
    tokens: int
    text: str
    left_out: int = 0
    shortened: int = 0


class Match(Value):
    """What a message calls for; `unusable` are skills that it calls for and that lack something here."""

    skills: tuple[Card, ...] = ()
    servers: tuple[McpServer, ...] = ()
    unusable: tuple[RenderedSkill, ...] = ()


class ToolResult(Value):
    """What the tool answers; `value` is it in the shape that the style's host expects."""

    ok: bool
    title: str
    text: str
    metadata: Mapping[str, Any] = EMPTY_MAPPING
    value: Mapping[str, Any] = EMPTY_MAPPING
