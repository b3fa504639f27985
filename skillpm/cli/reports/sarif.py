"""Findings as SARIF 2.1.0, which code hosts and editors read (https://docs.oasis-open.org/sarif/sarif/v2.1.0/)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import quote

from skillpm import __version__
from skillpm.audit.model import AuditFinding, Severity
from skillpm.audit.rule_set import RULE_SET
from skillpm.audit.rules import RULES

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: Mapping[Severity, str] = {"high": "error", "medium": "warning", "low": "note"}
# GitHub sorts alerts by these: 7.0 and more is "high".
SECURITY_SEVERITY: Mapping[Severity, str] = {"high": "8.0", "medium": "5.0", "low": "2.0"}


class Located(NamedTuple):
    """A finding, the name of its skill, and the path of its file from the root of what was audited."""

    skill: str
    path: str
    finding: AuditFinding
    is_excepted: bool


def build_sarif(found: Iterable[Located]) -> dict[str, Any]:
    """Return a SARIF log with one run: all rules, also those that found nothing, and a result for each finding."""
    rows = list(found)
    foreign = sorted({row.finding.rule for row in rows} - RULES.keys())
    numbers = {rule: number for number, rule in enumerate([*RULES, *foreign])}
    seen: Counter[str] = Counter()
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "skillpm",
                        "semanticVersion": __version__,
                        "rules": [*map(_describe_rule, RULES), *({"id": rule} for rule in foreign)],
                        "properties": {"ruleSet": RULE_SET},
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_describe_result(row, numbers[row.finding.rule], seen) for row in rows],
            }
        ],
    }


def _describe_rule(name: str) -> dict[str, Any]:
    rule = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": f"{rule.title}."},
        "fullDescription": {"text": rule.reason},
        "help": {"text": f"{rule.reason} {rule.remedy}", "markdown": f"{rule.reason}\n\n**What to do:** {rule.remedy}"},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["security"], "security-severity": SECURITY_SEVERITY[rule.severity]},
    }


def _describe_result(row: Located, number: int, seen: Counter[str]) -> dict[str, Any]:
    finding = row.finding
    # Without the line, so that a finding stays the same when lines are added above it.
    key = f"{row.skill}\0{finding.rule}\0{finding.path}\0{finding.message}"
    seen[key] += 1
    fingerprint = sha256(f"{key}\0{seen[key]}".encode()).hexdigest()
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": number,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{row.skill}: {finding.message}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _locate(row.path),
                    "region": {"startLine": max(finding.line, 1)},
                }
            }
        ],
        "partialFingerprints": {"skillpmFinding/v1": fingerprint},
    }
    if row.is_excepted:
        result["suppressions"] = [{"kind": "external", "justification": "an exception in the settings of skillpm"}]
    return result


def _locate(path: str) -> dict[str, str]:
    """Return the location of a file: relative to the sources, or absolute (SARIF 2.1.0, 3.4.3) for one outside."""
    if path.startswith("/"):
        return {"uri": f"file://{quote(path)}"}
    return {"uri": quote(path), "uriBaseId": "%SRCROOT%"}
