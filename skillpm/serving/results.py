"""The results of the service, each with its text for an agent."""

from collections.abc import Mapping
from typing import Any

from skillpm.core.text import estimate_tokens
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.registry.card import McpServer
from skillpm.serving.renderers.base import SkillSummary
from skillpm.skillmd.body_references import find_path, find_shell_commands


class Loaded(Value):
    """A skill as it is given to an agent: the result of `load_skill` and `SkillService.load`.

    name        the name it is installed under
    title       a heading for a user interface
    text        what the agent gets: the body in the chosen mode and style, sanitized, and possibly cut
    directory   the absolute path that relative references in the body start at
    files       the other files of the skill, relative to `directory`, sorted
    mode        `full`, `compact` or `toon`
    style       whose wording the text has
    truncated   whether `text` was cut because it was too long
    body        the complete original body, arguments substituted
    taken_for   the requested name, if no skill has it and this one is the only match; else empty
    missing     the skill's requirements that are not met here: programs, `$VARIABLE`, systems
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
    """A catalog of skills for a system prompt: the result of `SkillService.prompt`.

    style       whose wording it has
    skills      the number of skills in it
    tokens      its estimated number of tokens
    text        the catalog
    left_out    how many skills the budget left out
    named_only  how many it lists by name alone
    shortened   how many descriptions it shortened
    """

    style: str
    skills: int
    tokens: int
    text: str
    left_out: int = 0
    named_only: int = 0
    shortened: int = 0


class Match(Value):
    """The skills whose triggers occur in a message: the result of `SkillService.match`.

    skills      those whose requirements are met here
    servers     the MCP servers that they declare
    unusable    those whose requirements are not met
    """

    skills: tuple[SkillSummary, ...] = ()
    servers: tuple[McpServer, ...] = ()
    unusable: tuple[SkillSummary, ...] = ()


class ToolResult(Value):
    """The answer to a call of the tool `skill`: the result of `SkillService.call`.

    ok          whether the call was answered
    title       a heading for a user interface
    text        the answer for the model; if not `ok`, what went wrong
    metadata    the name of the skill, and the folder of one that was loaded
    value       the answer in the shape that the style's host expects
    """

    ok: bool
    title: str
    text: str
    metadata: Mapping[str, Any] = EMPTY_MAPPING
    value: Mapping[str, Any] = EMPTY_MAPPING
