"""How a call of the tool is interpreted."""

from typing import Any

import pytest

from skillpm.serving.schema import TOOL_SCHEMA, InvalidToolCall, ToolRequest, parse_request


@pytest.mark.parametrize(
    ("arguments", "request_"),
    [
        ({}, ToolRequest(action="list")),
        ({"list_available": True}, ToolRequest(action="list")),
        ({"list_available": True, "name": "pdf"}, ToolRequest(action="list", name="pdf")),
        ({"list_available": False}, ToolRequest(action="list")),
        ({"list_available": False, "name": "pdf"}, ToolRequest(action="load", name="pdf")),
        ({"name": "pdf"}, ToolRequest(action="load", name="pdf")),
        ({"name": ""}, ToolRequest(action="load")),
        ({"name": "", "action": "list"}, ToolRequest(action="list")),
        ({"name": "", "query": "database"}, ToolRequest(action="search", query="database")),
        ({"query": "database"}, ToolRequest(action="search", query="database")),
        ({"action": "search", "query": "database"}, ToolRequest(action="search", query="database")),
        ({"action": "search", "name": "database"}, ToolRequest(action="search", name="database", query="database")),
        ({"action": "load", "name": "pdf", "query": "x"}, ToolRequest(action="load", name="pdf", query="x")),
        ({"action": "load"}, ToolRequest(action="load")),
        ({"name": "testing", "mode": "toon"}, ToolRequest(action="load", name="testing", mode="toon")),
        ({"name": "pdf", "action": None, "mode": None}, ToolRequest(action="load", name="pdf")),
        ({"name": "pdf", "file": "a.md"}, ToolRequest(action="load", name="pdf", file="a.md")),
    ],
)
def test_action_is_inferred(arguments: dict[str, Any], request_: ToolRequest) -> None:
    assert parse_request(arguments) == request_


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": 3}, "Error: 'name' must be text"),
        ({"action": "delete"}, "Error: 'action' must be one of load, list, search, not 'delete'"),
        ({"mode": "loud\x1b[31m"}, "Error: 'mode' must be one of full, compact, toon, not 'loud\\x1b[31m'"),
        ({"list_available": "yes"}, "Error: 'list_available' must be true or false"),
        ({"action": "search"}, "Error: 'query' parameter is required"),
        ({"action": "search", "query": " "}, "Error: 'query' parameter is required"),
    ],
)
def test_invalid_call_is_refused_with_a_message(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidToolCall) as caught:
        parse_request(arguments)

    assert str(caught.value) == message


def test_schema_requires_nothing() -> None:
    assert "required" not in TOOL_SCHEMA
    assert list(TOOL_SCHEMA["properties"]) == ["name", "file", "action", "query", "mode", "list_available"]
