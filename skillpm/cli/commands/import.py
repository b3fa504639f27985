"""`skillpm import`."""

import os
from collections.abc import Iterator
from typing import Any

import click

from skillpm.cli.change_options import networked, options_of
from skillpm.cli.change_output import changed_value, tell_changed
from skillpm.cli.option_types import AMOUNT
from skillpm.cli.options import Call, call_of
from skillpm.cli.text_layout import wrapped
from skillpm.core.text import show
from skillpm.errors import UsageError
from skillpm.foreign_formats.base import Left
from skillpm.operations.context.scope import Scope, is_home, new_project_scope, user_scope
from skillpm.operations.foreign_import.adoption import Lies, Lying
from skillpm.operations.foreign_import.detection import Sight, look_for_foreign
from skillpm.operations.foreign_import.importer import TakenOver, take_over

FEW = 3
THERE = "the manifest asks for it already"


@click.command(
    epilog="""\b
Examples:
  skillpm import                    whatever another tool left here
  skillpm import --dry-run          only say what would be taken over
  skillpm import skills-lock.json   the lock of skills, or of skills-lock
  skillpm import -g                 ~/.agents/.skill-lock.json, and gh's
  skillpm import services/api       a project in another folder"""
)
@click.argument("place", default="", metavar="[FILE|DIR]")
@click.option("--lock-timeout", type=AMOUNT, metavar="SECONDS", help="How long to wait for another skillpm.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@networked
def command(place: str, **flags: Any) -> int:
    """Take over from another tool: what it asked for, what it had locked, what it installed.

    Reads skills-lock.json (skills, skills-lock), .skill-lock.json (skills -g, gh), skills.json with skills-lock.yaml
    (spm), .claude-plugin/marketplace.json, and skills that gh installed. The other tool's files stay.
    """
    call = call_of(flags)
    sight, scope = _looked(call, place)
    result = take_over(scope, call.tools, sight, options_of(call))
    if call.console.as_json:
        call.console.data(_value(result))
    else:
        _tell(call, result)
    return 0 if result.changed.actions or result.there or not result.left else 1


def _looked(call: Call, place: str) -> tuple[Sight, Scope]:
    """Find what is there, and the scope it goes to: the named one, else the folder where it lies is the project."""
    settings, user, project = call.tools.settings, call.flags["user"], call.flags["project"] or ""
    if user and project:
        raise UsageError("--global and --project name two scopes; give one")
    sight = look_for_foreign(call.tools, place or (settings.home if user else project or "."))
    if user or (sight.is_global and not project):
        return sight, user_scope(settings)
    if project:
        return sight, new_project_scope(settings, project)
    if is_home(settings, sight.folder):
        return sight, user_scope(settings)
    return sight, new_project_scope(settings, sight.folder)


def _value(result: TakenOver) -> dict[str, Any]:
    value, lying = changed_value(result.changed), result.lying
    return {
        "changed": value.pop("changed"),
        "scope": value.pop("scope"),
        "directory": value.pop("directory"),
        "read": [
            {"tool": reading.tool, "file": reading.file, "skills": len(reading.taken)} for reading in result.readings
        ],
        "adopted": [{"name": item.name, "path": item.path} for item in lying.adopted],
        "unknown": [
            *(_unknown(item) for item in (*result.left, *result.notes)),
            *({"name": name, "why": THERE} for name in result.there),
        ],
        "left": [{"name": item.name, "path": item.path} for item in (*lying.other, *lying.links, *lying.kept)],
        **value,
    }


def _unknown(item: Left) -> dict[str, str]:
    return {"name": item.name, "why": item.why} | ({"where": item.where} if item.where else {})


def _tell(call: Call, result: TakenOver) -> None:
    console = call.console
    for reading in result.readings:
        here = os.path.relpath(reading.file, call.tools.settings.working_directory)
        console.say(f"read {'SKILL.md files' if os.path.isdir(reading.file) else here} of {reading.tool}")
    for line in (*_lying(result.lying), *_notes(result)):
        for part in wrapped(line, indent=2):
            console.say(part)
    for item in result.left:
        at = f" ({show(item.where.removeprefix(f'{call.tools.settings.working_directory}/'))})" if item.where else ""
        console.warning(f"{item.name} is not taken over: {item.why}{at}")
    if result.aside:
        console.say(f"spm's skills.json is kept as {os.path.basename(result.aside)}")
    if result.changed.actions or not (result.there or result.left):
        tell_changed(call, result.changed)


def _lying(lying: Lying) -> Iterator[str]:
    """Say what lies in hosts' folders: each by itself, or where there are many, how many."""
    told: list[tuple[tuple[Lies, ...], str, str]] = [
        (lying.adopted, "is what was locked, and is taken over", "are what was locked, and are taken over"),
        (lying.kept, "is what was locked, but not all beside it; it is left", "are what was locked; they are left"),
        (lying.links, "is a link of another tool; it is left", "are links of another tool; they are left"),
    ]
    for items, one, many in told:
        for folder in dict.fromkeys(item.folder for item in items):
            inside = [item for item in items if item.folder == folder]
            if len(inside) > FEW:
                yield f"{len(inside)} skills in {show(folder)} {many} as they are"
                continue
            for item in inside:
                yield f"{item.name}: {show(item.path)} {one} as it is"
    for item in lying.other:
        yield f"{item.name}: {show(item.path)} {show(item.why, 200)}; it is left as it is"


def _notes(result: TakenOver) -> Iterator[str]:
    for item in result.notes:
        yield f"{item.name}: {show(item.why, 400)}"
    if len(result.there) > FEW:
        yield f"{len(result.there)} skills: {THERE}"
    else:
        yield from (f"{name}: {THERE}" for name in result.there)
