"""`lock`: resolve and write the lockfile; install nothing."""

import os
from collections.abc import Mapping, Sequence

from skillpm.core.conflict_markers import MERGE_HINT, split_sides
from skillpm.core.limits import MAX_DOCUMENT_SIZE
from skillpm.core.names import SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.values import Value
from skillpm.errors import DocumentError, SkillpmError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.files import read_text
from skillpm.formats.lockfile import LockedSkill, MergedLockfile, merge_sides
from skillpm.installer.actions import version_label
from skillpm.locking.index_policy import (
    find_user_only_indexes,
    missing_index_message,
    select_upgrades,
    unconfigured_index_messages,
)
from skillpm.locking.lock_proof import LockProof, prove_lock
from skillpm.locking.lock_resolution import (
    LockPolicy,
    find_changed_skills,
    find_lock_conflicts,
    render_lockfile,
    resolve_lockfile,
)
from skillpm.locking.moved_refs import report_moved_tags
from skillpm.locking.refused_includes import RefusalOptions, leave_out_refused
from skillpm.locking.upgrade import FailedUpdate, UpgradeOptions, resolve_upgrade
from skillpm.locking.yanked import warn_yanked
from skillpm.scope.effective_settings import read_user_setting
from skillpm.scope.left_out import LeftOut
from skillpm.scope.project import Project
from skillpm.scope.project_files import (
    ProjectFiles,
    check_unchanged,
    keep_bundled,
    read_project_files,
    require_manifest,
    require_project_manifest,
    retry_if_changed,
    write_checked_lockfile,
)
from skillpm.scope.scope import Scope, workspace_scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.scope.scope_lock import lock_scope, remove_empty_directory
from skillpm.specs.includes import EVERY_REPOSITORY, expand_includes
from skillpm.vetting.validation_options import ValidationOptions

MAX_NAMES = 20


class LockResult(Value):
    """What locking changed, or would change."""

    is_changed: bool
    is_up_to_date: bool
    # (name, old version, new version)
    changes: tuple[tuple[str, str, str], ...] = ()
    # The names among them whose content is the same.
    unchanged_content: tuple[str, ...] = ()
    # Why the lockfile was not up to date.
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    # The skills that could not be upgraded.
    failures: tuple[FailedUpdate, ...] = ()
    # What was left out of includes.
    left_out: tuple[LeftOut, ...] = ()
    # With `--check`, what was proved.
    proof: LockProof = LockProof()


def lock(
    project: Project,
    *,
    dry_run: bool = False,
    upgrade: Sequence[str] | None = None,
    validation: ValidationOptions = ValidationOptions(),  # noqa: B008  (immutable)
) -> LockResult:
    """Update the lockfile to satisfy the manifest, and upgrade the skills in `upgrade`: all if it is empty.

    What is locked is not checked, so that it can be reviewed, except what an include brings without being named.
    """
    require_project_manifest(project.scope, project.settings)
    project = _whole_workspace(project)
    if dry_run:
        files = require_manifest(project.scope, _read_merged_files(project))
        return _resolve_lock(project, files, upgrade, validation)[0].replace(is_changed=False)
    is_new = not os.path.isdir(project.layout.internal_dir)
    try:
        with lock_scope(project):
            return retry_if_changed(lambda: _lock_and_write(project, upgrade, validation))
    finally:
        if is_new:
            remove_empty_directory(project.scope, project.settings)  # it holds nothing but the lock


def check_lock(project: Project) -> LockResult:
    """Check whether the lockfile is up to date, and prove what it says. Writes nothing but caches."""
    require_project_manifest(project.scope, project.settings)
    project = _whole_workspace(project)
    files = require_manifest(project.scope, read_project_files(project))
    reasons = find_lock_conflicts(files)
    if files.lockfile_text is None:
        reasons = ["there is no lockfile"]
    proof, fetchers = LockProof(), make_fetchers(project)
    if not reasons:
        after = resolve_lockfile(project.scope, files, fetchers, LockPolicy())
        changed = find_changed_skills(files.whole_lockfile, after)
        reasons = [_describe_change(name, old, new) for name, old, new in changed]
    for message in unconfigured_index_messages(project.scope, files, files.whole_lockfile, project.settings):
        project.reporter.warn(message)
    if not reasons:
        proof = prove_lock(project, files, fetchers)
        reasons = [f"`{claim.name}`: {claim.problem}" for claim in proof.wrong]
    warnings = tuple(project.reporter.warnings)
    return LockResult(
        is_changed=False, is_up_to_date=not reasons, reasons=tuple(reasons), warnings=warnings, proof=proof
    )


def _describe_change(name: SkillName, old: LockedSkill | None, new: LockedSkill | None) -> str:
    if old is not None and new is not None and old == new.replace(signer=old.signer):
        return f"the signer of `{name}` {'has changed' if old.signer else 'is not locked'}"
    return f"the content of `{name}` has changed"


def _whole_workspace(project: Project) -> Project:
    """Return the project of the workspace's root for a member, which shares its lockfile."""
    return project.in_scope(workspace_scope(project.scope, project.settings)) if project.scope.member else project


