"""`[audit]` of config.toml and `audit` of a manifest: parsed strictly, and of a manifest only what adds to it."""

from typing import Any

import pytest

from skillpm.core.json_text.decoder import JsonNode
from skillpm.errors import DocumentError
from skillpm.formats.trust.audit_settings import (
    AuditException,
    AuditScanner,
    AuditSettings,
    read_audit_settings,
    read_project_audit,
)

DIGEST = "sha256:" + "a" * 64
ALLOW = {"skill": "deploy", "rule": "pipe-to-shell", "digest": DIGEST, "reason": "reviewed"}


def read(value: Any) -> AuditSettings:
    return read_audit_settings(JsonNode(value, "config.toml", ("audit",)))


def test_without_the_table_high_blocks_and_medium_warns() -> None:
    settings = read_audit_settings(None)

    assert settings == AuditSettings(block=("high",), warn=("high", "medium"), trust_project=False)
    assert [settings.blocks("any", severity) for severity in ("high", "medium", "low")] == [True, False, False]
    assert [settings.warns("any", severity) for severity in ("high", "medium", "low")] == [True, True, False]


def test_everything_that_the_table_can_have() -> None:
    value = {
        "block": ["hidden-text", "cisco/X", "widens"],
        "warn": ["*"],
        "trust-project": ["~/work", "/srv"],
        "allow": [{**ALLOW, "until": "2027-03-01"}, {**ALLOW, "digest": "*"}],
        "scanners": {"cisco": {"command": ["scan", "{path}"], "timeout": "2 minutes"}, "x": {"command": ["{path}"]}},
    }

    exception = AuditException(
        skill="deploy", rule="pipe-to-shell", digest=DIGEST, reason="reviewed", where="config.toml: audit.allow.0"
    )
    assert read(value) == AuditSettings(
        block=("hidden-text", "cisco/X", "widens"),
        warn=("*",),
        trust_project=("~/work", "/srv"),
        allow=(
            exception.replace(until="2027-03-01"),
            exception.replace(digest="*", where="config.toml: audit.allow.1"),
        ),
        scanners={
            "cisco": AuditScanner(name="cisco", command=("scan", "{path}"), timeout=120),
            "x": AuditScanner(name="x", command=("{path}",), timeout=60),
        },
    )


def test_a_manifest_adds_to_what_blocks_and_has_no_scanners() -> None:
    settings = read_project_audit(JsonNode({"block": ["widens"], "allow": [ALLOW]}, "skills.json", ("audit",)))

    assert (settings.block, [each.rule for each in settings.allow]) == (("widens",), ["pipe-to-shell"])
    assert read_project_audit(None).block == ()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"scanners": {}}, "unknown key `scanners`; known keys: block, allow"),
        ({"warn": []}, "unknown key `warn`; known keys: block, allow"),
        ({"trust-project": True}, "unknown key `trust-project`; known keys: block, allow"),
        ({"allow": [{**ALLOW, "digest": "*"}]}, "expected sha256: and 64 hex digits, got '*'"),
    ],
)
def test_a_manifest_cannot_loosen_anything(value: Any, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_project_audit(JsonNode(value, "skills.json", ("audit",)))

    assert caught.value.message == message


@pytest.mark.parametrize(
    ("value", "message", "where"),
    [
        ({"blok": []}, "unknown key `blok`; did you mean `block`?", "blok"),
        ({"block": ["a b"]}, 'expected a rule, `*`, or one of high, medium, low, got "a b"', "block.0"),
        ({"allow": [{**ALLOW, "reason": " "}]}, 'expected a reason, got " "', "allow.0.reason"),
        ({"allow": [{**ALLOW, "until": "soon"}]}, 'expected a date like 2027-03-01, got "soon"', "allow.0.until"),
        ({"allow": [{**ALLOW, "rule": "*"}]}, 'expected a rule, got "*"', "allow.0.rule"),
        ({"allow": [{"skill": "deploy"}]}, "`digest` is missing", "allow.0"),
        ({"trust-project": "yes"}, 'expected true, false, or a list of folders, got "yes"', "trust-project"),
        ({"trust-project": ["x"]}, 'expected a folder that begins with / or ~/, got "x"', "trust-project.0"),
        (
            {"scanners": {"x": {"command": ["scan"]}}},
            'expected a list of words, one of them with {path}, like ["scanner", "{path}"], got an array',
            "scanners.x.command",
        ),
        (
            {"scanners": {"X": {"command": ["{path}"]}}},
            "expected a scanner whose name has lower-case letters, digits and single hyphens, got an object",
            "scanners.X",
        ),
        (
            {"scanners": {"x": {"command": ["{path}"], "timeout": "2 hours"}}},
            'expected a duration like `60 seconds`, up to 1 hour, got "2 hours"',
            "scanners.x.timeout",
        ),
    ],
)
def test_a_mistake_is_an_error_at_its_key(value: Any, message: str, where: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(value)

    assert caught.value.message == message
    assert caught.value.where == f"config.toml: audit.{where}"


def test_widens_is_meant_only_by_its_name() -> None:
    assert [AuditSettings(block=block).blocks("widens", "high") for block in [("*",), ("high",), ("widens",)]] == [
        False, False, True,
    ]  # fmt: skip


def test_an_exception_ends_after_its_last_day() -> None:
    exception = AuditException(skill="deploy", rule="x", digest=DIGEST, reason="y", until="2027-03-01")

    assert [exception.is_expired(day) for day in ("2027-02-28", "2027-03-01", "2027-03-02")] == [False, False, True]
    assert not exception.replace(until="").is_expired("2999-01-01")


def test_an_exception_covers_one_rule_of_one_content_of_one_skill() -> None:
    exception = AuditException(skill="deploy", rule="x", digest=DIGEST, reason="y")
    other = "sha256:" + "b" * 64

    assert exception.covers("deploy", "x", DIGEST)
    assert not exception.covers("pdf", "x", DIGEST)
    assert not exception.covers("deploy", "y", DIGEST)
    assert not exception.covers("deploy", "x", other)
    assert exception.replace(digest="*").covers("deploy", "x", other)
