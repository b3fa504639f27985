"""`skillpm audit`."""

import click

from skillpm.audit.model import SEVERITIES, Severity
from skillpm.audit.rule_set import GONE
from skillpm.audit.rules import RULES
from skillpm.cli.options import Invocation, fetch_options, yes_option
from skillpm.cli.reports.audit_output import (
    print_rule,
    print_rules,
    print_text,
    render_annotations,
    render_markdown,
    to_json,
    to_sarif,
)
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError, UsageError
from skillpm.operations.audited_skills import AuditedSkill, AuditOptions, audit_skills
from skillpm.scope.project_files import require_project_in_ci

NEVER = "never"
FORMATS = ("text", "json", "sarif", "markdown", "github")


@click.command(
    epilog="""\b
Examples:
  skillpm audit                      all installed skills
  skillpm audit ./my-skill           a folder, before you publish it
  skillpm audit acme/skills@deploy   before you install it
  skillpm audit --explain pipe-to-shell
  skillpm audit --format sarif > audit.sarif"""
)
@click.argument(
    "targets", nargs=-1, metavar="[NAME|PATH|SPEC]...", help="Skills, or folders of skills [default: all installed]."
)
@click.option(
    "--format",
    "output",
    type=click.Choice(FORMATS),
    default="text",
    metavar="FORMAT",
    help="Print text, json, sarif, markdown or github (workflow annotations) [default: text].",
)
@click.option(
    "--severity",
    "lowest",
    type=click.Choice(SEVERITIES),
    default="low",
    metavar="LEVEL",
    help="Show findings of this severity or higher: high, medium, low [default: low].",
)
@click.option(
    "--fail-on",
    type=click.Choice([*SEVERITIES, NEVER]),
    metavar="LEVEL",
    help="Exit with 1 for findings of this severity or higher, or never [default: what the settings block].",
)
@click.option("--explain", "rule", metavar="RULE", help="Explain a rule instead: why, what to do, and examples.")
@click.option("--list-rules", is_flag=True, help="List all rules instead.")
@yes_option
@fetch_options
def command(
    call: Invocation, targets: tuple[str, ...], output: str, lowest: Severity, rule: str | None, *, list_rules: bool
) -> int:
    """Find what a reviewer should see in skills: hidden text, commands that run downloads, stolen credentials.

    Nothing is installed, and nothing in a skill is run. An audit without findings proves nothing.
    """
    if output not in {"text", "json"} and call.console.as_json:
        raise UsageError("--json and --format cannot be used together")
    call.console.as_json = call.console.as_json or output == "json"
    if rule is not None or list_rules:
        _describe_rules(call, rule)
        return 0
    if not targets:
        require_project_in_ci(call.scope, call.session.settings)
    fail_on = call.flags["fail_on"]
    options = AuditOptions(
        fail_on=None if fail_on == NEVER else fail_on,
        never_fails=fail_on == NEVER,
        allows_whole_repositories=call.flags["yes"],
    )
    skills = audit_skills(call.project, targets, options)
    is_ok = not any(skill.blocking or skill.problems for skill in skills)
    _print(call, skills, output, lowest, is_ok=is_ok)
    return 0 if is_ok else 1


def _describe_rules(call: Invocation, rule: str | None) -> None:
    if rule is None:
        print_rules(call.console)
        return
    if rule in GONE:
        raise NotFoundError(f"the audit has no rule `{rule}` any more", hint=GONE[rule])
    if rule not in RULES:
        hint = suggestion_hint(rule, RULES, "`skillpm audit --list-rules` lists all rules")
        raise NotFoundError(f"the audit has no rule `{sanitize(rule, 80)}`", hint=hint)
    print_rule(call.console, RULES[rule])


def _print(call: Invocation, skills: list[AuditedSkill], output: str, lowest: Severity, *, is_ok: bool) -> None:
    if call.console.as_json:
        call.console.print_json(to_json(skills, is_ok=is_ok))
    elif output == "sarif":
        call.console.print_json(to_sarif(skills, lowest))
    elif output == "markdown":
        call.console.print_lines(render_markdown(skills, lowest))
    elif output == "github":
        call.console.print_lines(render_annotations(skills, lowest))
    elif skills:
        print_text(call.console, skills, lowest)
    else:
        call.console.print_message("nothing to audit: no skills are installed here; name a folder or a SPEC")
