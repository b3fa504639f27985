"""The result of a changing command, for people and for programs."""

from collections import Counter
from typing import Any

from skillpm.cli.options import Invocation
from skillpm.cli.scope_hints import add_scope_flags, format_scope_flags
from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import pluralize
from skillpm.installer.actions import Action
from skillpm.operations.enable import EnableResult
from skillpm.operations.install.pipeline import ChangeResult

ACTION_SYMBOLS = {"add": "+", "update": "~", "remove": "-", "relink": "→", "keep": "=", "blocked": "!"}
ACTION_COLORS = {"add": "green", "update": "cyan", "remove": "red", "relink": "blue"}
PAST_TENSES = {"add": "added", "update": "updated", "remove": "removed", "relink": "relinked"}
DOCUMENTS = ("manifest", "registry", "lockfile")
SUMMARY_ORDER = ("added", "updated", "removed", "linked", "unlinked", "relinked", "restored", "kept")


def change_to_json(result: ChangeResult) -> dict[str, Any]:
    """Give the JSON object."""
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
    """Print what was done, then what to do next; where no skill changed, which documents did: `papers`, if given."""
    console = invocation.console
    scope = format_scope_flags(user=invocation.flags.get("user", False), project=invocation.flags.get("project") or "")
    result = result.replace(notes=tuple(add_scope_flags(note, scope) for note in result.notes))
    if console.as_json:
        console.print_json(change_to_json(result))
        return
    if console.quiet:
        return
    done = [action for action in result.actions if _is_reported(action)]
    for action in done:
        console.print_line(
            _format_action(action), **({"fg": ACTION_COLORS[action.verb]} if action.verb in ACTION_COLORS else {})
        )
    console.print_line("\n".join(wrap_text(_format_summary(result, done, documents), indent=2, is_stdout=True)))
    for note in result.notes:
        for line in wrap_text(note, indent=2):
            console.print_message(line)
    if result.next_step and result.is_changed:
        for line in wrap_text(f"next: {result.next_step}", indent=6):
            console.print_message(line)


def _is_reported(action: Action) -> bool:
    return action.verb != "keep" or action.outcome != ""


def _format_action(action: Action) -> str:
    was, becomes = ("(live link)" if label == "link" else label for label in (action.old_version, action.new_version))
    versions = becomes if was == becomes else " → ".join(part for part in (was, becomes) if part)
    reason = f"  ({action.reason})" if action.reason else ""
    sign = ACTION_SYMBOLS["remove" if action.outcome == "unlinked" else action.verb]
    return f" {' '.join(part for part in (sign, action.name, versions) if part)}{reason}"


def _format_summary(result: ChangeResult, reported: list[Action], documents: str) -> str:
    total = sum(action.verb != "remove" for action in result.actions)
    where = f"{pluralize(total, 'skill')} in {result.directory}"
    if not reported:
        named = documents or " and ".join(each for each in DOCUMENTS if each in result.documents) or "receipt"
        return f"{named} brought up to date: {where}" if result.is_changed else f"nothing to do: {where}"
    counts = Counter(action.outcome or PAST_TENSES[action.verb] for action in reported)
    said = ", ".join(f"{word} {counts[word]}" for word in sorted(counts, key=SUMMARY_ORDER.index))
    return f"would have {said}: {where}" if result.is_dry_run else f"{said}: {where}"


def print_enable_result(invocation: Invocation, result: EnableResult) -> None:
    """Print what became of links and registry, then what is switched off."""
    done = result.change
    if invocation.console.as_json:
        value = {"changed": done.is_changed and not done.is_dry_run, "disabled": dict(result.disabled)}
        invocation.console.print_json(
            {**value, **({"dryRun": True} if done.is_dry_run else {}), "actions": change_to_json(done)["actions"]}
        )
        return
    print_change(invocation, done, documents="manifest and registry")
    if not invocation.console.quiet:
        off = [
            name if agents is True else f"{name} (for {', '.join(agents)})" for name, agents in result.disabled.items()
        ]
        invocation.console.print_message(f"disabled: {', '.join(off)}" if off else "no skill is disabled")
