"""`install`: add skills to the manifest, resolve only what is new, and install it."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from skillpm.agent_hosts.known_agents import project_folders
from skillpm.change.change import ChangeOptions, ChangeResult, change
from skillpm.core.git_syntax import short_commit
from skillpm.core.names import parse_skill_name
from skillpm.core.text import sanitize
from skillpm.errors import (
    ConflictError,
    FetchError,
    NotFoundError,
    NotTrusted,
    OfflineError,
    RefusedError,
    UnknownSkillError,
    UsageError,
)
from skillpm.formats.editing.json_edit import set_members
from skillpm.kinds.base import EXAMPLES, Source
from skillpm.kinds.git import GitSource
from skillpm.kinds.index import IndexSource
from skillpm.operations.agents import add_agents, require_agent_folders
from skillpm.requirements.manifest_requirements import rebase_source
from skillpm.requirements.specifier import ARCHIVE_SUFFIXES
from skillpm.scope.left_out import LeftOut, describe_reason, report_left_out
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files, require_project_manifest
from skillpm.scope.scope import Scope
from skillpm.scope.scope_fetchers import configured_indexes, make_fetchers
from skillpm.specs.request import InstallRequest, NewRequirement
from skillpm.specs.sibling_skills import sibling_notes
from skillpm.specs.spec_requirements import is_same_origin, is_satisfied, parse_requests
from skillpm.specs.whole_folders import add_includes, include_notes, parse_includes

MAX_NAMED = 4


def install(project: Project, request: InstallRequest, options: ChangeOptions) -> ChangeResult:
    """Add skills to the manifest and install them. Skills that are there from the same source stay as they are."""
    if options.lock_policy.locked or options.lock_policy.frozen:
        flag = "--locked" if options.lock_policy.locked else "--frozen"
        sync, add = project.command("sync", flag), project.command("install")
        hint = f"use `{sync}` to install what is locked, or `{add}` without {flag} to add the SPEC"
        raise UsageError(f"{flag} does not allow adding a SPEC", hint=hint)
    group = parse_skill_name(request.group) if request.group else ""
    require_project_manifest(project.scope, project.settings)  # before any server is contacted
    require_agent_folders(request.agents, project)
    with _hint_local_path(request.specs, project.settings.working_directory), _suggest_public(project, request.specs):
        before = read_project_files(project)
        copies = make_fetchers(project).with_locked(before.whole_lockfile.skills).copies
        if request.agents:
            copies.agent_folders = project_folders([*(before.manifest.agents or ()), *request.agents])
        includes, request = parse_includes(project, request)
        requested = parse_requests(project, request, force=options.install.force)
        additions, local_notes = requested, list[str]()
        if any(addition.source.is_read_each_time for addition in requested):
            from skillpm.specs.local_siblings import add_local_siblings  # noqa: PLC0415  (only for local folders)

            additions, local_notes = add_local_siblings(project, before, requested)

        def attempt(additions: Sequence[NewRequirement]) -> ChangeResult:
            names = [*(addition.name for addition in additions), *(name for new in includes for name in new.names)]

            def edit(files: ProjectFiles) -> ProjectFiles:
                files = _add_requirements(
                    project, files, additions, names_folder=bool(request.path), force=options.install.force
                )
                files = add_includes(files, includes)
                if group:
                    from skillpm.change.groups import add_to_group  # noqa: PLC0415  (only with --group)

                    files = add_to_group(files, group, names)
                return add_agents(files, request.agents) if request.agents else files

            install_options = options.install.replace(
                selected=names, inexact=True, is_linking_requested=bool(request.agents)
            )
            refreshed = tuple(new.include.source.url for new in includes)
            return change(
                project, options.replace(install=install_options, adds_indexes=True, refreshed=refreshed), edit
            )

        result, installed = _attempt_without_refused(project, before, additions, attempt)
        notes = tuple(local_notes)
        notes += tuple(note for addition in installed if (note := _kept_ref_note(before, addition)))
        notes += tuple(include_notes(before, includes))
        if not options.dry_run:
            new = [action.name for action in result.actions if action.verb in {"add", "update"}]
            lockfile = read_project_files(project).lockfile
            notes += tuple(sibling_notes(project.scope, make_fetchers(project), lockfile, new))
        return result.replace(notes=(*result.notes, *notes), warnings=tuple(project.reporter.warnings))


def _attempt_without_refused(
    project: Project,
    before: ProjectFiles,
    additions: Sequence[NewRequirement],
    attempt: Callable[[Sequence[NewRequirement]], ChangeResult],
) -> tuple[ChangeResult, Sequence[NewRequirement]]:
    """Install, again without what is refused of a folder, a site or a package of which all skills were asked for.

    A refusal changes nothing, so this is the same as asking for the others at once. Returns what was asked for at last.
    """
    left_out: list[LeftOut] = []
    while True:
        optional = {it.name for it in additions if it.place and it.name not in before.whole_lockfile.skills}
        try:
            result = attempt(additions)
        except (RefusedError, NotTrusted) as error:
            failed = {*error.skills} & optional
            if not failed or not {*error.skills} <= failed or len(failed) == len(additions):
                raise
            found = [_leave_out(project.scope, it, error) for it in additions if it.name in failed]
            report_left_out(project.reporter, found)
            left_out += found
            additions = [it for it in additions if it.name not in failed]
        else:
            return result.replace(left_out=(*result.left_out, *left_out)), additions


def _leave_out(scope: Scope, addition: NewRequirement, error: RefusedError | NotTrusted) -> LeftOut:
    name, place = addition.name, sanitize(addition.place)
    if isinstance(error, RefusedError):
        part = next((part for part in error.parts if name in part.skills), error)
        return LeftOut(name=name, place=place, reason=describe_reason(name, part))
    problems = [problem for problem in error.problems if problem["skill"] == name]
    reason = ": ".join(filter(None, (problems[0][key] for key in ("rule", "where", "message"))))
    more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
    rules = dict.fromkeys(problem["rule"] for problem in problems)
    words = [word for rule in rules for word in ("--allow", rule)]
    is_allowable = all(problem["kind"] == "audit" for problem in problems)
    option = (scope.command("install", addition.place, "--all", *words), "takes it")
    return LeftOut(name=name, place=place, reason=f"{reason}{more}", options=(option,) if is_allowable else ())


def _add_requirements(
    project: Project,
    files: ProjectFiles,
    additions: Sequence[NewRequirement],
    *,
    names_folder: bool,
    force: bool,
) -> ProjectFiles:
    """Add the requirements to the manifest. Raises `ConflictError` for a name that has another source.

    `names_folder`: the user named the folder, and so chose another skill of the name in the same repository.
    """
    values: dict[str, Any] = {}
    for addition in additions:
        existing = files.requirements.get(addition.name)
        if existing == rebase_source(addition.source, project.scope.member) or is_satisfied(addition, existing):
            continue
        locked = files.lockfile.skills.get(addition.name)
        if existing is not None and not force:
            indexes = configured_indexes(project.scope, project.settings)
            source = rebase_source(addition.source, project.scope.member)
            is_chosen = names_folder and _is_same_repository(source, existing)
            if not (is_chosen or is_same_origin(source, existing, locked, indexes)):
                raise ConflictError(
                    f"`{addition.name}` is already required from {existing.describe()}",
                    where=f"{files.manifest.file}: skills.{addition.name}",
                    hint=_replace_hint(project.scope, addition, has_indexes=bool(indexes)),
                )
        source = addition.source
        if isinstance(source, GitSource) and isinstance(existing, GitSource) and source.is_same_folder(existing):
            source = source.replace(files=source.files or existing.files)
        values[addition.name] = source.to_json()
    text = set_members(files.editable_manifest, ("skills",), values) if values else files.editable_manifest
    if text == files.manifest_text or not additions:
        return files
    ranged = {addition.name for addition in additions if addition.gets_range and addition.name in values}
    return files.with_manifest_text(text).replace(added=frozenset(values), ranged=frozenset(ranged))


def _is_same_repository(new: Source, old: Source) -> bool:
    """Return whether both are folders of one repository."""
    return isinstance(new, GitSource) and isinstance(old, GitSource) and new.url == old.url


def _replace_hint(scope: Scope, addition: NewRequirement, *, has_indexes: bool) -> str:
    """Return how to replace the existing skill; a skill that was not found anywhere yet may not exist."""
    source = addition.source
    if isinstance(source, IndexSource) and (source.version == "*" or not addition.is_bare):
        update = f"to update it, run `{scope.command('update', addition.name)}`"
        return f"{update}; to replace it, use --force, if an index has the new one" if has_indexes else update
    if source.bundled_name or isinstance(source, IndexSource):
        return "use --force to replace it"
    return "use --as NAME to install the new one under another name, or --force to replace the existing one"


def _kept_ref_note(files: ProjectFiles, addition: NewRequirement) -> str:
    """Return the note that a skill stays at its ref, since the SPEC names none; empty for others."""
    existing = files.requirements.get(addition.name)
    if not isinstance(existing, GitSource) or not existing.kind or not is_satisfied(addition, existing):
        return ""
    ref = short_commit(existing.ref) if existing.kind == "rev" else sanitize(existing.ref, 60)
    return f"{addition.name} stays at {ref}, as skills.json specifies; to change it, put #REF before @{addition.name}"


@contextmanager
def _hint_local_path(specs: Sequence[str], directory: str) -> Iterator[None]:
    """Add a hint to an error about one of `specs` if a local skill has that path; other errors are unchanged."""
    try:
        yield
    except (UsageError, NotFoundError, FetchError, OfflineError) as error:
        is_about_flags = isinstance(error, UsageError) and error.hint != EXAMPLES
        local = next(
            (spec for spec in specs if sanitize(spec) in error.message and _is_local_skill(directory, spec)), None
        )
        if local is not None and not is_about_flags:
            error.hint = f"to install the local one, use `./{sanitize(local)}`"
        raise


@contextmanager
def _suggest_public(project: Project, specs: Sequence[str]) -> Iterator[None]:
    """Add the public skills of that name to the error that no index has one of `specs`."""
    try:
        yield
    except UnknownSkillError as error:
        from skillpm.operations.suggestions import suggest_name  # noqa: PLC0415  (only after a mistake)

        if not {error.spec, f"bundled:{error.spec}"} & {*specs} or not (skills := suggest_name(project, error.spec)):
            raise
        error.choices = tuple((it.spec, it.folder, it.summary) for it in skills)
        others = f" (or from {', '.join(it.repository for it in skills[1:MAX_NAMED])})" if skills[1:] else ""
        command = project.command("install", skills[0].spec)
        error.hint = f"a well-known public repository has it, not reviewed: {command}{others}"
        raise


def _is_local_skill(directory: str, spec: str) -> bool:
    if not spec or "\0" in spec or spec.startswith(("/", "./", "../", "~")):
        return False
    path = os.path.join(directory, spec)
    return os.path.isfile(os.path.join(path, "SKILL.md")) or (path.endswith(ARCHIVE_SUFFIXES) and os.path.isfile(path))
