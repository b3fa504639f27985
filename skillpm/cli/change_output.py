"""Output of the commands that change something, as text and as JSON."""

from collections import Counter
from typing import Any

from skillpm.cli.options import Invocation
from skillpm.core.text import pluralize
from skillpm.installer.actions import Action
from skillpm.operations.pipeline.change import ChangeResult

ACTION_SYMBOLS = {"add": "+", "update": "~", "remove": "-", "relink": "→", "keep": "=", "blocked": "!"}
ACTION_COLORS = {"add": "green", "update": "cyan", "remove": "red", "relink": "blue"}
PAST_TENSES = {"add": "added", "update": "updated", "remove": "removed", "relink": "relinked"}
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
    if result.notes:
        value["notes"] = list(result.notes)
    if result.is_dry_run:
        value["dryRun"] = True
    return value


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
    reported = [action for action in result.actions if _is_reported(action)]
    for action in reported:
        console.print_line(
            _format_action(action), **({"fg": ACTION_COLORS[action.verb]} if action.verb in ACTION_COLORS else {})
        )
    console.print_wrapped(_format_summary(result, reported, documents))
    for note in result.notes:
        console.print_message(note)
    if result.next_step and result.is_changed:
        console.print_message(f"next: {result.next_step}", indent=6)


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
