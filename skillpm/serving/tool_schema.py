"""The `skill` tool as agents call it: its schema, and what a call means. Pure.

Nothing is required. The action is the one given, else `list` if `list_available`, else `load` if there is a name,
else `search` if there is a query, else `list`. An empty name is an error where a skill is to be loaded.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.serving.body_modes import MODES, Mode

NAME = "skill"
Verb = Literal["load", "list", "search"]
VERBS = ("load", "list", "search")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Name of the skill to load"},
        "action": {"type": "string", "enum": list(VERBS), "description": "Action to perform (default: load)"},
        "query": {"type": "string", "description": "Search query (for search action)"},
        "mode": {"type": "string", "enum": list(MODES), "description": "How much of a skill is given"},
        "list_available": {
            "type": "boolean",
            "description": "If true, lists all available skills instead of loading one",
        },
    },
    "additionalProperties": False,
}


class Request(Value):
    """A call of the tool, understood. `mode` is None where the caller left it to us."""

    verb: Verb
    name: str = ""
    query: str = ""
    mode: Mode | None = None


class BadRequest(Exception):
    """A call that cannot be meant; its text is for the caller."""


def understand(arguments: Mapping[str, Any]) -> Request:
    """Tell what a call means. Raises `BadRequest`."""
    name, query = _text(arguments, "name"), _text(arguments, "query")
    action, mode = _one_of(arguments, "action", VERBS), _one_of(arguments, "mode", MODES)
    wants_list = arguments.get("list_available")
    if wants_list is not None and not isinstance(wants_list, bool):
        raise BadRequest("Error: 'list_available' must be true or false")
    verb = action or ("list" if wants_list else _inferred(name, query))
    if verb == "search":
        query = query if query is not None else name
        if not (query or "").strip():
            raise BadRequest("Error: 'query' parameter is required")
    return Request(verb=cast("Verb", verb), name=name or "", query=query or "", mode=cast("Mode | None", mode))


def _inferred(name: str | None, query: str | None) -> Verb:
    if name is not None and (name or not query):
        return "load"
    return "search" if query else "list"


def _text(arguments: Mapping[str, Any], key: str) -> str | None:
    value = arguments.get(key)
    if value is not None and not isinstance(value, str):
        raise BadRequest(f"Error: '{key}' must be text")
    return value


def _one_of(arguments: Mapping[str, Any], key: str, words: tuple[str, ...]) -> str | None:
    value = _text(arguments, key)
    if value is not None and value not in words:
        raise BadRequest(f"Error: '{key}' must be one of {', '.join(words)}, not '{show(value, 40)}'")
    return value
