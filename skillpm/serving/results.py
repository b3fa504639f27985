"""The results of the service, each with its text for an agent."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.text import estimate_tokens
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.registry.card import McpServer
from skillpm.serving.renderers.base import SkillSummary
from skillpm.skillmd.body_references import find_path, find_shell_commands


class Loaded(Value):
    """A skill as it is given to an agent: the result of `load_skill` and `SkillService.load`."""

    # The name it is installed under.
    name: str
    # A heading for a user interface.
    title: str
    # What the agent gets: the body in the chosen mode and style, sanitized, and possibly cut.
    text: str
    # The absolute path that relative references in the body start at.
    directory: str
    # The other files of the skill, relative to `directory`, sorted.
    files: tuple[str, ...]
    mode: str
    style: str
    # `text` was cut because it was too long.
    truncated: bool
    # The complete original body, arguments substituted.
    body: str
    # The requested name, if no skill has it and this one is the only match; else empty.
    taken_for: str = ""
    # The skill's requirements that are not met here: programs, `$VARIABLE`, systems.
    missing: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """The estimated number of tokens in `text`."""
        return estimate_tokens(self.text)

    @property
    def saved(self) -> float:
        """The share of the body's tokens that the mode saves, from 0.0 to 1.0."""
        whole = estimate_tokens(self.body)
        return round(max(0.0, 1 - self.tokens / whole), 2) if whole else 0.0

    @property
    def references(self) -> tuple[str, ...]:
        """The skill's own files that its body names, as link, as `@path` or in the text, in the order of the body."""
        places = {path: find_path(self.body, path, self.directory) for path in self.files}
        return tuple(sorted((path for path in self.files if places[path] >= 0), key=lambda path: places[path]))

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that its body contains as ``!`…` ``. They are only listed, never run."""
        return find_shell_commands(self.body)


class Prompt(Value):
    """A catalog of skills for a system prompt."""

    style: str
    # The number of skills in it.
    skills: int
    # Its estimated number of tokens.
    tokens: int
    text: str
    # How many skills a budget left out, how many it lists by name alone, and how many descriptions it shortened.
    left_out: int = 0
    named_only: int = 0
    shortened: int = 0


class Match(Value):
    """The skills whose triggers occur in a message."""

    skills: tuple[SkillSummary, ...] = ()
    # The MCP servers that these skills declare.
    servers: tuple[McpServer, ...] = ()
    # Triggered skills whose requirements are not met here.
    unusable: tuple[SkillSummary, ...] = ()


class ToolResult(Value):
    """The answer to a call of the tool `skill`."""

    ok: bool
    title: str
    # The answer for the model; if not `ok`, what went wrong.
    text: str
    metadata: Mapping[str, Any] = EMPTY_MAPPING
    # The same in the shape that the style's host expects.
    value: Mapping[str, Any] = EMPTY_MAPPING
