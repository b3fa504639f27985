"""`registry build|check`: regenerate the registry, or prove that it matches the disk."""

import os

from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.files import translate_os_errors, write_document
from skillpm.formats.registry import RegistryEntry, read_registry
from skillpm.installer.backups import back_up_legacy_registry
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.layout import load_receipt, read_registry_text
from skillpm.installer.staging import write_gitignore
from skillpm.installer.stat_cache import StatCache, read_stat_cache
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.registry.build_state import PriorState, RegistryProblem
from skillpm.registry.builder import PendingChanges, build_registry, load_prior_state


class RegistryBuildResult(Value):
    """What building found: whether the document changed, how many skills are in it, what could not be, what is odd."""

    is_changed: bool
    skill_count: int
    problems: tuple[RegistryProblem, ...]
    warnings: tuple[RegistryProblem, ...] = ()


class RegistryCheckResult(Value):
    """How the registry differs from the disk: not in it, not as it says, not there any more."""

    missing: tuple[str, ...]
    stale: tuple[str, ...]
    extra: tuple[str, ...]
    problems: tuple[RegistryProblem, ...]

    @property
    def is_ok(self) -> bool:
        """Tell whether the registry is true."""
        return not (self.missing or self.stale or self.extra)


def rebuild_registry(scope: Scope, context: Context) -> RegistryBuildResult:
    """Build the registry from what lies on disk; a SKILL.md that the stat cache vouches for is not read again."""
    disabled = read_project_files(scope, context).disabled
    layout = scope.layout
    if not os.path.exists(layout.journal):  # whether there is anything to do is seen without the lock
        known = load_prior_state(layout, read_registry_text(layout), read_stat_cache(layout.stat_cache))
        built = build_registry(
            layout, load_receipt(layout), known, PendingChanges(is_cache_only=True), disabled=disabled
        )
        if built.is_unchanged:
            return RegistryBuildResult(is_changed=False, skill_count=len(built.entries), problems=tuple(built.problems))
    # The lock and the reader bring libraries with them: only who has something to do pays for them.
    from skillpm.operations.context.scope_lock import lock_scope  # noqa: PLC0415
    from skillpm.operations.install.executor import record_file_stats  # noqa: PLC0415

    with lock_scope(scope, context):
        before, scan = read_registry_text(layout), read_stat_cache(layout.stat_cache)
        known = load_prior_state(layout, before, scan)
        built = build_registry(layout, load_receipt(layout), known, PendingChanges(), disabled=disabled)
        text = built.text
        if text != before:
            with translate_os_errors("write the registry", layout.registry):
                write_gitignore(layout, fsync=context.settings.fsync)
                back_up_legacy_registry(layout, context.reporter.warn, fsync=context.settings.fsync)
                write_document(layout.registry, text.encode(), fsync=context.settings.fsync)
        record_file_stats(scope, built)
    return RegistryBuildResult(
        is_changed=text != before,
        skill_count=len(built.entries),
        problems=tuple(built.problems),
        warnings=tuple(built.warnings),
    )


def check_registry(scope: Scope, context: Context) -> RegistryCheckResult:
    """Compare the registry with the disk; every SKILL.md is read, nothing is written."""
    disabled = read_project_files(scope, context).disabled

    def look(seen: ReadView) -> tuple[RegistryCheckResult, bool]:
        text = seen.read_document("registry", scope.layout.registry)
        nothing, ahead = (
            PriorState(entries={}, stat_cache=StatCache()),
            PendingChanges(removed_skills=seen.pending_removals, staged_skills=seen.pending_skills),
        )
        built = build_registry(
            scope.layout, seen.read_receipt(), nothing, ahead, disabled=disabled, locate_skill=seen.skill_path
        )
        entries: dict[str, RegistryEntry] = {}
        problems = [*built.problems, *built.warnings]
        if text is not None:
            try:
                entries = read_registry(text, scope.layout.registry)[0]
            except DocumentError as error:
                problems.append(RegistryProblem(path="skills.json", message=error.message))
        stale = {name for name, entry in entries.items() if name in built.entries and entry != built.entries[name]}
        if not stale and text is not None and text != built.text and {*entries} == {*built.entries}:
            stale = {"skills.json"}  # the same skills, written otherwise
        checked = RegistryCheckResult(
            missing=tuple(sorted({*built.entries} - {*entries})),
            stale=tuple(sorted(stale)),
            extra=tuple(sorted({*entries} - {*built.entries})),
            problems=tuple(problems),
        )
        return checked, checked.is_ok

    return read_until_consistent(scope.layout, look)
