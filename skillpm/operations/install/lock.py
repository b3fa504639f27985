"""`lock`: resolve only; nothing is installed."""

import os
from collections.abc import Sequence

from skillpm.core.values import Value
from skillpm.files import translate_os_errors, write_document
from skillpm.installer.actions import version_label
from skillpm.operations.context.missing_manifest import require_manifest, require_project_manifest
from skillpm.operations.context.project_files import ProjectFiles, check_unchanged, read_project_files, retry_if_changed
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_lock import lock_scope, remove_empty_directory
from skillpm.operations.inspect.yanked import warn_yanked
from skillpm.operations.install.index_policy import (
    find_user_only_indexes,
    missing_index_message,
    select_upgrades,
    unconfigured_index_messages,
)
from skillpm.operations.install.lock_resolution import (
    LockPolicy,
    find_changed_skills,
    find_lock_conflicts,
    make_fetchers,
    render_lockfile,
    resolve_lockfile,
)


class LockResult(Value):
    """What locking changed, or would change: (name, from, to). `same_content` names those whose
    bytes stay as they are. `reasons` say why it was not up to date.
    """

    is_changed: bool
    is_up_to_date: bool
    changes: tuple[tuple[str, str, str], ...] = ()
    unchanged_content: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def lock(scope: Scope, context: Context, *, dry_run: bool = False, upgrade: Sequence[str] | None = None) -> LockResult:
    """Make the lockfile say what the manifest asks; of the skills in `upgrade` (all where it is empty) the newest."""
    require_project_manifest(scope, context.settings)
    if dry_run:
        papers = require_manifest(scope, read_project_files(scope, context))
        return _resolve_lock(scope, context, papers, upgrade)[0].replace(is_changed=False)
    was_there = os.path.isdir(scope.layout.internal_dir)
    try:
        with lock_scope(scope, context):
            result = retry_if_changed(lambda: _lock_and_write(scope, context, upgrade))
    finally:
        if not was_there:
            remove_empty_directory(scope)
    return result


def _lock_and_write(scope: Scope, context: Context, upgrade: Sequence[str] | None) -> LockResult:
    """Lock as the documents say now. Only under the lock; raises `DocumentMoved` where one was saved meanwhile."""
    papers = require_manifest(scope, read_project_files(scope, context))
    result, text = _resolve_lock(scope, context, papers, upgrade)
    check_unchanged(scope, papers)
    if result.is_changed:
        with translate_os_errors("write the lockfile", scope.lockfile):
            write_document(
                scope.lockfile,
                text.encode(),
                fsync=context.settings.fsync,
                follow_links=True,
                before_rename=lambda: check_unchanged(scope, papers),
            )
    return result


def _resolve_lock(
    scope: Scope, context: Context, files: ProjectFiles, upgrade: Sequence[str] | None
) -> tuple[LockResult, str]:
    """Give what locking would change, and the lockfile's text afterwards."""
    names = () if upgrade is None else select_upgrades(scope, files, context.settings, upgrade)
    after = resolve_lockfile(scope, files, make_fetchers(scope, context), LockPolicy(), names)
    for message in unconfigured_index_messages(scope, files, after, context.settings, upgrade or None):
        context.reporter.warn(message)
    text = render_lockfile(after, files)
    is_same = text == files.lockfile_text
    for place in () if is_same else find_user_only_indexes(scope, context.settings, files, after):
        context.reporter.warn(missing_index_message(scope, files, place))
    changed = find_changed_skills(files.lockfile, after)
    warn_yanked(scope, context, files.lockfile, after, [*names])
    rows = [(name, version_label(old), version_label(new)) for name, old, new in changed]
    result = LockResult(
        is_changed=not is_same,
        is_up_to_date=is_same,
        changes=tuple(rows),
        unchanged_content=tuple(name for name, old, new in changed if old and new and old.digest == new.digest),
        reasons=tuple(find_lock_conflicts(files)),
        warnings=tuple(context.reporter.warnings),
    )
    return result, text


def check_lock(scope: Scope, context: Context) -> LockResult:
    """Tell whether the lockfile is up to date. Writes nothing, asks nobody; local folders are read."""
    require_project_manifest(scope, context.settings)
    papers = require_manifest(scope, read_project_files(scope, context))
    reasons = find_lock_conflicts(papers)
    if not reasons and papers.lockfile_text is not None:
        after = resolve_lockfile(scope, papers, make_fetchers(scope, context), LockPolicy())
        reasons = [f"the content of `{name}` has changed" for name, _, _ in find_changed_skills(papers.lockfile, after)]
    if papers.lockfile_text is None:
        reasons = ["there is no lockfile"]
    for message in unconfigured_index_messages(scope, papers, papers.lockfile, context.settings):
        context.reporter.warn(message)
    warnings = tuple(context.reporter.warnings)
    return LockResult(is_changed=False, is_up_to_date=not reasons, reasons=tuple(reasons), warnings=warnings)
