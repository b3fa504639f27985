"""Audited skills as text, JSON, Markdown, SARIF, and as annotations of GitHub Actions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from skillpm.audit.model import SEVERITIES, AuditFinding, Rule, Severity, is_at_least
from skillpm.audit.rule_set import RULE_SET
from skillpm.audit.rules import FAMILIES, RULES
from skillpm.cli.console import Console
from skillpm.cli.reports.review_markdown import code
from skillpm.cli.reports.sarif import Located, build_sarif
from skillpm.core.text import pluralize, sanitize
from skillpm.operations.audited_skills import AuditedSkill

COLORS: dict[Severity, str] = {"high": "red", "medium": "yellow", "low": "cyan"}
# Commands of a workflow: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
ANNOTATIONS: dict[Severity, str] = {"high": "error", "medium": "warning", "low": "notice"}
# GitHub takes comments of 65,536 characters.
MAX_ROWS = 200


def print_text(console: Console, skills: Sequence[AuditedSkill], lowest: Severity) -> None:
    """Print a line for each finding, `path:line: severity rule: message`, and a summary."""
    for skill in skills:
        for problem in skill.problems:
            console.print_line(f"{_begin_line(skill.path or skill.name)}: {problem}", fg="red")
        for finding in _shown(skill, lowest):
            excepted = " (excepted)" if finding in skill.excepted else ""
            place = f"{_begin_line(skill.place(finding))}:{finding.line}"
            console.print_wrapped(
                f"{place}: {finding.severity} {finding.rule}: {finding.message}{excepted}",
                indent=4,
                fg=COLORS[finding.severity],
            )
    console.print_message(summarize(skills))


def _begin_line(path: str) -> str:
    """Return a path that no CI host interprets as a command: a folder can be named `::stop-commands::x`."""
    return f"./{path}" if path.startswith((":", "#")) else path


def summarize(skills: Sequence[AuditedSkill]) -> str:
    """Return the summary line of an audit."""
    having = sum(bool(skill.findings) for skill in skills)
    counts = Counter(finding.severity for skill in skills for finding in skill.findings)
    total = pluralize(len(skills), "skill")
    failed = sum(bool(skill.problems) for skill in skills)
    suffix = f"; {pluralize(failed, 'skill')} could not be audited" if failed else ""
    if not having:
        return f"no findings in {total}{suffix}"
    numbers = ", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity])
    found = pluralize(sum(counts.values()), "finding")
    return f"{found} ({numbers}) in {having} of {total}{suffix}"


def to_json(skills: Sequence[AuditedSkill], *, is_ok: bool) -> dict[str, Any]:
    """Return audited skills as JSON."""
    return {"ok": is_ok, "ruleSet": RULE_SET, "skills": [_skill_to_json(skill) for skill in skills]}


def _skill_to_json(skill: AuditedSkill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "path": skill.path,
        "source": skill.source,
        "digest": skill.digest,
        "findings": [
            {
                "rule": finding.rule,
                "severity": finding.severity,
                "path": finding.path,
                "line": finding.line,
                "message": finding.message,
                "blocks": finding in skill.blocking,
                "excepted": finding in skill.excepted,
            }
            for finding in skill.findings
        ],
        "problems": [*skill.problems],
    }


def to_sarif(skills: Sequence[AuditedSkill], lowest: Severity) -> dict[str, Any]:
    """Return audited skills as a SARIF log."""
    return build_sarif(
        Located(skill.name, skill.place(finding), finding, finding in skill.excepted)
        for skill in skills
        for finding in _shown(skill, lowest)
    )


def render_annotations(skills: Sequence[AuditedSkill], lowest: Severity) -> Iterator[str]:
    """Yield a workflow command for each finding; those in files of the checkout name the file."""
    for skill in skills:
        for problem in skill.problems:
            yield f"::error::{_escape(f'{skill.name}: {problem}')}"
        for finding in _shown(skill, lowest):
            if finding in skill.excepted:
                continue
            kind, title = ANNOTATIONS[finding.severity], _escape_property(f"{finding.rule} in {skill.name}")
            if skill.path and not skill.path.startswith("/"):
                place = f"file={_escape_property(skill.place(finding))},line={finding.line},title={title}"
                yield f"::{kind} {place}::{_escape(finding.message)}"
            else:
                yield f"::{kind} title={title}::{_escape(f'{skill.place(finding)}:{finding.line}: {finding.message}')}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


def render_markdown(skills: Sequence[AuditedSkill], lowest: Severity) -> Iterator[str]:
    """Yield the lines of a comment: a summary, and a table of the findings, the most severe first."""
    yield f"### Audit: {summarize(skills)}\n"
    for skill in skills:
        yield from (f"- ⚠️ {code(skill.name)}: {code(problem, 500)}" for problem in skill.problems)
    rows = [(finding, skill) for skill in skills for finding in _shown(skill, lowest) if finding not in skill.excepted]
    rows.sort(key=lambda row: SEVERITIES.index(row[0].severity))
    if rows:
        yield "| Severity | Rule | Place | Finding |\n|---|---|---|---|"
    for finding, skill in rows[:MAX_ROWS]:
        place = code(f"{skill.place(finding)}:{finding.line}", 300)
        cells = [finding.severity, code(finding.rule), place, code(finding.message, 300)]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    if len(rows) > MAX_ROWS:
        yield f"\nand {pluralize(len(rows) - MAX_ROWS, 'finding')} more"


def print_rules(console: Console) -> None:
    """Print all rules, a line for each."""
    if console.as_json:
        console.print_json({"ruleSet": RULE_SET, "rules": [rule_to_json(rule) for rule in RULES.values()]})
        return
    width = max(map(len, RULES))
    for family, rules in FAMILIES.items():
        console.print_line(family, bold=True)
        for rule in rules:
            console.print_wrapped(f"  {rule.id:{width}}  {rule.severity:6}  {rule.title}", indent=width + 12)


def print_rule(console: Console, rule: Rule) -> None:
    """Print what a rule finds, why, and what to do."""
    if console.as_json:
        console.print_json(rule_to_json(rule))
        return
    console.print_line(f"{rule.id}: {rule.title} ({rule.severity})", bold=True)
    for text in (rule.reason, rule.remedy):
        console.print_line()
        console.print_wrapped(text, indent=0)
    for title, example in (("Found", rule.bad), ("Not found", rule.good)):
        console.print_line(f"\n{title}, in {example.path}:")
        for line in example.content.splitlines()[:10]:
            console.print_line(f"    {sanitize(line)}")


def rule_to_json(rule: Rule) -> dict[str, Any]:
    """Return a rule as JSON."""
    fields = ("id", "severity", "title", "reason", "remedy")
    examples = {"bad": rule.bad, "good": rule.good}
    return {field: getattr(rule, field) for field in fields} | {
        name: {"path": example.path, "text": example.content[:2_000]} for name, example in examples.items()
    }


def _shown(skill: AuditedSkill, lowest: Severity) -> list[AuditFinding]:
    return [finding for finding in skill.findings if is_at_least(finding.severity, lowest)]
