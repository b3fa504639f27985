"""Findings in SARIF 2.1.0, as other scanners write it. Only what a message shows is read; everything is untrusted."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError

# SARIF 2.1.0, 3.27.10 "level property".
SEVERITY_OF_LEVEL = {"error": "high", "warning": "medium", "note": "low", "none": "low"}
DEFAULT_LEVEL = "warning"
MAX_RESULTS = 10_000


class ScannerFinding(Value):
    """One result of another scanner. All texts are safe to print."""

    rule: str
    severity: str
    # Relative to the skill's folder, as far as the scanner says it; empty for the whole skill.
    path: str
    line: int
    message: str


def read_sarif(text: str, file: str, folder: str) -> tuple[ScannerFinding, ...]:
    """Return the results of a SARIF log. `folder` is the absolute path that was scanned, removed from locations.

    Raises `DocumentError` for anything else than a log with runs: an empty answer must not pass for "nothing found".
    """
    top = parse_json(text, file)
    runs = [*top.require("runs").elements()]
    if not runs:
        raise DocumentError("it has no runs", where=top.require("runs").where)
    findings = []
    for run in runs:
        rules = _list_rules(run)
        levels = {_text(rule, "id"): _text(rule, "defaultConfiguration", "level") or DEFAULT_LEVEL for rule in rules}
        results = run.get("results")
        # 3.14.23: `null` if the scan has failed, and absent if there was none.
        if results is None or results.value is None:
            raise DocumentError("a run has no results, so that nothing was scanned", where=run.where)
        # Suppressed results count, too: a suppression may come from the author of the skill.
        findings += [_read_result(each, rules, levels, folder) for each in results.elements()]
    if len(findings) > MAX_RESULTS:
        raise DocumentError(f"more than {MAX_RESULTS} results", where=file)
    return tuple(findings)


def _read_result(node: JsonNode, rules: Sequence[Any], levels: Mapping[str, str], folder: str) -> ScannerFinding:
    result = node.value if isinstance(node.value, dict) else node.raise_expected("an object")
    rule = _text(result, "ruleId") or _text(result, "rule", "id") or _text(_find_rule(result, rules), "id") or "unnamed"
    # 3.27.10: `none` by default for a result that is not a failure.
    is_failure = _text(result, "kind") in {"", "fail"}
    level = _text(result, "level") or (levels.get(rule, DEFAULT_LEVEL) if is_failure else "none")
    place: Any = (result.get("locations") or [{}])[0] if isinstance(result.get("locations"), list) else {}
    uri = _text(place, "physicalLocation", "artifactLocation", "uri")
    line = _member(place, "physicalLocation", "region", "startLine")
    return ScannerFinding(
        rule=sanitize(rule, 120),
        severity=SEVERITY_OF_LEVEL.get(level, "medium"),
        path=sanitize(_relative(uri, folder), 200),
        line=line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else 0,
        message=sanitize(_text(result, "message", "text") or _text(result, "message", "markdown") or rule, 300),
    )


def _list_rules(run: JsonNode) -> list[Any]:
    """Return the rules that a run declares, those of its extensions last."""
    extensions = _member(run.value, "tool", "extensions")
    components = [_member(run.value, "tool", "driver"), *(extensions if isinstance(extensions, list) else [])]
    lists = [_member(component, "rules") for component in components]
    return [rule for rules in lists if isinstance(rules, list) for rule in rules]


def _find_rule(result: Mapping[str, Any], rules: Sequence[Any]) -> Any:
    """Return the rule of a result that names it by its index only (3.27.6), unless it is one of an extension."""
    if _member(result, "rule", "toolComponent") is not None:
        return None
    indexes = [_member(result, "ruleIndex"), _member(result, "rule", "index")]
    index = next((each for each in indexes if isinstance(each, int)), -1)
    return rules[index] if 0 <= index < len(rules) else None


def _relative(uri: str, folder: str) -> str:
    path = unquote(uri.removeprefix("file://"))
    path = path.removeprefix(folder).lstrip("/").removeprefix("./")
    # Relative to the folder above, in which the scanner was started.
    return path.removeprefix(f"{folder.rpartition('/')[2]}/")


def _member(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: Any, *keys: str) -> str:
    text = _member(value, *keys)
    return text if isinstance(text, str) else ""
