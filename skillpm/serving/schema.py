"""The tool `skill`: its JSON Schema, and how a call is interpreted. Pure.

No argument is required. Without an `action`, the tool lists if `list_available` is true, loads if there is a name,
searches if there is a query, and lists otherwise. With `file`, only that file of the skill is loaded. To load with an
empty name is an error.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

from skillpm.core.suggestions import closest_matches
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.serving.renderers.body_modes import MODES, Mode

TOOL_NAME = "skill"
ToolApi = Literal["anthropic", "openai", "openai-responses", "gemini", "mcp"]
TOOL_APIS: tuple[str, ...] = get_args(ToolApi)
# The greatest number of characters that an API accepts as the description of a tool.
MAX_DESCRIPTION_LENGTHS: Mapping[ToolApi, int] = {"openai": 1_024, "openai-responses": 1_024}
ToolAction = Literal["load", "list", "search"]
TOOL_ACTIONS = ("load", "list", "search")
TOOL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Name of the skill to load"},
        "file": {
            "type": "string",
            "description": "Path of one of the skill's files, as in its instructions, to read instead of them",
        },
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
    # A file of the skill that is wanted instead of its instructions.
    file: str = ""
    query: str = ""
    mode: Mode | None = None


class InvalidToolCall(Exception):
    """A call with invalid arguments; the message is the answer to the caller."""


def parse_arguments(arguments: object) -> Mapping[str, Any]:
    """Return the arguments of a call: an object, or its JSON text, as some model APIs have it.

    Raises `InvalidToolCall`.
    """
    if isinstance(arguments, (str, bytes, bytearray)):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            raise InvalidToolCall("Error: the arguments are not valid JSON") from None
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise InvalidToolCall("Error: the arguments must be an object")
    return arguments


def parse_request(arguments: Mapping[str, Any]) -> ToolRequest:
    """Return what a call means. Raises `InvalidToolCall`."""
    for key in arguments:
        if key not in TOOL_SCHEMA["properties"]:
            known = list(TOOL_SCHEMA["properties"])
            near = closest_matches(str(key), known)
            guess = f"did you mean '{near[0]}'?" if near else f"known arguments: {', '.join(known)}"
            raise InvalidToolCall(f"Error: unknown argument '{sanitize(str(key), 40)}'; {guess}")
    name, query, file = (_get_text(arguments, key) for key in ("name", "query", "file"))
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
        action=cast("ToolAction", verb),
        name=name or "",
        file=(file or "") if verb == "load" else "",
        query=query or "",
        mode=cast("Mode | None", mode),
    )


def define_tool(api: ToolApi, description: str) -> dict[str, Any]:
    """Return the tool as the API of a model takes it in its list of tools."""
    function = {"name": TOOL_NAME, "description": description}
    match api:
        case "anthropic":
            return {**function, "input_schema": TOOL_SCHEMA}
        case "openai":
            return {"type": "function", "function": {**function, "parameters": TOOL_SCHEMA}}
        case "openai-responses":
            return {"type": "function", **function, "parameters": TOOL_SCHEMA, "strict": False}
        case "gemini":
            return {**function, "parametersJsonSchema": TOOL_SCHEMA}
        case "mcp":
            return {**function, "inputSchema": TOOL_SCHEMA}


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
