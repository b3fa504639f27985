"""`skillpm verify`."""

import os
from typing import Any

import click

from skillpm.cli.options import call_of, reading
from skillpm.cli.text_layout import wrapped
from skillpm.core.text import counted, show
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.verify import verify


@click.command(
    epilog="""\b
Examples:
  skillpm verify          exit 1 if a byte differs
  skillpm verify --json   which skill and which file"""
)
@reading
def command(**flags: Any) -> int:
    """Check every installed byte against the lockfile. Changes nothing."""
    call = call_of(flags)
    verdict = verify(call.scope, call.tools)
    if call.console.as_json:
        rows = [
            {
                "name": skill.name,
                "state": skill.state,
                "files": [{"path": file.path, "state": file.state} for file in skill.files],
                **({"index": verdict.index[skill.name]} if skill.name in verdict.index else {}),
            }
            for skill in verdict.skills
        ]
        call.console.data({"ok": verdict.ok, "skills": rows})
        return 0 if verdict.ok else 1
    if verdict.pending:
        call.console.say("a change is under way or was interrupted; this is what it leads to")
    bad = [skill for skill in verdict.skills if skill.state not in {"ok", "link"}]
    told = bad
    if not verdict.lockfile_is_there and any(skill.state == "not-locked" for skill in bad):
        for part in wrapped(_without_lockfile(call.scope), indent=2, is_output=True):
            call.console.line(part, fg="red")
        told = [skill for skill in bad if skill.state != "not-locked"]
        if not told:
            return 1
    for skill in told:
        call.console.line(f"{skill.state}: {skill.name}: {skill.detail}", fg="red")
        for file in skill.files:
            call.console.line(f"    {file.state}: {show(file.path)}")
    for name, said in verdict.index.items():
        call.console.warning(f"{name}: {said}")
    if not verdict.skills:
        call.console.say("nothing is installed or locked here, so there is nothing to verify")
        return 0
    live = sum(skill.state == "link" for skill in verdict.skills)
    skipped = f", {counted(live, 'live link')} skipped" if live else ""
    sound = len(verdict.skills) - len(bad) - live
    checked = len(verdict.skills) - live
    are = "is" if 1 in {sound, checked} else "are"
    call.console.say(f"{sound} of {counted(checked, 'skill')} {are} what the lockfile says{skipped}")
    return 1 if bad else 0


def _without_lockfile(scope: Scope) -> str:
    if not os.path.exists(scope.manifest):
        place = os.path.dirname(scope.manifest)
        return f"there is neither skills.json nor skills.lock in {place}: bring them back, or nothing can be checked"
    return f"there is no lockfile {scope.lockfile}: `skillpm lock{scope.flag}` (or `sync`) writes it"
