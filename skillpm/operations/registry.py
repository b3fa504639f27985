"""`registry build|check`: regenerate the registry, or check that it matches the disk."""

import os

from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.files import read_text, translate_os_errors, write_document
from skillpm.formats.manifest import read_manifest
from skillpm.formats.registry import RegistryEntry, read_registry
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk.backups import back_up_legacy_registry
from skillpm.installer.disk.layout import load_receipt, read_registry_text
from skillpm.installer.disk.staging import write_gitignore
from skillpm.installer.disk.stat_cache import StatCache, read_stat_cache
from skillpm.registry.build_state import PriorState, RegistryProblem
from skillpm.registry.builder import PendingChanges, build_registry, load_prior_state
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope import Scope


class RegistryBuildResult(Value):
    """The outcome of a build."""

    is_changed: bool
    skill_count: int
    problems: tuple[RegistryProblem, ...]  # skills that are not in the registry
    warnings: tuple[RegistryProblem, ...] = ()  # about skills that are


class RegistryCheckResult(Value):
    """How the registry differs from the disk."""

    missing: tuple[str, ...]  # on disk only
    stale: tuple[str, ...]  # the entry differs
    extra: tuple[str, ...]  # in the registry only
    problems: tuple[RegistryProblem, ...]

    @property
    def is_ok(self) -> bool:
        """Whether the registry matches the disk."""
        return not (self.missing or self.stale or self.extra)


def rebuild_registry(project: Project) -> RegistryBuildResult:
    """Build the registry from disk; a SKILL.md whose stat data match the stat cache is not read again."""
    disabled = read_project_files(project).disabled
    layout = project.layout
    if not os.path.exists(layout.journal):  # without the lock, see whether there is anything to do
        prior = load_prior_state(layout, read_registry_text(layout), read_stat_cache(layout.stat_cache))
        built = build_registry(
            layout, load_receipt(layout), prior, PendingChanges(is_cache_only=True), disabled=disabled
        )
        if built.is_unchanged:
            return RegistryBuildResult(is_changed=False, skill_count=len(built.entries), problems=tuple(built.problems))
    # Imported late: the lock and the YAML reader load libraries that an unchanged build does not need.
    from skillpm.change.executor import record_file_stats  # noqa: PLC0415
    from skillpm.scope.scope_lock import lock_scope  # noqa: PLC0415

    with lock_scope(project):
        disabled = _disabled_skills(
            project.scope, read_text(project.scope.manifest)
        )  # a change that was pending is complete now
        before, scan = read_registry_text(layout), read_stat_cache(layout.stat_cache)
        prior = load_prior_state(layout, before, scan)
        built = build_registry(layout, load_receipt(layout), prior, PendingChanges(), disabled=disabled)
        text = built.text
        if text != before:
            with translate_os_errors("write the registry", layout.registry):
                write_gitignore(layout, fsync=project.settings.fsync)
                back_up_legacy_registry(layout, project.reporter.warn, fsync=project.settings.fsync)
                write_document(layout.registry, text.encode(), fsync=project.settings.fsync)
        record_file_stats(project.scope, built)
    return RegistryBuildResult(
        is_changed=text != before,
        skill_count=len(built.entries),
        problems=tuple(built.problems),
        warnings=tuple(built.warnings),
    )


def check_registry(project: Project) -> RegistryCheckResult:
    """Compare the registry with the disk; every SKILL.md is read, nothing is written."""
    read_project_files(project)  # for what is wrong with them

    def compare(view: ReadView) -> tuple[RegistryCheckResult, bool]:
        disabled = _disabled_skills(project.scope, view.read_document("manifest", project.scope.manifest))
        text = view.read_document("registry", project.layout.registry)
        no_prior = PriorState(entries={}, stat_cache=StatCache())
        pending = PendingChanges(removed_skills=view.pending_removals, staged_skills=view.pending_skills)
        built = build_registry(
            project.layout, view.read_receipt(), no_prior, pending, disabled=disabled, locate_skill=view.skill_path
        )
        entries: dict[str, RegistryEntry] = {}
        problems = [*built.problems, *built.warnings]
        if text is not None:
            try:
                entries = read_registry(text, project.layout.registry)[0]
            except DocumentError as error:
                problems.append(RegistryProblem(path="skills.json", message=error.message))
        stale = {name for name, entry in entries.items() if name in built.entries and entry != built.entries[name]}
        if not stale and text is not None and text != built.text and {*entries} == {*built.entries}:
            stale = {"skills.json"}  # the same entries, formatted differently
        result = RegistryCheckResult(
            missing=tuple(sorted({*built.entries} - {*entries})),
            stale=tuple(sorted(stale)),
            extra=tuple(sorted({*entries} - {*built.entries})),
            problems=tuple(problems),
        )
        return result, result.is_ok

    return read_until_consistent(project.layout, compare)


def _disabled_skills(scope: Scope, manifest: str | None) -> set[SkillName]:
    """Return the skills that the text of a manifest disables for all agents."""
    return set() if manifest is None else read_manifest(manifest, scope.manifest).disabled_for_all
