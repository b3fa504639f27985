"""`import`: adopt the requirements, pins and installed skills of another tool."""

import os
from collections.abc import Sequence
from functools import partial

from skillpm.adopt.adoption import Adoption, find_existing_skills, read_existing_files
from skillpm.adopt.detection import SPM_BACKUP, SPM_MANIFEST, DetectedTools, is_spm_manifest
from skillpm.adopt.pins import PinContext, PinnedImport, pin_imports
from skillpm.change.change import ChangeOptions, ChangeResult, change
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, OfflineError, SkillpmError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.files import read_text, translate_os_errors, write_document
from skillpm.foreign_formats.base import ForeignDocument, ImportedSkill, SkippedSkill
from skillpm.formats.editing.json_edit import set_member, set_members
from skillpm.kinds.archive import UrlSource
from skillpm.kinds.base import Source
from skillpm.scope.install_paths import find_install_paths, refuse_installed
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.scope import Scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.specs.local_specs import manifest_path
from skillpm.specs.plugin_specs import find_named_folder, find_plugin_skills


class ImportResult(Value):
    """The outcome of an import."""

    change: ChangeResult
    documents: tuple[ForeignDocument, ...]
    adoption: Adoption = Adoption()
    existing: tuple[SkillName, ...] = ()  # already required by the manifest
    notes: tuple[SkippedSkill, ...] = ()  # about imported skills, for example that no commit was recorded
    skipped: tuple[SkippedSkill, ...] = ()
    backup: str = ""  # path of spm's `skills.json`, if it was moved


def import_skills(project: Project, detection: DetectedTools, options: ChangeOptions) -> ImportResult:
    """Import the detected skills into a scope; those that cannot be imported are reported and skipped.

    Skills in folders of hosts that match what is locked are adopted: recorded in the receipt, without writing a byte.
    """
    fetchers = make_fetchers(project)
    collected, skipped = _collect_skills(project, detection, fetchers)
    pin_context = PinContext(fetchers=fetchers, find_installed_files=partial(read_existing_files, project))
    new, existing, conflicting = _split_existing(project, collected)
    pinned, unavailable = pin_imports(new, pin_context)
    preferred = [agent for document in detection.documents for agent in document.agents]
    adoption = find_existing_skills(
        project,
        {item.name: item for item in pinned},
        linked_agents=_read_project_files(project).agents,
        preferred_agents=preferred,
    )
    backup = _back_up_spm_manifest(project.scope, options, fsync=project.settings.fsync) if pinned else ""

    def edit(files: ProjectFiles) -> ProjectFiles:
        return _add_imports(files, pinned, adoption)

    selected = options.replace(install=options.install.replace(selected=[item.name for item in pinned], inexact=True))
    result = (
        change(project, selected, edit, read_files=_read_project_files)
        if pinned
        else _unchanged_result(project, options)
    )
    return ImportResult(
        change=result,
        documents=detection.documents,
        adoption=adoption,
        existing=tuple(existing),
        notes=tuple(SkippedSkill(name=item.name, reason=note) for item in pinned for note in item.notes),
        skipped=(*skipped, *conflicting, *unavailable),
        backup=backup,
    )


def _collect_skills(
    project: Project, detection: DetectedTools, fetchers: FetcherDispatcher
) -> tuple[list[ImportedSkill], list[SkippedSkill]]:
    """Return the skills of all documents, the first of each name, with paths relative to this scope's manifest."""
    by_name: dict[SkillName, ImportedSkill] = {}
    skipped = [item for document in detection.documents for item in document.skipped]
    for document in detection.documents:
        skills = list(document.imported)
        for plugin in document.plugins:
            try:
                skills += [
                    item.replace(where=plugin.where) for item in find_plugin_skills(plugin, detection.folder, fetchers)
                ]
            except OfflineError:
                raise
            except SkillpmError as error:
                label = f"plugin {sanitize(plugin.name, 80)}"
                skipped.append(SkippedSkill(name=label, reason=error.message, where=error.where or plugin.where))
        for item in skills:
            first = by_name.setdefault(item.name, item)
            if not _is_same_source(first.source, item.source):
                reason = "another skill of that name takes precedence"
                skipped.append(SkippedSkill(name=f"{item.name} of {document.tool}", reason=reason))
    relocated = []
    for item in by_name.values():
        try:
            relocated.append(item.replace(source=_relocate_source(item, project, detection.folder)))
        except SkillpmError as error:
            skipped.append(SkippedSkill(name=item.name, reason=error.message, where=item.where))
    return relocated, skipped


