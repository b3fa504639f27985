"""The tool `skill`: its JSON Schema, and how a call is interpreted. Pure.

No argument is required. Without an `action`, the tool lists if `list_available` is true, loads if there is a name,
searches if there is a query, and lists otherwise. To load with an empty name is an error.
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
        "mode": {"type": "string", "enum": list(MODES), "description": "How much of the skill to return"},
        "list_available": {
            "type": "boolean",
            "description": "If true, lists all available skills instead of loading one",
        },
    },
    "additionalProperties": False,
}


class ToolRequest(Value):
    """A parsed call of the tool. `mode` is None if the caller did not choose one."""

    action: ToolAction
    name: str = ""
    query: str = ""
    mode: Mode | None = None


class InvalidToolCall(Exception):
    """A call with invalid arguments; the message is the answer to the caller."""


def parse_request(arguments: Mapping[str, Any]) -> ToolRequest:
    """Return what a call means. Raises `InvalidToolCall`."""
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
