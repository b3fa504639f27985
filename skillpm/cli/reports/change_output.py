"""Output of the commands that change something, as text and as JSON."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from skillpm.change.blockers import find_edited
from skillpm.change.change import ChangeResult
from skillpm.cli.console import Console
from skillpm.cli.options import Invocation
from skillpm.core.suggestions import list_some
from skillpm.core.text import pluralize
from skillpm.errors import SkillpmError
from skillpm.installer.actions import Action
from skillpm.locking.upgrade import FailedUpdate
from skillpm.scope.left_out import LeftOut

ACTION_SYMBOLS = {"add": "+", "update": "~", "remove": "-", "relink": "→", "keep": "=", "blocked": "!"}
ACTION_COLORS = {"add": "green", "update": "cyan", "remove": "red", "relink": "blue"}
PAST_TENSES = {"add": "added", "update": "updated", "remove": "removed", "relink": "relinked"}
MAX_FAILED_NAMES = 8
DOCUMENTS = ("manifest", "registry", "lockfile")
SUMMARY_ORDER = ("added", "updated", "removed", "linked", "unlinked", "relinked", "restored", "kept")


def change_to_json(result: ChangeResult) -> dict[str, Any]:
    """Return the JSON object of a change."""
    value: dict[str, Any] = {
        "changed": result.is_changed and not result.is_dry_run,
        "scope": result.scope,
        "directory": result.directory,
        "actions": [
            {
                "action": action.verb,
                "name": action.name,
                "from": action.old_version,
                "to": action.new_version,
                "reason": action.reason,
            }
            for action in sorted(result.actions, key=lambda action: action.name)
        ],
        "warnings": list(result.warnings),
    }
    if result.links_made or result.links_removed:
        value["links"] = {"made": list(result.links_made), "removed": list(result.links_removed)}
    if edited := find_edited(result.actions):
        value["edited"] = [
            {"name": action.name, "files": [{"path": file.path, "state": file.state} for file in action.changes]}
            for action in edited
        ]
    if result.notes:
        value["notes"] = list(result.notes)
    if result.updates:
        from skillpm.cli.reports.review_output import change_to_json as update_to_json  # noqa: PLC0415  (only after an update)

        value["updates"] = [update_to_json(change) for change in result.updates]
    if result.failures:
        value["failed"] = failures_to_json(result.failures)
    if result.left_out:
        value["leftOut"] = [each.value for each in result.left_out]
    if result.is_dry_run:
        value["dryRun"] = True
    if result.members:
        value["members"] = {folder: change_to_json(member) for folder, member in result.members.items()}
    return value


def failures_to_json(failures: Sequence[FailedUpdate]) -> list[dict[str, Any]]:
    """Return the JSON values of skills that could not be updated."""
    return [{"skills": [*each.names], "message": each.message, "hint": each.hint} for each in failures]


def describe_failure(failure: FailedUpdate) -> str:
    """Return which skills were not updated, and why."""
    verb = "was" if len(failure.names) == 1 else "were"
    return f"{list_some(failure.names, MAX_FAILED_NAMES)} {verb} not updated: {failure.message}"


def report_failures(console: Console, failures: Sequence[FailedUpdate]) -> int:
    """Print which skills could not be updated, and return the exit code; JSON output has them already."""
    from skillpm.cli.error_output import report_error  # noqa: PLC0415  (only after an error)

    for failure in () if console.as_json else failures:
        report_error(SkillpmError(describe_failure(failure), hint=failure.hint), as_json=False, color=console.color)
    return 1 if failures else 0


def exit_code_of(invocation: Invocation, left_out: Sequence[LeftOut]) -> int:
    """Return 1 if something was left out and `--strict` is given."""
    return 1 if left_out and invocation.flags["strict"] else 0


def print_change(invocation: Invocation, result: ChangeResult, *, documents: str = "") -> None:
    """Print the actions, a summary, the notes and the next step.

    If no skill changed, the summary names the documents that did, or `documents`, if given.
    """
    console = invocation.console
    if console.as_json:
        console.print_json(change_to_json(result))
        return
    if console.quiet:
        return
    changed = [member for member in result.members.values() if member.is_changed]
    own = result.replace(is_changed=bool(result.documents)) if result.members else result
    for each in (own, *changed):
        _print_actions(console, each, documents)
    if unchanged := len(result.members) - len(changed):
        console.print_wrapped(f"nothing to do in {pluralize(unchanged, 'other member' if changed else 'member')}")
    for note in dict.fromkeys(note for each in (result, *changed) for note in each.notes):
        console.print_message(note)
    # Once, and not for each member.
    next_step = next((each.next_step for each in (result, *changed) if each.next_step), "")
    if next_step and result.is_changed:
        console.print_message(f"next: {next_step}", indent=6)


def _print_actions(console: Console, result: ChangeResult, documents: str) -> None:
    reported = [action for action in result.actions if _is_reported(action)]
    updates = {change.name: change for change in result.updates if change.old is not None}
    for action in reported:
        console.print_line(
            _format_action(action), **({"fg": ACTION_COLORS[action.verb]} if action.verb in ACTION_COLORS else {})
        )
        if (change := updates.get(action.name)) is None:
            continue
        for warning in change.warnings:
            if warning.code == "rule-triggered":
                console.print_wrapped(f"   {warning.message}", indent=5, fg="red", bold=True)
        if change.capability_summary:
            console.print_wrapped(f"   {change.capability_summary}", indent=5, fg="yellow")
    console.print_wrapped(_format_summary(result, reported, documents))


def _is_reported(action: Action) -> bool:
    return action.verb != "keep" or action.outcome != ""


def _format_action(action: Action) -> str:
    old, new = ("(live link)" if label == "link" else label for label in (action.old_version, action.new_version))
    versions = new if old == new else " → ".join(part for part in (old, new) if part)
    reason = f"  ({action.reason})" if action.reason else ""
    symbol = ACTION_SYMBOLS["remove" if action.outcome == "unlinked" else action.verb]
    return f" {' '.join(part for part in (symbol, action.name, versions) if part)}{reason}"


def _format_summary(result: ChangeResult, reported: list[Action], documents: str) -> str:
    total = sum(action.verb != "remove" for action in result.actions)
    skills = f"{pluralize(total, 'skill')} in {result.directory}"
    if not reported:
        documents = documents or " and ".join(each for each in DOCUMENTS if each in result.documents) or "receipt"
        return f"{documents} brought up to date: {skills}" if result.is_changed else f"nothing to do: {skills}"
    counts = Counter(action.outcome or PAST_TENSES[action.verb] for action in reported)
    outcome = ", ".join(f"{verb} {counts[verb]}" for verb in sorted(counts, key=SUMMARY_ORDER.index))
    return f"would have {outcome}; total: {skills}" if result.is_dry_run else f"{outcome}; total: {skills}"
