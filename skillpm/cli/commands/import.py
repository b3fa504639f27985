"""`skillpm import`."""

import os
from collections.abc import Iterator
from typing import Any

import click

from skillpm.cli.change_options import build_change_options, fetch_options
from skillpm.cli.change_output import change_to_json, print_change
from skillpm.cli.option_types import NUMBER
from skillpm.cli.options import Invocation, create_invocation
from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import sanitize
from skillpm.errors import UsageError
from skillpm.foreign_formats.base import SkippedSkill
from skillpm.operations.context.scope import Scope, is_home, resolve_project_scope, user_scope
from skillpm.operations.foreign_import.adoption import Adoption, ExistingSkill
from skillpm.operations.foreign_import.detection import DetectedTools, detect_tools
from skillpm.operations.foreign_import.importer import ImportResult, import_skills

MAX_ITEMIZED = 3
ALREADY_REQUIRED = "the manifest asks for it already"


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
@click.option("--lock-timeout", type=NUMBER, metavar="SECONDS", help="How long to wait for another skillpm.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@fetch_options
def command(place: str, **flags: Any) -> int:
    """Take over from another tool: what it asked for, what it had locked, what it installed.

    Reads skills-lock.json (skills, skills-lock), .skill-lock.json (skills -g, gh), skills.json with skills-lock.yaml
    (spm), .claude-plugin/marketplace.json, and skills that gh installed. The other tool's files stay.
    """
    call = create_invocation(flags)
    sight, scope = _detect_source(call, place)
    result = import_skills(scope, call.context, sight, build_change_options(call))
    if call.console.as_json:
        call.console.print_json(_to_json(result))
    else:
        _print_result(call, result)
    return 0 if result.change.actions or result.existing or not result.skipped else 1


def _detect_source(invocation: Invocation, path: str) -> tuple[DetectedTools, Scope]:
    """Find what is there, and the scope it goes to: the named one, else the folder where it lies is the project."""
    settings, user, project = invocation.context.settings, invocation.flags["user"], invocation.flags["project"] or ""
    if user and project:
        raise UsageError("--global and --project name two scopes; give one")
    sight = detect_tools(invocation.context, path or (settings.home if user else project or "."))
    if user or (sight.is_global and not project):
        return sight, user_scope(settings)
    if project:
        return sight, resolve_project_scope(settings, project)
    if is_home(settings, sight.folder):
        return sight, user_scope(settings)
    return sight, resolve_project_scope(settings, sight.folder)


def _to_json(result: ImportResult) -> dict[str, Any]:
    value, lying = change_to_json(result.change), result.adoption
    return {
        "changed": value.pop("changed"),
        "scope": value.pop("scope"),
        "directory": value.pop("directory"),
        "read": [
            {"tool": reading.tool, "file": reading.file, "skills": len(reading.imported)}
            for reading in result.documents
        ],
        "adopted": [{"name": item.name, "path": item.path} for item in lying.adoptable],
        "unknown": [
            *(_skipped_to_json(item) for item in (*result.skipped, *result.notes)),
            *({"name": name, "why": ALREADY_REQUIRED} for name in result.existing),
        ],
        "left": [{"name": item.name, "path": item.path} for item in (*lying.different, *lying.links, *lying.identical)],
        **value,
    }


def _skipped_to_json(item: SkippedSkill) -> dict[str, str]:
    return {"name": item.name, "why": item.reason} | ({"where": item.where} if item.where else {})


def _print_result(invocation: Invocation, result: ImportResult) -> None:
    console = invocation.console
    for reading in result.documents:
        here = os.path.relpath(reading.file, invocation.context.settings.working_directory)
        console.print_message(f"read {'SKILL.md files' if os.path.isdir(reading.file) else here} of {reading.tool}")
    for line in (*_format_adoption(result.adoption), *_format_notes(result)):
        for part in wrap_text(line, indent=2):
            console.print_message(part)
    for item in result.skipped:
        at = (
            f" ({sanitize(item.where.removeprefix(f'{invocation.context.settings.working_directory}/'))})"
            if item.where
            else ""
        )
        console.warn(f"{item.name} is not taken over: {item.reason}{at}")
    if result.backup:
        console.print_message(f"spm's skills.json is kept as {os.path.basename(result.backup)}")
    if result.change.actions or not (result.existing or result.skipped):
        print_change(invocation, result.change)


def _format_adoption(adoption: Adoption) -> Iterator[str]:
    """Say what lies in hosts' folders: each by itself, or where there are many, how many."""
    told: list[tuple[tuple[ExistingSkill, ...], str, str]] = [
        (adoption.adoptable, "is what was locked, and is taken over", "are what was locked, and are taken over"),
        (
            adoption.identical,
            "is what was locked, but not all beside it; it is left",
            "are what was locked; they are left",
        ),
        (adoption.links, "is a link of another tool; it is left", "are links of another tool; they are left"),
    ]
    for items, one, many in told:
        for folder in dict.fromkeys(item.folder for item in items):
            inside = [item for item in items if item.folder == folder]
            if len(inside) > MAX_ITEMIZED:
                yield f"{len(inside)} skills in {sanitize(folder)} {many} as they are"
                continue
            for item in inside:
                yield f"{item.name}: {sanitize(item.path)} {one} as it is"
    for item in adoption.different:
        yield f"{item.name}: {sanitize(item.path)} {sanitize(item.difference, 200)}; it is left as it is"


def _format_notes(result: ImportResult) -> Iterator[str]:
    for item in result.notes:
        yield f"{item.name}: {sanitize(item.reason, 400)}"
    if len(result.existing) > MAX_ITEMIZED:
        yield f"{len(result.existing)} skills: {ALREADY_REQUIRED}"
    else:
        yield from (f"{name}: {ALREADY_REQUIRED}" for name in result.existing)
