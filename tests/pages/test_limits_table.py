"""The numbers in the table of limits in docs/security.md are those of the code."""

import re

import pytest
from kit.page_sentences import read_sentences

from skillpm.core import limits
from skillpm.formats.trust import policy

ROWS = {
    "One file": [limits.Limits.file],
    "A skill": [limits.Limits.skill],
    "Files of a skill": [limits.Limits.files],
    "Skills that one SPEC adds": [limits.Limits.skills],
    "Dependencies of a skill": [
        limits.MAX_DEPENDENCIES, limits.MAX_ALL_DEPENDENCIES, limits.MAX_DEPENDENCY_DEPTH,
    ],
    "One fetch": [limits.Limits.download],
    "One document of an index": [limits.Limits.index],
    "Versions that indexes list": [limits.Limits.releases],
    "The catalog of an index": [limits.Limits.catalog],
    "One document of a project": [limits.MAX_DOCUMENT_SIZE],
    "`skills.json`": [limits.MAX_MANIFEST_SIZE, limits.MAX_UNKNOWN_KEYS, limits.MAX_MEMBER_PATTERNS],
    "One configuration of an agent host": [limits.MAX_HOST_FILE_SIZE],
    "Skills in a lockfile": [limits.MAX_LOCKED_SKILLS],
    "One TOML document": [limits.MAX_TOML_SIZE, limits.MAX_TOML_DOTS, limits.MAX_TOML_KEY_PARTS],
    "One policy of the machine": [policy.MAX_POLICY_SIZE],
    "Patterns in a list of places": [policy.MAX_PATTERNS, policy.MAX_WILDCARD_NAMES],
    "Patterns of names": [
        limits.MAX_NAME_PATTERNS, limits.MAX_INNER_WILDCARDS, limits.MAX_NAME_PATTERN_LENGTH,
    ],
    "One JSON document": [limits.MAX_JSON_TOKENS],
    "One message to the MCP server": [limits.MAX_MCP_MESSAGE],
    "Lines that `diff` compares": [limits.MAX_DIFF_LINES],
}  # fmt: skip


@pytest.mark.parametrize("start", ROWS)
def test_a_row_has_the_numbers_of_the_code(start: str) -> None:
    (row,) = [each for each in read_sentences("docs/security.md", ["Limits"]) if each.startswith(start)]
    cell = row.split("|")[1]

    assert [int(number.replace(",", "")) for number in re.findall(r"[0-9][0-9,]*[0-9]|[0-9]", cell)] == ROWS[start]
