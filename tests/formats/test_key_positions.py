"""Line and column of a key in a hand-written document."""

import pytest

from skillpm.formats.editing.key_positions import find_json_key, find_toml_key

JSON = """{
  "$schema": "urn:x",
  "skills": {
    "pdf": {"git": "https://host/x.git", "tga": "v1"},
    "a.b": {"c": [1, {"d": 2}]},
    "a": {"b": 1}
  }
}
"""
TOML = """exclude-newer = "7 days"
agents = []

[skills]
  enabled = 3
"with blank" = 1

[permissions-for.build]
"deploy-*" = "deny"

[[indexes]]
name = "one"
[[indexes]]
name = "two"
url = 5
"""


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ("skills", (3, 3)),
        ("skills.pdf", (4, 5)),
        ("skills.pdf.tga", (4, 42)),
        ("skills.a.b.c", (5, 13)),
        ("skills.a.b", (5, 5)),
        ("skills.a.b.c.1.d", (5, 23)),
        ("skills.tdd", None),
        ("$schema.x", None),
        ("", None),
    ],
)
def test_a_key_of_json_has_a_line_and_a_column(keys: str, place: tuple[int, int] | None) -> None:
    assert find_json_key(JSON, keys) == place


def test_invalid_json_has_no_positions() -> None:
    assert find_json_key('{"skills": ', "skills") is None
    assert find_json_key("", "skills") is None
    assert find_json_key("[" * 100_000, "0.0.0") is None


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ("exclude-newer", (1, 1)),
        ("agents.0", (2, 1)),
        ("skills", (4, 1)),
        ("skills.enabled", (5, 3)),
        ("skills.with blank", (6, 1)),
        ("permissions-for.build.deploy-*", (9, 1)),
        ("indexes.0.name", (12, 1)),
        ("indexes.1.url", (15, 1)),
        ("indexes.2.url", None),
        ("skillz", None),
    ],
)
def test_a_key_of_toml_has_a_line_and_a_column(keys: str, place: tuple[int, int] | None) -> None:
    assert find_toml_key(TOML, keys) == place
