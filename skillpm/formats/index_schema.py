"""What all documents of an index have in common: the number of their format, and what a version is."""

import re

from skillpm.core.decoder import Node
from skillpm.core.text import show
from skillpm.core.versions import is_version
from skillpm.errors import NewerDocument

FORMAT = 1
NUMBERED = re.compile(r"urn:skillpm:schema:([a-z-]+):([0-9]{1,9})", re.ASCII)
VERSION = re.compile(r"[0-9][A-Za-z0-9_.+!-]{0,60}", re.ASCII)


def check_schema(top: Node, ours: str, *, needed: bool = False) -> None:
    """Refuse a document of another kind, and one of a newer format."""
    schema = top.need("$schema") if needed else top.get("$schema")
    if schema is None or schema.value == ours:
        return
    number = NUMBERED.fullmatch(schema.text())
    if number and number[1] == ours.split(":")[3] and int(number[2]) > FORMAT:
        raise NewerDocument(top.file, found=number[2], known=FORMAT)
    schema.expected(f'"{ours}"')


def fault_of_version(version: str) -> str:
    """Say why no index can hold a version; empty where one can. `1.2.0` it can, `one` it cannot."""
    is_good = VERSION.fullmatch(version) and is_version(version)
    return "" if is_good else f"`{show(version, 60)}` is no version that can be compared"


def version_at(node: Node) -> str:
    """Give the version that stands at a place of a document. Raises `DocumentError` for what is none."""
    text = node.text()
    return node.expected("a version like 1.2.0") if fault_of_version(text) else text
