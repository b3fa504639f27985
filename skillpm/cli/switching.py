"""What `enable` and `disable` tell."""

from skillpm.cli.common import Call
from skillpm.cli.told import changed_value, tell_changed
from skillpm.operations.switching import Switched


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
