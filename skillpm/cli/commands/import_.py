"""`skillpm import`."""

import os
from collections.abc import Iterator
from typing import Any

import click

from skillpm.adopt.adoption import Adoption, ExistingSkill
from skillpm.adopt.detection import DetectedTools, detect_tools
from skillpm.adopt.importer import ImportResult, import_skills
from skillpm.cli.change_options import build_change_options
from skillpm.cli.options import (
    Invocation,
    allow_option,
    dry_run_option,
    fetch_options,
    lock_timeout_option,
    read_scope_flags,
)
from skillpm.cli.reports.change_output import change_to_json, print_change
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.foreign_formats.base import SkippedSkill
from skillpm.scope.project import Project
from skillpm.scope.scope import Scope, is_home, resolve_project_scope, user_scope

MAX_ITEMIZED = 3
ALREADY_REQUIRED = "already in skills.json"


@click.command(
    epilog="""\b
Examples:
  skillpm import                    from any supported tool in this folder
  skillpm import --dry-run          show what would be imported
  skillpm import skills-lock.json   the lockfile of skills or skills-lock
  skillpm import -g                 ~/.agents/.skill-lock.json, and from gh
  skillpm import services/api       a project in another folder"""
)
@click.argument(
    "path", default="", metavar="[FILE|DIR]", help="The file of another tool, or a project folder [default: .]."
)
@lock_timeout_option
@dry_run_option
@allow_option
@fetch_options
def command(call: Invocation, path: str) -> int:
    """Import the skills that another tool manages: its requirements, its lockfile and its installed skills.

    Reads skills-lock.json (skills, skills-lock), .skill-lock.json (skills -g, gh), skills.json with skills-lock.yaml
    (spm), .claude-plugin/marketplace.json, and skills installed by gh. The files of the other tool are kept.
    """
    detected, scope = _detect_source(call, path)
    result = import_skills(Project(scope, call.session), detected, build_change_options(call))
    if call.console.as_json:
        call.console.print_json(_to_json(result))
    else:
        _print_result(call, result)
    return 0 if result.change.actions or result.existing or not result.skipped else 1


def _detect_source(invocation: Invocation, path: str) -> tuple[DetectedTools, Scope]:
    """Return the detected tools and the scope to import into: the selected one, else the folder of the files."""
    settings, (user, project) = invocation.session.settings, read_scope_flags(invocation.flags)
    detected = detect_tools(invocation.session, path or (settings.home if user else project or "."))
    if user or (detected.is_global and not project):
        return detected, user_scope(settings)
    if project:
        return detected, resolve_project_scope(settings, project)
    if is_home(settings, detected.folder):
        return detected, user_scope(settings)
    return detected, resolve_project_scope(settings, detected.folder)


def _to_json(result: ImportResult) -> dict[str, Any]:
    value, adoption = change_to_json(result.change), result.adoption
    return {
        "changed": value.pop("changed"),
        "scope": value.pop("scope"),
        "directory": value.pop("directory"),
        "read": [
            {"tool": document.tool, "file": document.file, "skills": len(document.imported)}
            for document in result.documents
        ],
        "adopted": [{"name": item.name, "path": item.path} for item in adoption.adoptable],
        "newFor": [{"agent": agent, "skills": list(names)} for agent, names in adoption.new_for.items()],
        "hiddenFrom": [{"agent": agent, "skills": list(names)} for agent, names in adoption.hidden_from.items()],
        "unknown": [
            *(_skipped_to_json(item) for item in (*result.skipped, *result.notes)),
            *({"name": name, "why": ALREADY_REQUIRED} for name in result.existing),
        ],
        "left": [
            {"name": item.name, "path": item.path}
            for item in (*adoption.different, *adoption.links, *adoption.identical)
        ],
        **value,
    }


def _skipped_to_json(item: SkippedSkill) -> dict[str, str]:
    return {"name": item.name, "why": item.reason} | ({"where": item.where} if item.where else {})


def _print_result(invocation: Invocation, result: ImportResult) -> None:
    console = invocation.console
    working_directory = invocation.session.settings.working_directory
    for document in result.documents:
        file = os.path.relpath(document.file, working_directory)
        console.print_message(f"read {'SKILL.md files' if os.path.isdir(document.file) else file} of {document.tool}")
    for text in (*_format_adoption(result.adoption), *_format_notes(result)):
        console.print_message(text)
    for item in result.skipped:
        where = f" ({sanitize(item.where.removeprefix(f'{working_directory}/'))})" if item.where else ""
        console.warn(f"{item.name}: not imported: {item.reason}{where}")
    if result.backup:
        console.print_message(f"renamed spm's skills.json to {os.path.basename(result.backup)}")
    if result.change.actions or not (result.existing or result.skipped):
        print_change(invocation, result.change)


def _format_adoption(adoption: Adoption) -> Iterator[str]:
    """Describe the skills in the folders of hosts: one line each, or a count where there are many."""
    groups: list[tuple[tuple[ExistingSkill, ...], str, str]] = [
        (adoption.adoptable, "matches the lockfile; adopted", "match the lockfile; adopted"),
        (adoption.links, "is a link of another tool; left as it is", "are links of another tool; left as they are"),
    ]
    for items, one, many in groups:
        for folder in dict.fromkeys(item.folder for item in items):
            in_folder = [item for item in items if item.folder == folder]
            if len(in_folder) > MAX_ITEMIZED:
                yield f"{len(in_folder)} skills in {sanitize(folder)} {many}"
                continue
            for item in in_folder:
                yield f"{item.name}: {sanitize(item.path)} {one}"
    yield from _format_identical(adoption)
    for agent, names in adoption.new_for.items():
        yield (
            f"{agent} gets what it did not have: {list_some(names, MAX_ITEMIZED)}; "
            f"to hide one, run `skillpm disable NAME --agent {agent}`"
        )
    for agent, names in adoption.hidden_from.items():
        yield (
            f"{agent} does not get what only others had: {list_some(names, MAX_ITEMIZED)}; "
            f"to show one, run `skillpm enable NAME --agent {agent}`"
        )
    for item in adoption.different:
        yield f"{item.name}: {sanitize(item.path)} {sanitize(item.difference, 200)}; left as it is"


def _format_identical(adoption: Adoption) -> Iterator[str]:
    """Describe the skills that would be adopted, were it not for others in their folders."""
    for folder in dict.fromkeys(item.folder for item in adoption.identical):
        names = [item.name for item in adoption.identical if item.folder == folder]
        others = [other.name for other in (*adoption.different, *adoption.links) if other.folder == folder]
        reason = f"{list_some(others, MAX_ITEMIZED)} in the same folder" if others else "a source in the same folder"
        if len(names) > MAX_ITEMIZED:
            many = f"{len(names)} skills in {sanitize(folder)} match the lockfile"
            yield f"{many}, but are left as they are, because of {reason}"
            continue
        for name in names:
            path = sanitize(f"{folder}/{name}")
            yield f"{name}: {path} matches the lockfile, but is left as it is, because of {reason}"


def _format_notes(result: ImportResult) -> Iterator[str]:
    for item in result.notes:
        yield f"{item.name}: {sanitize(item.reason, 400)}"
    if len(result.existing) > MAX_ITEMIZED:
        yield f"{len(result.existing)} skills: {ALREADY_REQUIRED}"
    else:
        yield from (f"{name}: {ALREADY_REQUIRED}" for name in result.existing)
