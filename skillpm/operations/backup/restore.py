"""`backup list|restore`: what `--force` set aside, and bringing it back."""

import os
from collections.abc import Sequence

from skillpm.core.names import SkillName
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.versions import parse_version
from skillpm.errors import BlockedError, DocumentError, NotFoundError, UsageError
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.formats.registry import read_registry
from skillpm.installer.actions import Action, version_label
from skillpm.installer.backups import REGISTRY_NAME, Backup, list_backups, read_backup_metadata
from skillpm.installer.disk_state import digest_folder, read_installed_state
from skillpm.installer.layout import Layout, load_receipt, read_registry_text
from skillpm.installer.links.created_folders import record_created_folders
from skillpm.installer.skill_file import find_skill_file, read_skill_file
from skillpm.installer.staging import CopiedSource, FsyncQueue, prepare_staging, stage_skill
from skillpm.installer.stat_cache import StatCache, read_stat_cache
from skillpm.installer.transaction import ChangeSet, commit
from skillpm.operations.backup.agent_folders import check_origin, restore_to_origin
from skillpm.operations.backup.inventory import backup_folder, read_backup_version
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_lock import lock_scope
from skillpm.operations.install.blockers import plan_existing_links
from skillpm.operations.install.dry_run import warn_backup
from skillpm.operations.install.executor import record_file_stats
from skillpm.operations.install.pipeline import INTERRUPTED_CHANGE, ChangeResult
from skillpm.operations.install.unmanaged_links import LocalSkills
from skillpm.registry.builder import PendingChanges, StagedSkill, build_registry, load_prior_state


def restore(scope: Scope, context: Context, slot: str, *, force: bool = False, dry_run: bool = False) -> ChangeResult:
    """Put a backup back where it lay: in its skill's place, or in an agent's folder.

    Raises `BlockedError` when what lies there now is somebody's work, unless `force` sets that aside.
    """
    if dry_run:
        if os.path.exists(scope.layout.journal):
            context.reporter.warn(INTERRUPTED_CHANGE)
        backup = _find_backup(list_backups(scope.layout), slot)
        if _needs_backup(scope, context, backup, load_receipt(scope.layout), force=force):
            folder = scope.link_folders(context.settings).path(backup.origin) if backup.origin else ""
            warn_backup(os.path.join(folder, backup.name), context.reporter.warn)
        _warn_version_mismatch(scope, context, backup)
        return _change_result(scope, context, backup, load_receipt(scope.layout), dry_run=True)
    with lock_scope(scope, context):
        backup = _find_backup(list_backups(scope.layout), slot)
        receipt = load_receipt(scope.layout)
        aside = _needs_backup(scope, context, backup, receipt, force=force)
        _warn_version_mismatch(scope, context, backup)
        if backup.origin:
            restore_to_origin(scope, context, backup, receipt, back_up_existing=aside)
        else:
            _restore_skill(scope, context, backup, receipt, back_up_existing=aside)
    return _change_result(scope, context, backup, receipt, dry_run=False)


def _needs_backup(scope: Scope, context: Context, backup: Backup, receipt: Receipt, *, force: bool) -> bool:
    """Tell whether what lies at a backup's place has to be set aside first, which only `force` allows."""
    if backup.name == REGISTRY_NAME:
        raise UsageError(
            f"`{backup.id}` is a registry that was made by hand, and no skill; the registry is built from the skills",
            hint=f"`skillpm migrate` takes what it says of them; the file is {backup.path}",
        )
    layout, name = scope.layout, SkillName(backup.name)
    installed = receipt.skills.get(name)
    if not backup.origin:
        place = layout.skill_path(name)
        aside = read_installed_state(place, name, installed, StatCache()).kind in {"edited", "foreign"}
        again = BlockedError(
            f"{name} has been edited again; nothing was changed",
            where=place,
            hint=f"`skillpm diff {name}` shows it, `--force` sets it aside as another backup first",
        )
    else:
        aside, again = check_origin(scope, context, backup, receipt)
    if aside and not force:
        raise again
    return aside


def _restore_skill(scope: Scope, context: Context, backup: Backup, receipt: Receipt, *, back_up_existing: bool) -> None:
    """Put a backup into the skills directory, as one change with the registry."""
    layout, name = scope.layout, SkillName(backup.name)
    if told := read_backup_metadata(layout, backup.id):
        receipt = receipt.replace(inherited={**receipt.inherited, name: told})
    prepare_staging(layout, fsync=context.settings.fsync)
    stage_skill(layout, name, CopiedSource(path=backup.path))
    settling = FsyncQueue(fsync=context.settings.fsync)
    settling.add(os.path.join(layout.staging, name))
    edited = read_installed_state(backup.path, name, receipt.skills.get(name), StatCache()).kind == "edited"
    found = _read_skill_file(layout, backup)
    fresh = (
        {} if found is None else {name: StagedSkill(file_name=found[0], data=found[1], file_stats={}, is_edited=edited)}
    )
    ahead = PendingChanges(new_skills=fresh, removed_skills=() if fresh else (name,))
    known = load_prior_state(layout, read_registry_text(layout), read_stat_cache(layout.stat_cache))
    papers = read_project_files(scope, context)
    built = build_registry(layout, receipt, known, ahead, disabled=papers.disabled)
    own = LocalSkills.from_registry(receipt, built.entries)
    # What is no skill has no copies: a file, a link that leads nowhere.
    coming = {} if found is None else {name: digest_folder(backup_folder(layout, backup))}
    copies = own.digest_copies(layout, receipt, context.settings.link_mode, coming)
    links = plan_existing_links(scope, context, papers, receipt, {name: copies.get(name) for name in own.versions})
    after = receipt.replace(links=links.links, copies=own.select_copied(links.links, copies))
    after = record_created_folders(receipt, after, scope.link_folders(context.settings))
    scope.target(context.settings).raise_if_unwritable(("receipt", "registry"), links.changed_folders)
    documents = {"registry": built.text, "receipt": write_receipt(after)}
    settling.wait()
    change = ChangeSet(puts={name: back_up_existing}, consumed_backups=(backup.id,))
    commit(scope.target(context.settings), change, documents, context.reporter.warn)
    record_file_stats(scope, built)


