"""What all documents of an index share: the format number, and the grammar of versions."""

import re

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.versions import is_version
from skillpm.errors import NewerDocument

FORMAT = 1
SCHEMA_PATTERN = lazy_pattern(r"urn:skillpm:schema:([a-z-]+):([0-9]{1,9})", re.ASCII)
VERSION_PATTERN = lazy_pattern(r"[0-9][A-Za-z0-9_.+!-]{0,60}", re.ASCII)


def check_schema(top: JsonNode, expected: str, *, required: bool = False) -> None:
    """Raise `DocumentError` for a document of another kind, `NewerDocument` for one of a newer format."""
    schema = top.require("$schema") if required else top.get("$schema")
    if schema is None or schema.value == expected:
        return
    number = SCHEMA_PATTERN.fullmatch(schema.text())
    if number and number[1] == expected.split(":")[3] and int(number[2]) > FORMAT:
        raise NewerDocument(top.file, document_format=number[2], supported_format=FORMAT)
    schema.raise_expected(f'"{expected}"')


def version_problem(version: str) -> str:
    """Return why an index cannot contain a version; empty if it can."""
    is_valid = VERSION_PATTERN.fullmatch(version) and is_version(version)
    return "" if is_valid else f"`{sanitize(version, 60)}` is not a valid version (PEP 440)"


def read_version(node: JsonNode) -> str:
    """Return a version of a document. Raises `DocumentError` for an invalid one."""
    text = node.text()
    return node.raise_expected("a version like 1.2.0") if version_problem(text) else text
