"""`import`: take over what another tool installed: its requirements, what they were exactly, what lies here."""

import os
from collections.abc import Sequence
from functools import partial

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, OfflineError, SkillpmError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.files import read_text, translate_os_errors, write_document
from skillpm.foreign_formats.base import ForeignDocument, ImportedSkill, SkippedSkill
from skillpm.formats.json_edit import set_member
from skillpm.operations.context.project_files import ProjectFiles, read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.foreign_import.adoption import Adoption, find_existing_skills, read_existing_files
from skillpm.operations.foreign_import.detection import SPM_BACKUP, SPM_MANIFEST, DetectedTools, is_spm_manifest
from skillpm.operations.foreign_import.pins import PinContext, PinnedImport, pin_imports
from skillpm.operations.install.local_specs import manifest_path
from skillpm.operations.install.lock_resolution import make_fetchers
from skillpm.operations.install.pipeline import ChangeOptions, ChangeResult, change
from skillpm.operations.install.plugin_specs import find_named_folder, find_plugin_skills
from skillpm.operations.install.source_policy import find_install_paths, refuse_installed
from skillpm.requirements.source import GitSource, PathSource, Source, UrlSource, requirement_value


class ImportResult(Value):
    """What was taken over. `notes` are what could not be known of a skill that was, `left` are those that were not,
    `there` those that the manifest asks for already.
    """

    change: ChangeResult
    documents: tuple[ForeignDocument, ...]
    adoption: Adoption = Adoption()
    existing: tuple[SkillName, ...] = ()
    notes: tuple[SkippedSkill, ...] = ()
    skipped: tuple[SkippedSkill, ...] = ()
    backup: str = ""


def import_skills(scope: Scope, context: Context, detection: DetectedTools, options: ChangeOptions) -> ImportResult:
    """Take over what was found into a scope. What cannot be taken over is named with the reason, and stops nothing.

    What lies in a host's folder and agrees with what is locked is adopted: the receipt takes it over, and not a byte
    of it is written.
    """
    fetchers = make_fetchers(scope, context)
    taken, left = _collect_skills(scope, context, detection, fetchers)
    known = PinContext(fetchers=fetchers, find_installed_files=partial(read_existing_files, scope, context))
    wanted, there, clashing = _split_existing(scope, context, taken)
    exact, not_to_be_had = pin_imports(wanted, known)
    left += [*clashing, *not_to_be_had]
    preferred = [agent for reading in detection.documents for agent in reading.agents]
    lying = find_existing_skills(scope, context, {item.name: item for item in exact}, preferred)
    aside = _back_up_spm_manifest(scope, options, fsync=context.settings.fsync) if exact else ""

    def edit(papers: ProjectFiles) -> ProjectFiles:
        return _add_imports(papers, exact, lying)

    touched = options.replace(install=options.install.replace(selected=[item.name for item in exact], inexact=True))
    changed = (
        change(scope, context, touched, edit, read_files=_read_project_files)
        if exact
        else _unchanged_result(scope, context, options)
    )
    return ImportResult(
        change=changed,
        documents=detection.documents,
        adoption=lying,
        existing=tuple(there),
        notes=tuple(SkippedSkill(name=item.name, reason=note) for item in exact for note in item.notes),
        skipped=tuple(left),
        backup=aside,
    )


def _collect_skills(
    scope: Scope, context: Context, detection: DetectedTools, fetchers: FetcherDispatcher
) -> tuple[list[ImportedSkill], list[SkippedSkill]]:
    """Give every skill of all readings, paths as this scope's manifest says them; of one name the first counts."""
    taken: dict[SkillName, ImportedSkill] = {}
    left = [item for reading in detection.documents for item in reading.skipped]
    for reading in detection.documents:
        found = list(reading.imported)
        for plugin in reading.plugins:
            try:
                found += [
                    item.replace(where=plugin.where) for item in find_plugin_skills(plugin, detection.folder, fetchers)
                ]
            except OfflineError:
                raise
            except SkillpmError as error:
                called = f"plugin {sanitize(plugin.name, 80)}"
                left.append(SkippedSkill(name=called, reason=error.message, where=error.where or plugin.where))
        for item in found:
            there = taken.setdefault(item.name, item)
            if not _is_same_source(there.source, item.source):
                left.append(
                    SkippedSkill(name=f"{item.name} of {reading.tool}", reason="another one of that name came first")
                )
    placed = []
    for item in taken.values():
        try:
            placed.append(item.replace(source=_relocate_source(item, scope, context, detection.folder)))
        except SkillpmError as error:
            left.append(SkippedSkill(name=item.name, reason=error.message, where=item.where))
    return placed, left


