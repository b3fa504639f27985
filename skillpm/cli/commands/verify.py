"""`skillpm verify`."""

import os

import click

from skillpm.cli.change_options import fetch_options
from skillpm.cli.options import Invocation
from skillpm.core.text import pluralize, sanitize
from skillpm.operations.context.acceptance import unchecked_message
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.unchecked import find_unchecked
from skillpm.operations.inspect.verify import verify


@click.command(
    epilog="""\b
Examples:
  skillpm verify          exit 1 if a file differs
  skillpm verify --json   for programs"""
)
@fetch_options
def command(call: Invocation) -> int:
    """Verify every byte of the installed skills against the lockfile. Changes nothing."""
    result = verify(call.scope, call.context)
    unchecked = find_unchecked(call.scope, call.context)
    if call.console.as_json:
        rows = [
            {
                "name": skill.name,
                "state": skill.state,
                "files": [{"path": file.path, "state": file.state} for file in skill.files],
                **({"index": result.index_warnings[skill.name]} if skill.name in result.index_warnings else {}),
            }
            for skill in result.skills
        ]
        others = {"unchecked": unchecked} if unchecked else {}
        call.console.print_json({"ok": result.is_ok, "skills": rows, **others})
        return 0 if result.is_ok else 1
    if result.is_pending:
        call.console.print_message("a change is in progress or was interrupted; this is the state after it")
    failed = [skill for skill in result.skills if skill.state not in {"ok", "link"}]
    listed = failed
    if not result.has_lockfile and any(skill.state == "not-locked" for skill in failed):
        call.console.print_wrapped(_missing_lockfile_message(call.scope), fg="red")
        listed = [skill for skill in failed if skill.state != "not-locked"]
        if not listed:
            return 1
    for skill in listed:
        call.console.print_line(f"{skill.state}: {skill.name}: {skill.detail}", fg="red")
        for file in skill.files:
            call.console.print_line(f"    {file.state}: {sanitize(file.path)}")
    for name, warning in result.index_warnings.items():
        call.console.warn(f"{name}: {warning}")
    if not result.skills:
        call.console.print_message("nothing to verify: no skills are installed or locked here")
        return 0
    links = sum(skill.state == "link" for skill in result.skills)
    skipped = f", {pluralize(links, 'live link')} skipped" if links else ""
    checked = len(result.skills) - links
    matching = checked - len(failed)
    verb = "matches" if 1 in {matching, checked} else "match"
    call.console.print_message(f"{matching} of {pluralize(checked, 'skill')} {verb} the lockfile{skipped}")
    if unchecked:
        call.console.print_message(unchecked_message(call.scope, unchecked))
    return 1 if failed else 0


def _missing_lockfile_message(scope: Scope) -> str:
    if not os.path.exists(scope.manifest):
        directory = os.path.dirname(scope.manifest)
        return f"skills.json and skills.lock are missing in {directory}; restore them to verify the installed skills"
    return f"lockfile {scope.lockfile} is missing; `skillpm lock{scope.flag}` (or `sync`) writes it"
