"""The result of a changing command, for people and for programs."""

from collections import Counter
from typing import Any

from skillpm.cli.options import Call
from skillpm.cli.scope_hints import pointed, scope_typed
from skillpm.cli.text_layout import wrapped
from skillpm.core.text import counted
from skillpm.installer.actions import Action
from skillpm.operations.enable import Switched
from skillpm.operations.install.pipeline import Changed

SIGNS = {"add": "+", "update": "~", "remove": "-", "relink": "→", "keep": "=", "blocked": "!"}
COLOURS = {"add": "green", "update": "cyan", "remove": "red", "relink": "blue"}
PAST = {"add": "added", "update": "updated", "remove": "removed", "relink": "relinked"}
DOCUMENTS = ("manifest", "registry", "lockfile")
ORDER = ("added", "updated", "removed", "linked", "unlinked", "relinked", "restored", "kept")


def changed_value(result: Changed) -> dict[str, Any]:
    """Give the JSON object."""
    value: dict[str, Any] = {
        "changed": result.changed and not result.dry_run,
        "scope": result.scope,
        "directory": result.directory,
        "actions": [
            {
                "action": action.verb,
                "name": action.name,
                "from": action.was,
                "to": action.becomes,
                "reason": action.reason,
            }
            for action in sorted(result.actions, key=lambda action: action.name)
        ],
        "warnings": list(result.warnings),
    }
    if result.linked or result.unlinked:
        value["links"] = {"made": list(result.linked), "removed": list(result.unlinked)}
    if result.notes:
        value["notes"] = list(result.notes)
    if result.dry_run:
        value["dryRun"] = True
    return value


def tell_changed(call: Call, result: Changed, *, papers: str = "") -> None:
    """Print what was done, then what to do next; where no skill changed, which documents did: `papers`, if given."""
    console = call.console
    scope = scope_typed(user=call.flags.get("user", False), project=call.flags.get("project") or "")
    result = result.but(notes=tuple(pointed(note, scope) for note in result.notes))
    if console.as_json:
        console.data(changed_value(result))
        return
    if console.quiet:
        return
    done = [action for action in result.actions if _is_told(action)]
    for action in done:
        console.line(_line(action), **({"fg": COLOURS[action.verb]} if action.verb in COLOURS else {}))
    console.line("\n".join(wrapped(_summary(result, done, papers), indent=2, is_output=True)))
    for note in result.notes:
        for line in wrapped(note, indent=2):
            console.say(line)
    if result.next_step and result.changed:
        for line in wrapped(f"next: {result.next_step}", indent=6):
            console.say(line)


def _is_told(action: Action) -> bool:
    return action.verb != "keep" or action.done != ""


def _line(action: Action) -> str:
    was, becomes = ("(live link)" if label == "link" else label for label in (action.was, action.becomes))
    versions = becomes if was == becomes else " → ".join(part for part in (was, becomes) if part)
    reason = f"  ({action.reason})" if action.reason else ""
    sign = SIGNS["remove" if action.done == "unlinked" else action.verb]
    return f" {' '.join(part for part in (sign, action.name, versions) if part)}{reason}"


def _summary(result: Changed, done: list[Action], papers: str) -> str:
    total = sum(action.verb != "remove" for action in result.actions)
    where = f"{counted(total, 'skill')} in {result.directory}"
    if not done:
        named = papers or " and ".join(each for each in DOCUMENTS if each in result.written) or "receipt"
        return f"{named} brought up to date: {where}" if result.changed else f"nothing to do: {where}"
    counts = Counter(action.done or PAST[action.verb] for action in done)
    said = ", ".join(f"{word} {counts[word]}" for word in sorted(counts, key=ORDER.index))
    return f"would have {said}: {where}" if result.dry_run else f"{said}: {where}"


def tell_switched(call: Call, switched: Switched) -> None:
    """Print what became of links and registry, then what is switched off."""
    done = switched.done
    if call.console.as_json:
        value = {"changed": done.changed and not done.dry_run, "disabled": dict(switched.disabled)}
        call.console.data(
            {**value, **({"dryRun": True} if done.dry_run else {}), "actions": changed_value(done)["actions"]}
        )
        return
    tell_changed(call, done, papers="manifest and registry")
    if not call.console.quiet:
        off = [
            name if agents is True else f"{name} (for {', '.join(agents)})"
            for name, agents in switched.disabled.items()
        ]
        call.console.say(f"disabled: {', '.join(off)}" if off else "no skill is disabled")
