"""`skillpm migrate`."""

from typing import Any

import click

from skillpm.cli.option_types import AMOUNT
from skillpm.cli.options import Call, call_of, reading
from skillpm.cli.text_layout import wrapped
from skillpm.core.text import counted, show
from skillpm.errors import UsageError
from skillpm.operations.context.scope import folder_scope
from skillpm.operations.migrate.conversion import migrate
from skillpm.operations.migrate.report import Migrated

MOST_TOLD = 60


@click.command(
    epilog="""\b
Examples:
  skillpm migrate -g --dry-run   what would become of ~/.agent-skills
  skillpm migrate -g             do it
  skillpm migrate ./skills       a folder of skills anywhere"""
)
@click.argument("directory", metavar="[DIR]", required=False)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--lock-timeout", type=AMOUNT, metavar="SECONDS", help="How long to wait for another skillpm.")
@reading
def command(directory: str | None, dry_run: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """Make skills of flat files: x.md and CATEGORY/x.md become x/SKILL.md.

    DIR is the skills directory of this scope, or the one you name. What an old skills.json says (triggers, category,
    version, needs) stays in the registry. What cannot be moved stays as it is, and is told with the reason.
    """
    call = call_of({**flags, "offline": True})
    if directory is not None and (flags["user"] or flags["project"]):
        raise UsageError("a folder was named, so -g and --project would name another")
    scope = call.scope if directory is None else folder_scope(call.tools.settings, directory)
    result = migrate(scope, call.tools, dry_run=dry_run)
    if call.console.as_json:
        call.console.data(_value(result))
    elif not call.console.quiet:
        _tell(call, result)


def _value(result: Migrated) -> dict[str, Any]:
    value: dict[str, Any] = {
        "changed": result.changed and not result.dry_run,
        "moved": [
            {"from": move.flat.path, "to": move.becomes, "frontmatter": "written" if move.is_written else "kept"}
            for move in result.moves
        ],
        "skipped": [{"path": left.path, "why": left.why} for left in result.left],
        "directory": result.directory,
        "inherited": list(result.inherited),
        "backup": result.kept,
        "warnings": list(result.warnings),
    }
    if result.dry_run:
        value["dryRun"] = True
    return value


def _tell(call: Call, result: Migrated) -> None:
    console = call.console
    width = min(40, max((len(move.becomes) for move in result.moves), default=0))
    for move in result.moves:
        extra = ", frontmatter written" if move.is_written else ""
        console.line(f" + {move.becomes:{width}}  from {show(move.flat.path)}{extra}", fg="green")
    console.line(_summary(result))
    if result.left:
        console.line("left as it is:")
        few = result.left if console.verbose else result.left[:MOST_TOLD]
        width = min(40, max(len(show(left.path)) for left in few))
        for left in few:
            console.line(f"   {show(left.path):{width}}  {show(left.why)}")
        if len(few) < len(result.left):
            console.line(f"   and {len(result.left) - len(few)} more: -v tells all")
    if result.inherited:
        facts = dict.fromkeys(fact for facts in result.inherited.values() for fact in facts.told)
        console.line(f"the registry keeps {_or(*facts)} of {show(', '.join(result.inherited), 300)}")
    if result.kept:
        console.line(f"the old skills.json is kept as backup {result.kept}")
    for folder, linked in result.linked.items():
        console.line(f"{'would be ' if result.dry_run else ''}linked in {folder}: {show(', '.join(linked), 300)}")
    if result.changed:
        for line in wrapped(f"next: {_next(result)}{_advice(result)}", indent=6):
            console.say(line)


def _or(*words: str) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _summary(result: Migrated) -> str:
    count = len(result.moves)
    where = f"{counted(result.skills, 'skill')} in {result.directory}"
    if not count:
        said = "would bring the registry up to date" if result.dry_run else "registry brought up to date"
        return f"{said}: {where}" if result.changed else f"nothing to move: {where}"
    files = counted(count, "flat file")
    return f"would have moved {files}: {where}" if result.dry_run else f"moved {files}: {where}"


def _next(result: Migrated) -> str:
    if result.dry_run:
        return "the same without --dry-run does it"
    return f"`{result.listing}` shows them" + (f", `{result.showing}` to an agent" if result.showing else "")


def _advice(result: Migrated) -> str:
    if any(move.is_written for move in result.moves):
        return "; look at the frontmatter that was written, since models choose a skill by its description"
    return ""
