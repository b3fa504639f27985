"""YAML loaded with the core schema of YAML 1.2, as other programs do."""

import pytest

from skillpm.skillmd.core_schema import load_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("-7", -7), ("0755", 755), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0), ("1.10.2", "1.10.2"),
        ("true", True), ("False", False), ("yes", "yes"), ("on", "on"), ("null", None), ("~", None), ("", None),
        ("2026-01-31", "2026-01-31"), ("12:30:00", "12:30:00"), ("'1'", "1"), ('"true"', "true"), ("0x1F", "0x1F"),
        ("[a, 1, {b: true}]", ["a", 1, {"b": True}]), ("9" * 30, float("9" * 30)), ("1_000", "1_000"),
    ],
)  # fmt: skip
def test_scalars_follow_the_core_schema(text: str, value: object) -> None:
    found = load_yaml(f"key: {text}")["key"]

    assert found == value
    assert type(found) is type(value)
