"""`skillpm verify`."""

import os
from typing import Any

import click

from skillpm.cli.options import Invocation, fetch_options, read_scope_flags
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import SkillpmError, UsageError
from skillpm.operations.inspect.verify import find_unchecked, verify
from skillpm.scope.project import Project
from skillpm.scope.project_files import require_project_in_ci
from skillpm.scope.scope import Scope
from skillpm.scope.used_scopes import read_scopes
from skillpm.vetting.acceptance import unchecked_message


@click.command(
    epilog="""\b
Examples:
  skillpm verify          exit 1 if a file differs
  skillpm verify --json   for programs
  skillpm verify --all-scopes --json   a report of this machine"""
)
@click.option("--all-scopes", is_flag=True, help="Verify user scope and every project that you have changed.")
@fetch_options
def command(call: Invocation, all_scopes: bool) -> int:  # noqa: FBT001  (a flag)
    """Verify every byte of the installed skills against the lockfile. Changes nothing."""
    if not all_scopes:
        require_project_in_ci(call.scope, call.session.settings)
        if call.console.as_json:
            document = _to_json(call.project)
            call.console.print_json(document)
            return 0 if document["ok"] else 1
        return _verify(call, call.scope)
    if any(read_scope_flags(call.flags)):
        raise UsageError("--all-scopes cannot be used with --global or --project")
    scopes = read_scopes(call.session.settings)
    if call.console.as_json:
        documents = [_to_json_or_error(Project(scope, call.session)) for scope in scopes]
        is_ok = all(document["ok"] for document in documents)
        call.console.print_json({"ok": is_ok, "scopes": documents})
        return 0 if is_ok else 1
    codes = []
    for scope in scopes:
        call.console.print_line(f"{sanitize(scope.layout.directory)}:")
        try:
            codes.append(_verify(call, scope))
        except SkillpmError as error:
            call.console.print_line(f"error: {error.message}", fg="red")
            codes.append(1)
    if not scopes:
        call.console.print_message("nothing to verify: no scope has installed skills")
    return max(codes, default=0)


def _to_json(project: Project) -> dict[str, Any]:
    from skillpm.operations.inspect.audit_trail import describe_scope, describe_skills  # noqa: PLC0415  (only for JSON)

    result, unchecked, described = (
        verify(project),
        find_unchecked(project),
        describe_skills(project),
    )
    rows = [
        {
            "name": skill.name,
            "state": skill.state,
            "files": [{"path": file.path, "state": file.state} for file in skill.files],
            **({"index": result.index_warnings[skill.name]} if skill.name in result.index_warnings else {}),
            **described.get(skill.name, {}),
        }
        for skill in result.skills
    ]
    others = {"unchecked": unchecked} if unchecked else {}
    return {"ok": result.is_ok, "skills": rows, **others, **describe_scope(project)}


def _to_json_or_error(project: Project) -> dict[str, Any]:
    """Return the document of a scope; of one that cannot be verified, why: it must not hide the others."""
    try:
        return _to_json(project)
    except SkillpmError as error:
        described = {"code": error.code, "message": error.message, "where": error.where, "hint": error.hint}
        return {
            "ok": False,
            "skills": [],
            "scope": project.scope.kind,
            "directory": project.layout.directory,
            "error": described,
        }


def _verify(call: Invocation, scope: Scope) -> int:
    """Print the result for a scope, and return the exit code."""
    result = verify(Project(scope, call.session))
    unchecked = find_unchecked(Project(scope, call.session))
    if result.is_pending:
        call.console.print_message("a change is in progress or was interrupted; this is the state after it")
    failed = [skill for skill in result.skills if skill.state not in {"ok", "link"}]
    listed = failed
    if not result.has_lockfile and any(skill.state == "not-locked" for skill in failed):
        call.console.print_wrapped(_missing_lockfile_message(scope), fg="red")
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
        call.console.print_message(unchecked_message(scope, unchecked))
    return 1 if failed else 0


def _missing_lockfile_message(scope: Scope) -> str:
    if not os.path.exists(scope.manifest):
        directory = os.path.dirname(scope.manifest)
        return f"skills.json and skills.lock are missing in {directory}; restore them to verify the installed skills"
    return f"lockfile {scope.lockfile} is missing; `skillpm lock{scope.flag}` (or `sync`) writes it"
