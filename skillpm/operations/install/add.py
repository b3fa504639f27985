"""`install`: add skills to the manifest, resolve only what is new, and install it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import parse_skill_name
from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, FetchError, NotFoundError, OfflineError, UsageError
from skillpm.formats.editing.json_edit import set_members
from skillpm.operations.agents import add_agents, require_agent_folders
from skillpm.operations.context.project_files import ProjectFiles, read_project_files, require_project_manifest
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_fetchers import configured_indexes
from skillpm.operations.install.local_siblings import add_local_siblings
from skillpm.operations.install.request import InstallRequest, NewRequirement, describe_source
from skillpm.operations.install.sibling_skills import sibling_notes
from skillpm.operations.install.spec_requirements import is_same_origin, is_satisfied, parse_requests
from skillpm.operations.install.whole_folders import add_includes, include_notes, parse_includes
from skillpm.operations.pipeline.change import ChangeOptions, ChangeResult, change
from skillpm.operations.pipeline.groups import add_to_group
from skillpm.requirements.declared_dependencies import is_same_folder
from skillpm.requirements.manifest_requirements import rebase_source
from skillpm.requirements.source import BundledSource, GitSource, IndexSource, requirement_value
from skillpm.requirements.specifier import ARCHIVE_SUFFIXES
from skillpm.requirements.specifier_hints import EXAMPLES


def install(scope: Scope, context: Context, request: InstallRequest, options: ChangeOptions) -> ChangeResult:
    """Add skills to the manifest and install them. Skills that are there from the same source stay as they are."""
    if options.lock_policy.locked or options.lock_policy.frozen:
        flag = "--locked" if options.lock_policy.locked else "--frozen"
        sync, add = scope.command("sync", flag), scope.command("install")
        hint = f"use `{sync}` to install what is locked, or `{add}` without {flag} to add the SPEC"
        raise UsageError(f"{flag} does not allow adding a SPEC", hint=hint)
    group = parse_skill_name(request.group) if request.group else ""
    require_project_manifest(scope, context.settings)  # before any server is contacted
    require_agent_folders(request.agents, scope, context)
    with _hint_local_path(request.specs, context.settings.working_directory):
        includes, request = parse_includes(scope, context, request)
        before = read_project_files(scope, context)
        requested = parse_requests(scope, context, request, force=options.install.force)
        additions, local_notes = add_local_siblings(scope, context, before, requested)
        names = [*(addition.name for addition in additions), *(name for new in includes for name in new.names)]
        install_options = options.install.replace(
            selected=names, inexact=True, is_linking_requested=bool(request.agents)
        )

        def edit(files: ProjectFiles) -> ProjectFiles:
            files = _add_requirements(scope, context, files, additions, force=options.install.force)
            files = add_includes(files, includes)
            files = add_to_group(files, group, names) if group else files
            return add_agents(files, request.agents) if request.agents else files

        refreshed = tuple(new.include.source.url for new in includes)
        options = options.replace(install=install_options, adds_indexes=True, refreshed=refreshed)
        result = change(scope, context, options, edit)
        notes = tuple(local_notes)
        notes += tuple(note for addition in additions if (note := _kept_ref_note(before, addition)))
        notes += tuple(include_notes(before, includes))
        if not options.dry_run:
            new = [action.name for action in result.actions if action.verb in {"add", "update"}]
            notes += tuple(sibling_notes(scope, read_project_files(scope, context).lockfile, new))
        return result.replace(notes=(*result.notes, *notes), warnings=tuple(context.reporter.warnings))


def _add_requirements(
    scope: Scope, context: Context, files: ProjectFiles, additions: Sequence[NewRequirement], *, force: bool
) -> ProjectFiles:
    """Add the requirements to the manifest. Raises `ConflictError` for a name that has another source."""
    values: dict[str, Any] = {}
    for addition in additions:
        existing = files.requirements.get(addition.name)
        if existing == rebase_source(addition.source, scope.member) or is_satisfied(addition, existing):
            continue
        locked = files.lockfile.skills.get(addition.name)
        if existing is not None and not force:
            indexes = configured_indexes(scope, context.settings)
            if not is_same_origin(rebase_source(addition.source, scope.member), existing, locked, indexes):
                raise ConflictError(
                    f"`{addition.name}` is already required from {describe_source(existing)}",
                    where=f"{files.manifest.file}: skills.{addition.name}",
                    hint=_replace_hint(addition),
                )
        source = addition.source
        if isinstance(source, GitSource) and isinstance(existing, GitSource) and is_same_folder(source, existing):
            source = source.replace(files=source.files or existing.files)
        values[addition.name] = requirement_value(source)
    text = set_members(files.editable_manifest, ("skills",), values) if values else files.editable_manifest
    if text == files.manifest_text or not additions:
        return files
    ranged = {addition.name for addition in additions if addition.gets_range and addition.name in values}
    return files.with_manifest_text(text).replace(added=frozenset(values), ranged=frozenset(ranged))


def _replace_hint(addition: NewRequirement) -> str:
    """Return how to replace the existing skill; a skill that was not found anywhere yet may not exist."""
    source = addition.source
    if isinstance(source, IndexSource) and (source.version == "*" or not addition.is_bare):
        return "use --force to replace it, if an index has the new one"
    if isinstance(source, BundledSource | IndexSource):
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


def _is_local_skill(directory: str, spec: str) -> bool:
    if not spec or "\0" in spec or spec.startswith(("/", "./", "../", "~")):
        return False
    path = os.path.join(directory, spec)
    return os.path.isfile(os.path.join(path, "SKILL.md")) or (path.endswith(ARCHIVE_SUFFIXES) and os.path.isfile(path))
