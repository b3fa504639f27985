"""The dependencies that a skill declares, in its metadata or in a `skills.json` beside it."""

from typing import Any

import pytest

from skillpm.requirements.declared_dependencies import read_declared_dependencies

MANIFEST = b'{"skills": {"ocr": ">=1", "web": {"path": "../web"}}}'
LIMIT = 500_000


@pytest.mark.parametrize(
    ("metadata", "beside", "needs"),
    [
        ({}, None, {}),
        ({"skill-dependencies": "b>=1; a"}, None, {"a": "*", "b": ">=1"}),
        ({"skill-dependencies": ["b@^2", "a"]}, None, {"a": "*", "b": "^2"}),
        ({}, MANIFEST, {"ocr": ">=1", "web": {"path": "../web"}}),
        ({"skill-dependencies": "ocr ^2; a"}, MANIFEST, {"a": "*", "ocr": ">=1", "web": {"path": "../web"}}),
        ({"requires": "b", "dependencies": ["c"]}, b'{"version": "1", "skills": []}', {}),
        ({}, MANIFEST.ljust(LIMIT), {"ocr": ">=1", "web": {"path": "../web"}}),
        ({"skill-dependencies": "a"}, MANIFEST.ljust(LIMIT + 1), {"a": "*"}),
    ],
    ids=["nothing", "text", "list", "manifest", "both", "other tools", "largest file", "file over the limit"],
)
def test_dependencies_are_read_from_metadata_and_manifest(
    metadata: dict[str, Any], beside: bytes | None, needs: dict[str, Any]
) -> None:
    assert read_declared_dependencies(metadata, beside) == needs