def _require_signatures(skills: Mapping[SkillName, LockedSkill], fetchers: FetcherDispatcher) -> None:
    """Raise `NotTrusted` for new content without the trusted signature that it requires."""
    if read_user_setting(fetchers.settings, "trust") is None:
        return
    from skillpm.vetting.problems import refusal  # noqa: PLC0415  (few users trust signers)
    from skillpm.vetting.signers import find_unsigned  # noqa: PLC0415

    if problems := [*find_unsigned(skills, fetchers)]:
        raise refusal(problems)


def _read_merged_files(project: Project) -> ProjectFiles:
    """Read the documents of a scope, of which the lockfile may have a merge conflict: both sides are read then.

    Not in CI, which must not decide what is locked.
    """
    text = None if project.settings.ci else read_text(project.scope.lockfile)
    merged = None if text is None else _merge_conflict(project, text)
    if text is None:
        return read_project_files(project)
    if merged is None:
        try:
            return read_project_files(project)
        except DocumentError as error:
            error.hint = error.hint.replace(MERGE_HINT, "git has mixed the two sides; ")
            raise
    project.reporter.warn(_merge_message(project.scope, merged))
    files = read_project_files(project, merged.lockfile)
    return files.replace(lockfile_text=text, is_lockfile_composed=True)


def _merge_conflict(project: Project, text: str) -> MergedLockfile | None:
    """Return what both sides of a conflicted lockfile say, by its markers or in git's index; None for neither."""
    file = project.scope.lockfile
    if (sides := split_sides(text)) is None:
        return None
    if (merged := merge_sides(sides, file)) is not None:
        return merged
    # git puts lines of both sides outside of the markers if it takes two skills for one; its index has them whole.
    from skillpm.compare.committed_files import CommittedFiles  # noqa: PLC0415  (starts git)

    folder, name = os.path.split(file)
    try:
        committed = CommittedFiles(project.session, folder)
        ours, theirs = (committed.read(stage, name, max_size=MAX_DOCUMENT_SIZE) for stage in (":2", ":3"))
    except SkillpmError:
        return None
    return None if ours is None or theirs is None else merge_sides((ours, theirs), file)


def _merge_message(scope: Scope, merged: MergedLockfile) -> str:
    message = f"{scope.lockfile}: merged both sides of its conflict"
    names = list_some(merged.differing, MAX_NAMES)
    return f"{message}; resolved again, since they lock it differently: {names}" if names else message


def _lock_and_write(project: Project, upgrade: Sequence[str] | None, validation: ValidationOptions) -> LockResult:
    """Resolve and write the lockfile, while holding the lock. Raises `DocumentChanged` if a document was saved."""
    files = require_manifest(project.scope, _read_merged_files(project))
    result, text = _resolve_lock(project, files, upgrade, validation)
    check_unchanged(project.scope, files)
    if result.is_changed:
        write_checked_lockfile(project, files, text)
    else:
        with keep_bundled(project, files.whole_lockfile, text):
            pass
    return result


def _resolve_lock(
    project: Project, files: ProjectFiles, upgrade: Sequence[str] | None, validation: ValidationOptions
) -> tuple[LockResult, str]:
    """Return what locking changes, and the text of the new lockfile."""
    settings = project.settings
    names = () if upgrade is None else select_upgrades(project.scope, files, settings, upgrade)
    refreshed = (EVERY_REPOSITORY,) if upgrade is not None and not upgrade else ()
    fetchers, conflicts = make_fetchers(project), find_lock_conflicts(files)
    files = expand_includes(project.scope, files, fetchers, refreshed)
    options = UpgradeOptions(checks_commits=True, chosen=upgrade or ())
    upgraded, before = resolve_upgrade(project.scope, files, fetchers, names, options), files.whole_lockfile
    if files.included and upgraded.lockfile != before:
        refusals = RefusalOptions(upgrade=names, validation=validation, only_locks=True)
        upgraded = leave_out_refused(project, upgraded, options, refusals)
    after = upgraded.lockfile
    changed = find_changed_skills(before, after)
    _require_signatures({name: new for name, _, new in changed if new is not None}, fetchers)
    report_moved_tags(before, after, fetchers, project.reporter)
    if (merged := _merge_conflict(project, files.lockfile_text or "")) is not None:
        changed = find_changed_skills(before.replace(skills={**merged.ours, **before.skills}), after)
    warnings = unconfigured_index_messages(project.scope, files, after, settings, upgrade or None)
    text = render_lockfile(after, files)
    is_same = text == files.lockfile_text
    if not is_same:
        indexes = find_user_only_indexes(project.scope, settings, files, after)
        warnings += [missing_index_message(project.scope, files, index) for index in indexes]
    for message in warnings:
        project.reporter.warn(message)
    warn_yanked(project, before, after, [*names])
    result = LockResult(
        is_changed=not is_same,
        is_up_to_date=is_same,
        changes=tuple((name, version_label(old), version_label(new)) for name, old, new in changed),
        unchanged_content=tuple(name for name, old, new in changed if old and new and old.digest == new.digest),
        reasons=tuple(conflicts),
        warnings=tuple(project.reporter.warnings),
        failures=upgraded.failures,
        left_out=upgraded.left_out,
    )
    return result, text