def _is_same_source(left: Source, right: Source) -> bool:
    """Return whether two sources are the same place; for git, whatever ref they follow, or if only one has the path."""
    return left == right or left.is_same_folder(right)


def _relocate_source(item: ImportedSkill, project: Project, folder: str) -> Source:
    """Make a source's path relative to this scope's manifest."""
    source = item.source
    if source.local_path and not isinstance(source, UrlSource):
        path = find_named_folder(item.name, _absolute_path(source.local_path, folder))
        install_paths = find_install_paths(project.scope, project.settings)
        refuse_installed(project.scope, install_paths, os.path.relpath(path, folder), os.path.realpath(path))
        return source.with_local_path(manifest_path(project, path))
    if source.local_path:
        return source.with_local_path(manifest_path(project, _absolute_path(source.local_path, folder)))
    return source


def _absolute_path(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


def _split_existing(
    project: Project, skills: Sequence[ImportedSkill]
) -> tuple[list[ImportedSkill], list[SkillName], list[SkippedSkill]]:
    """Split skills into new ones, those that the manifest already requires, and those it requires from another source.

    The manifest is never overwritten: its requirements are decisions of this project.
    """
    requirements = _read_project_files(project).requirements
    existing = {item.name: item for item in skills if item.name in requirements}
    same = [name for name, item in existing.items() if _is_same_source(requirements[name], item.source)]
    reason = "the manifest already requires another skill of that name"
    conflicting = [
        SkippedSkill(name=name, reason=reason, where=item.where) for name, item in existing.items() if name not in same
    ]
    return [item for item in skills if item.name not in requirements], same, conflicting


def _read_project_files(project: Project) -> ProjectFiles:
    """Read the documents of a scope, treating spm's `skills.json` as a missing manifest."""
    if not is_spm_manifest(project.scope.manifest):
        return read_project_files(project)
    without_manifest = project.scope.replace(manifest=project.scope.manifest + ".none")
    files = read_project_files(project.in_scope(without_manifest))
    return files.replace(
        manifest=files.manifest.replace(file=project.scope.manifest),
        original_manifest_text=read_text(project.scope.manifest),
    )


def _add_imports(files: ProjectFiles, imports: Sequence[PinnedImport], adoption: Adoption) -> ProjectFiles:
    """Add requirements, agents and what stays hidden from them to the manifest, and the pins to the lockfile."""
    text = files.editable_manifest
    if imports:
        text = set_members(text, ("skills",), {item.name: item.source.to_json() for item in imports})
    agents = list(dict.fromkeys([*files.agents, *adoption.agents]))
    if agents != [*files.agents]:
        text = set_member(text, ("agents",), agents)
    disabled = dict(files.manifest.disabled)
    for agent, names in adoption.hidden_from.items():
        for name in names:
            if disabled.get(name) is not True:
                disabled[name] = [*dict.fromkeys([*disabled.get(name, ()), agent])]
                text = set_member(text, ("disabled", name), disabled[name])
    before = files.lockfile
    lockfile = before.replace(
        requirements={**before.requirements, **{item.name: item.source.to_json() for item in imports}},
        skills={**before.skills, **{item.name: item.locked for item in imports}},
    )
    return files.with_manifest_text(text).replace(lockfile=lockfile, is_lockfile_composed=True)


def _back_up_spm_manifest(scope: Scope, options: ChangeOptions, *, fsync: bool) -> str:
    """Copy spm's `skills.json`, which is about to be overwritten. Raises `ConflictError` if the backup exists."""
    if options.dry_run or not is_spm_manifest(scope.manifest):
        return ""
    backup = os.path.join(scope.root, SPM_BACKUP)
    text = read_text(scope.manifest) or ""
    existing = read_text(backup)
    if existing not in {None, text}:
        raise ConflictError(
            f"{SPM_MANIFEST} is spm's, and {SPM_BACKUP}, to which it would be backed up, already exists",
            where=backup,
            hint="move one of them away",
        )
    with translate_os_errors("back up spm's skills.json", backup):
        write_document(backup, text.encode(), fsync=fsync)
    return backup


def _unchanged_result(project: Project, options: ChangeOptions) -> ChangeResult:
    return ChangeResult(
        is_changed=False,
        scope=project.scope.kind,
        directory=project.layout.directory,
        warnings=tuple(project.reporter.warnings),
        is_dry_run=options.dry_run,
    )