def _change_result(scope: Scope, context: Context, backup: Backup, receipt: Receipt, *, dry_run: bool) -> ChangeResult:
    where = f"restored into {backup.origin}" if backup.origin else "restored from a backup"
    restored = Action(
        verb="relink" if backup.origin else "update",
        name=SkillName(backup.name),
        new_version=backup.id,
        reason=where,
        outcome="restored",
    )
    labels = dict.fromkeys(_registered_names(scope.layout), "")
    labels |= {name: version_label(skill) for name, skill in receipt.skills.items()}
    labels.pop(SkillName(backup.name), None)
    others = [Action(verb="keep", name=name, old_version=text, new_version=text) for name, text in labels.items()]
    return ChangeResult(
        is_changed=True,
        scope=scope.kind,
        directory=scope.layout.directory,
        actions=(restored, *others),
        warnings=tuple(context.reporter.warnings),
        notes=_ownership_notes(scope, context, backup, receipt),
        is_dry_run=dry_run,
    )


def _ownership_notes(scope: Scope, context: Context, backup: Backup, receipt: Receipt) -> tuple[str, ...]:
    """Say of what nobody asks for that it is the user's own now: where it came from went with its receipt."""
    papers, name = read_project_files(scope, context), SkillName(backup.name)
    if backup.origin or name in receipt.skills or name in papers.manifest.skills or name in papers.lockfile.skills:
        return ()
    flag = scope.flag
    note = (
        f"nothing asks for {name}, so it is a skill of your own now, and never updated; if it came from elsewhere, "
        f"`skillpm install{flag} SPEC --force`, then `skillpm backup restore{flag} {name}` make it an edit of that"
    )
    return (note,)


def _registered_names(layout: Layout) -> list[SkillName]:
    """Give the names in the registry: those of skills that were made by hand, too."""
    try:
        entries = read_registry(read_registry_text(layout) or "", layout.registry)[0]
    except DocumentError:
        return []
    return [SkillName(name) for name in entries]


def _warn_version_mismatch(scope: Scope, context: Context, backup: Backup) -> None:
    """Say that what comes back is another version than the one that is locked."""
    locked = read_project_files(scope, context).lockfile.skills.get(SkillName(backup.name))
    version = "" if backup.origin else read_backup_version(scope.layout, backup)
    if locked is None or not (version and locked.version) or _is_same_version(version, locked.version):
        return
    context.reporter.warn(
        f"{backup.id} is {sanitize(version, 40)}, and {backup.name} is locked to {sanitize(locked.version, 40)}: it counts as "
        f"your edit, which `skillpm sync{scope.flag}` stops at"
    )


def _is_same_version(left: str, right: str) -> bool:
    return left == right or (parse_version(left) is not None and parse_version(left) == parse_version(right))


def _read_skill_file(layout: Layout, backup: Backup) -> tuple[str, bytes] | None:
    """Give name and bytes of the SKILL.md of a backup, for the registry; None where it has none that can be read."""
    folder = backup_folder(layout, backup)
    try:
        is_itself = folder == os.path.normpath(layout.skill_path(backup.name))
        return None if is_itself else (find_skill_file(folder), read_skill_file(folder))
    except OSError:
        return None


def _find_backup(candidates: Sequence[Backup], slot: str) -> Backup:
    for backup in candidates:
        if backup.id == slot:
            return backup
    of_name = [backup for backup in candidates if backup.name == slot]
    if len(of_name) == 1:
        return of_name[0]
    if of_name:
        hint = f"name one: {', '.join(backup.id for backup in of_name)}"
        raise NotFoundError(f"there are {len(of_name)} backups of `{sanitize(slot)}`", hint=hint)
    if not candidates:
        hint = "a backup is made by `--force`, and is gone when it was restored"
        raise NotFoundError(f"there is no backup `{sanitize(slot)}`; nothing is set aside here", hint=hint)
    hint = suggestion_hint(slot, [backup.id for backup in candidates], "`skillpm backup list` shows what is set aside")
    raise NotFoundError(f"there is no backup `{sanitize(slot)}`", hint=hint)
