"""`skillpm verify`."""

import os
from typing import Any

import click

from skillpm.cli.options import create_invocation, scope_options
from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import pluralize, sanitize
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.verify import verify


@click.command(
    epilog="""\b
Examples:
  skillpm verify          exit 1 if a byte differs
  skillpm verify --json   which skill and which file"""
)
@scope_options
def command(**flags: Any) -> int:
    """Check every installed byte against the lockfile. Changes nothing."""
    call = create_invocation(flags)
    verdict = verify(call.scope, call.context)
    if call.console.as_json:
        rows = [
            {
                "name": skill.name,
                "state": skill.state,
                "files": [{"path": file.path, "state": file.state} for file in skill.files],
                **({"index": verdict.index_warnings[skill.name]} if skill.name in verdict.index_warnings else {}),
            }
            for skill in verdict.skills
        ]
        call.console.print_json({"ok": verdict.is_ok, "skills": rows})
        return 0 if verdict.is_ok else 1
    if verdict.is_pending:
        call.console.print_message("a change is under way or was interrupted; this is what it leads to")
    bad = [skill for skill in verdict.skills if skill.state not in {"ok", "link"}]
    told = bad
    if not verdict.has_lockfile and any(skill.state == "not-locked" for skill in bad):
        for part in wrap_text(_missing_lockfile_message(call.scope), indent=2, is_stdout=True):
            call.console.print_line(part, fg="red")
        told = [skill for skill in bad if skill.state != "not-locked"]
        if not told:
            return 1
    for skill in told:
        call.console.print_line(f"{skill.state}: {skill.name}: {skill.detail}", fg="red")
        for file in skill.files:
            call.console.print_line(f"    {file.state}: {sanitize(file.path)}")
    for name, said in verdict.index_warnings.items():
        call.console.warn(f"{name}: {said}")
    if not verdict.skills:
        call.console.print_message("nothing is installed or locked here, so there is nothing to verify")
        return 0
    live = sum(skill.state == "link" for skill in verdict.skills)
    skipped = f", {pluralize(live, 'live link')} skipped" if live else ""
    sound = len(verdict.skills) - len(bad) - live
    checked = len(verdict.skills) - live
    are = "is" if 1 in {sound, checked} else "are"
    call.console.print_message(f"{sound} of {pluralize(checked, 'skill')} {are} what the lockfile says{skipped}")
    return 1 if bad else 0


def _missing_lockfile_message(scope: Scope) -> str:
    if not os.path.exists(scope.manifest):
        place = os.path.dirname(scope.manifest)
        return f"there is neither skills.json nor skills.lock in {place}: bring them back, or nothing can be checked"
    return f"there is no lockfile {scope.lockfile}: `skillpm lock{scope.flag}` (or `sync`) writes it"
