"""What a call of the tool means."""

from typing import Any

import pytest

from skillpm.serving.tool_schema import SCHEMA, BadRequest, Request, understand


@pytest.mark.parametrize(
    ("arguments", "request_"),
    [
        ({}, Request(verb="list")),
        ({"list_available": True}, Request(verb="list")),
        ({"list_available": True, "name": "pdf"}, Request(verb="list", name="pdf")),
        ({"list_available": False}, Request(verb="list")),
        ({"list_available": False, "name": "pdf"}, Request(verb="load", name="pdf")),
        ({"name": "pdf"}, Request(verb="load", name="pdf")),
        ({"name": ""}, Request(verb="load")),
        ({"name": "", "action": "list"}, Request(verb="list")),
        ({"name": "", "query": "database"}, Request(verb="search", query="database")),
        ({"query": "database"}, Request(verb="search", query="database")),
        ({"action": "search", "query": "database"}, Request(verb="search", query="database")),
        ({"action": "search", "name": "database"}, Request(verb="search", name="database", query="database")),
        ({"action": "load", "name": "pdf", "query": "x"}, Request(verb="load", name="pdf", query="x")),
        ({"action": "load"}, Request(verb="load")),
        ({"name": "testing", "mode": "toon"}, Request(verb="load", name="testing", mode="toon")),
        ({"name": "pdf", "action": None, "mode": None, "unknown": 1}, Request(verb="load", name="pdf")),
    ],
)
def test_the_action_is_inferred(arguments: dict[str, Any], request_: Request) -> None:
    assert understand(arguments) == request_


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
def test_what_cannot_be_meant_is_refused_in_words(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        understand(arguments)

    assert str(caught.value) == message


def test_the_schema_requires_nothing() -> None:
    assert "required" not in SCHEMA
    assert list(SCHEMA["properties"]) == ["name", "action", "query", "mode", "list_available"]