def _is_same_source(left: Source, right: Source) -> bool:
    """Tell whether two tools had a skill from one place, whatever each followed there."""
    if isinstance(left, GitSource) and isinstance(right, GitSource):
        return (left.url, left.path) == (right.url, right.path)
    return left == right


def _relocate_source(item: ImportedSkill, scope: Scope, context: Context, folder: str) -> Source:
    """Give a source whose path starts where this scope's manifest is."""
    source = item.source
    if isinstance(source, PathSource):
        whole = find_named_folder(item.name, _absolute_path(source.path, folder))
        refuse_installed(
            find_install_paths(scope, context.settings), os.path.relpath(whole, folder), os.path.realpath(whole)
        )
        return source.replace(path=manifest_path(scope, context, whole))
    if isinstance(source, UrlSource) and "://" not in source.url:
        return source.replace(url=manifest_path(scope, context, _absolute_path(source.url, folder)))
    return source


def _absolute_path(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


def _split_existing(
    scope: Scope, context: Context, skills: Sequence[ImportedSkill]
) -> tuple[list[ImportedSkill], list[SkillName], list[SkippedSkill]]:
    """Leave those out that the manifest asks for already: what is written there is what somebody decided here.

    Gives what is new, what is asked for already, and what the manifest asks of another place.
    """
    asked = _read_project_files(scope, context).requirements
    there = {item.name: item for item in skills if item.name in asked}
    same = [name for name, item in there.items() if _is_same_source(asked[name], item.source)]
    why = "the manifest asks for another one of that name already"
    clashing = [
        SkippedSkill(name=name, reason=why, where=item.where) for name, item in there.items() if name not in same
    ]
    return [item for item in skills if item.name not in asked], same, clashing


def _read_project_files(scope: Scope, context: Context) -> ProjectFiles:
    """Read the documents of a scope, where spm's `skills.json` stands for none of ours."""
    if not is_spm_manifest(scope.manifest):
        return read_project_files(scope, context)
    away = scope.replace(manifest=scope.manifest + ".none")
    papers = read_project_files(away, context)
    return papers.replace(
        manifest=papers.manifest.replace(file=scope.manifest), original_manifest_text=read_text(scope.manifest)
    )


def _add_imports(files: ProjectFiles, imports: Sequence[PinnedImport], adoption: Adoption) -> ProjectFiles:
    """Write the requirements, and the hosts, into the manifest, and what they are exactly into the lockfile."""
    text = files.editable_manifest
    for item in imports:
        text = set_member(text, ("skills", item.name), requirement_value(item.source))
    agents = list(dict.fromkeys([*files.agents, *adoption.agents]))
    if agents != [*files.agents]:
        text = set_member(text, ("agents",), agents)
    before = files.lockfile
    lockfile = before.replace(
        requirements={**before.requirements, **{item.name: requirement_value(item.source) for item in imports}},
        skills={**before.skills, **{item.name: item.locked for item in imports}},
    )
    return files.with_manifest_text(text).replace(lockfile=lockfile, is_lockfile_imported=True)


def _back_up_spm_manifest(scope: Scope, options: ChangeOptions, *, fsync: bool) -> str:
    """Keep spm's `skills.json` under another name, since ours takes its place. Raises `ConflictError` where one is."""
    if options.dry_run or not is_spm_manifest(scope.manifest):
        return ""
    aside = os.path.join(scope.root, SPM_BACKUP)
    text = read_text(scope.manifest) or ""
    there = read_text(aside)
    if there not in {None, text}:
        raise ConflictError(
            f"{SPM_MANIFEST} is spm's, and {SPM_BACKUP}, where it would be kept, is there already",
            where=aside,
            hint="move one of them away",
        )
    with translate_os_errors("keep spm's skills.json", aside):
        write_document(aside, text.encode(), fsync=fsync)
    return aside


def _unchanged_result(scope: Scope, context: Context, options: ChangeOptions) -> ChangeResult:
    return ChangeResult(
        is_changed=False,
        scope=scope.kind,
        directory=scope.layout.directory,
        warnings=tuple(context.reporter.warnings),
        is_dry_run=options.dry_run,
    )
