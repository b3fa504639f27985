"""The `skill` tool as agents call it: its schema, and what a call means. Pure.

Nothing is required. The action is the one given, else `list` if `list_available`, else `load` if there is a name,
else `search` if there is a query, else `list`. An empty name is an error where a skill is to be loaded.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.serving.body_modes import MODES, Mode

TOOL_NAME = "skill"
ToolAction = Literal["load", "list", "search"]
TOOL_ACTIONS = ("load", "list", "search")
TOOL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Name of the skill to load"},
        "action": {"type": "string", "enum": list(TOOL_ACTIONS), "description": "Action to perform (default: load)"},
        "query": {"type": "string", "description": "Search query (for search action)"},
        "mode": {"type": "string", "enum": list(MODES), "description": "How much of a skill is given"},
        "list_available": {
            "type": "boolean",
            "description": "If true, lists all available skills instead of loading one",
        },
    },
    "additionalProperties": False,
}


class ToolRequest(Value):
    """A call of the tool, understood. `mode` is None where the caller left it to us."""

    action: ToolAction
    name: str = ""
    query: str = ""
    mode: Mode | None = None


class InvalidToolCall(Exception):
    """A call that cannot be meant; its text is for the caller."""


def parse_request(arguments: Mapping[str, Any]) -> ToolRequest:
    """Tell what a call means. Raises `BadRequest`."""
    name, query = _get_text(arguments, "name"), _get_text(arguments, "query")
    action, mode = _get_choice(arguments, "action", TOOL_ACTIONS), _get_choice(arguments, "mode", MODES)
    wants_list = arguments.get("list_available")
    if wants_list is not None and not isinstance(wants_list, bool):
        raise InvalidToolCall("Error: 'list_available' must be true or false")
    verb = action or ("list" if wants_list else _infer_action(name, query))
    if verb == "search":
        query = query if query is not None else name
        if not (query or "").strip():
            raise InvalidToolCall("Error: 'query' parameter is required")
    return ToolRequest(
        action=cast("ToolAction", verb), name=name or "", query=query or "", mode=cast("Mode | None", mode)
    )


def _infer_action(name: str | None, query: str | None) -> ToolAction:
    if name is not None and (name or not query):
        return "load"
    return "search" if query else "list"


def _get_text(arguments: Mapping[str, Any], key: str) -> str | None:
    value = arguments.get(key)
    if value is not None and not isinstance(value, str):
        raise InvalidToolCall(f"Error: '{key}' must be text")
    return value


def _get_choice(arguments: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str | None:
    value = _get_text(arguments, key)
    if value is not None and value not in choices:
        raise InvalidToolCall(f"Error: '{key}' must be one of {', '.join(choices)}, not '{sanitize(value, 40)}'")
    return value
