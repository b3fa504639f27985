"""What all documents of an index have in common: the number of their format, and what a version is."""

import re

from skillpm.core.decoder import JsonNode
from skillpm.core.text import sanitize
from skillpm.core.versions import is_version
from skillpm.errors import NewerDocument

FORMAT = 1
SCHEMA_PATTERN = re.compile(r"urn:skillpm:schema:([a-z-]+):([0-9]{1,9})", re.ASCII)
VERSION_PATTERN = re.compile(r"[0-9][A-Za-z0-9_.+!-]{0,60}", re.ASCII)


def check_schema(top: JsonNode, expected: str, *, required: bool = False) -> None:
    """Refuse a document of another kind, and one of a newer format."""
    schema = top.require("$schema") if required else top.get("$schema")
    if schema is None or schema.value == expected:
        return
    number = SCHEMA_PATTERN.fullmatch(schema.text())
    if number and number[1] == expected.split(":")[3] and int(number[2]) > FORMAT:
        raise NewerDocument(top.file, document_format=number[2], supported_format=FORMAT)
    schema.raise_expected(f'"{expected}"')


def version_problem(version: str) -> str:
    """Say why no index can hold a version; empty where one can. `1.2.0` it can, `one` it cannot."""
    is_good = VERSION_PATTERN.fullmatch(version) and is_version(version)
    return "" if is_good else f"`{sanitize(version, 60)}` is no version that can be compared"


def read_version(node: JsonNode) -> str:
    """Give the version that stands at a place of a document. Raises `DocumentError` for what is none."""
    text = node.text()
    return node.raise_expected("a version like 1.2.0") if version_problem(text) else text
