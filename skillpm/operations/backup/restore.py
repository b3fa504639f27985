"""`backup restore`: restore a backup to the skills directory, or to the agent's folder that it came from."""

import os
from contextlib import nullcontext
from functools import partial

from skillpm.change.change import INTERRUPTED_CHANGE, ChangeResult
from skillpm.change.edit_merge import MergedSkill, merge_folder
from skillpm.change.executor import NewSkill, PlannedChange, execute
from skillpm.change.local_change import plan_local_change
from skillpm.change.plan import backup_message
from skillpm.change.present_skills import find_refused_skills
from skillpm.compare.locked_contents import read_contents
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.versions import parse_version
from skillpm.errors import BlockedError, ConflictError, DocumentError, UsageError
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import read_registry
from skillpm.installer.actions import Action, version_label
from skillpm.installer.disk.backups import (
    REGISTRY_NAME,
    Backup,
    describe_entry,
    read_backup_base,
    read_backup_metadata,
    read_link_target,
)
from skillpm.installer.disk.disk_state import read_installed_state
from skillpm.installer.disk.journal import is_change_pending
from skillpm.installer.disk.layout import Layout, load_receipt, read_registry_text
from skillpm.installer.disk.staging import CopiedSource
from skillpm.installer.disk.stat_cache import StatCache
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.links.state import read_link_state
from skillpm.installer.transaction import ChangeSet
from skillpm.kinds.local import PathPin
from skillpm.operations.backup.inventory import find_backup, read_backup_version
from skillpm.operations.inspect.outdated import distinct_labels
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.scope import Scope
from skillpm.scope.scope_lock import lock_scope
from skillpm.settings import Settings
from skillpm.vetting.incoming import check_incoming
from skillpm.vetting.problems import IncomingSkill
from skillpm.vetting.validation_options import ValidationOptions


def restore(
    project: Project, id_or_name: str, *, force: bool = False, dry_run: bool = False, merge: bool = False
) -> ChangeResult:
    """Restore a backup to where it was: a skill's folder, or a link's place in an agent's folder.

    With `merge`, only the edits in it are restored, into what is installed now.

    Raises `BlockedError` if local changes are there now, unless `force` backs them up; `ConflictError` for a link
    that leads nowhere, or if no agent reads that folder.
    """
    warn, settings = project.reporter.warn, project.settings
    if dry_run and is_change_pending(project.layout):
        warn(INTERRUPTED_CHANGE)
    with nullcontext() if dry_run else lock_scope(project):
        backup, receipt = find_backup(project.scope, id_or_name), load_receipt(project.layout)
        back_up_existing = _must_back_up(project.scope, settings, backup, receipt, force=force)
        files = read_project_files(project)
        if dry_run and back_up_existing:
            path = os.path.join(project.scope.link_folders(settings).path(backup.origin), backup.name)
            warn(backup_message(describe_entry(path, path) if backup.origin else backup.name))
        content = _merge_backup(project, files, backup, receipt) if merge else None
        if content is None:
            _warn_version_mismatch(project, files, backup)
            _warn_other_base(project, backup, receipt)
        if not dry_run:
            change = _plan_restore(project, files, backup, receipt, back_up_existing=back_up_existing)
            if content is not None:
                check_incoming(project, [_describe_merged(project.scope, receipt, content)], ValidationOptions())
                new = change.new_skills[content.name].replace(content=content.tree, is_edited=True)
                change = change.replace(new_skills={content.name: new}, moves=ChangeSet())
            for message in change.links.warnings:
                warn(message)
            execute(project, change)
    if backup.origin and backup.name in receipt.skills and not dry_run:
        warn(f"{backup.origin}/{backup.name}: `{project.command('sync')}` will stop at it while that agent is linked")
    return ChangeResult(
        is_changed=True,
        scope=project.scope.kind,
        directory=project.layout.directory,
        actions=_list_actions(project.layout, backup, receipt),
        warnings=tuple(project.reporter.warnings),
        notes=_ownership_notes(project.scope, files, backup, receipt),
        is_dry_run=dry_run,
    )


def _merge_backup(project: Project, files: ProjectFiles, backup: Backup, receipt: Receipt) -> MergedSkill:
    """Return the edits of a backup merged into what is installed now. Raises `BlockedError` for an overlap."""
    name = SkillName(backup.name)
    base, installed = read_backup_base(project.layout, backup.id), receipt.skills.get(name)
    if backup.origin or base is None or installed is None or installed.digest is None:
        raise UsageError(
            f"--merge: what {backup.id} was made of is unknown, or {name} is not installed from a source",
            hint=f"`{project.command('backup restore', backup.id)}` restores all of it",
        )
    current = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    trees = {}
    for what, skill in (("old", base), ("current", current)):
        read = read_contents(project, files, {name: skill})
        if name not in read.trees:
            raise BlockedError(f"cannot merge {backup.id}: the {what} content cannot be read: {read.unread[name]}")
        trees[what] = read.trees[name]
    merged = merge_folder(project.session, name, trees["old"], backup.path, trees["current"])
    if not merged.is_clean:
        raise BlockedError(
            f"{backup.id} overlaps with what is installed: {', '.join(merged.merge.conflicts) or merged.problem}; "
            "nothing was changed",
            hint=f"compare {backup.path} with {project.layout.skill_path(name)}",
            skills=[name],
        )
    return merged


def _describe_merged(scope: Scope, receipt: Receipt, merged: MergedSkill) -> IncomingSkill:
    """Return merged content for its check: its edits come from the skills directory."""
    installed, tree = receipt.skills[merged.name], merged.tree or FileTree(files=())
    locked = LockedSkill(pin=installed.pin, digest=tree.digest, version=installed.version)
    return IncomingSkill(
        name=merged.name, locked=locked, tree=tree, place=PathPin(path=scope.layout.skill_path(merged.name))
    )


def _warn_other_base(project: Project, backup: Backup, receipt: Receipt) -> None:
    """Warn if other content is installed than the backup was made of: it would undo what came since."""
    base, installed = read_backup_base(project.layout, backup.id), receipt.skills.get(SkillName(backup.name))
    if base is not None and installed is not None and installed.digest not in {None, base.digest}:
        current = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
        old, new = (sanitize(label, 40) for label in distinct_labels(base, current))
        restore = project.command("backup restore", backup.id, "--merge")
        project.reporter.warn(
            f"{backup.id} was made of {old}, and {new} is installed: it also restores the old content; "
            f"`{restore}` restores only your edits"
        )


def _must_back_up(scope: Scope, settings: Settings, backup: Backup, receipt: Receipt, *, force: bool) -> bool:
    """Return whether local changes have to be backed up first. Raises `BlockedError` if so, and not `force`."""
    if backup.name == REGISTRY_NAME:
        raise UsageError(
            f"`{backup.id}` is a backup of a handwritten registry, not of a skill; the registry is generated",
            hint=f"run `{scope.command('migrate')}` to import its entries; the file is {backup.path}",
        )
    name = SkillName(backup.name)
    if backup.origin:
        is_occupied, error = _check_origin(scope, settings, backup, receipt)
    else:
        path = scope.layout.skill_path(name)
        _refuse_broken_link(backup, path)
        state = read_installed_state(path, name, receipt.skills.get(name), StatCache())
        is_occupied = state.kind in {"edited", "foreign"}
        diff = scope.command("diff", name)
        error = BlockedError(
            f"{name} has local changes again; nothing was changed",
            where=path,
            hint=f"use `{diff}` to see them, or `--force` to back them up and continue",
        )
    if is_occupied and not force:
        raise error
    return is_occupied


def _refuse_broken_link(backup: Backup, path: str) -> None:
    """Raise `ConflictError` if a backup is a link that would lead nowhere from `path`, its place."""
    target = read_link_target(backup.path, path)
    if target and not os.path.exists(target):
        raise ConflictError(
            f"{backup.id} is a link to {sanitize(target, 1000)}, which does not exist; nothing was changed",
            where=backup.path,
            hint="the link has no content of its own; put that folder back, then try again",
        )


def _check_origin(scope: Scope, settings: Settings, backup: Backup, receipt: Receipt) -> tuple[bool, BlockedError]:
    """Return whether the place is occupied by something other than our link, and the error for that case.

    Raises `ConflictError` if nothing can be restored there.
    """
    name = SkillName(backup.name)
    manually = f"move it manually from {backup.path}"
    # The file that names the origin may have come with a repository: restore only into folders that agents read.
    if not scope.reads_skills(backup.origin, settings):
        raise ConflictError(f"no agent reads skills in {sanitize(backup.origin)}", where=backup.path, hint=manually)
    folders = scope.link_folders(settings)
    path = os.path.join(folders.path(backup.origin), name)
    _refuse_broken_link(backup, path)
    known = (receipt.links.get(backup.origin, {}).get(name, ""), receipt.copy_digest(name))
    state = read_link_state(folders, backup.origin, name, scope.layout, known)
    if state.needs_no_link:
        raise ConflictError(f"{backup.origin} is now a link to the skills directory", where=path, hint=manually)
    return state.kind == "foreign", BlockedError(
        f"{backup.origin}/{name} is now occupied by something else; nothing was changed",
        where=path,
        hint="move it away, or use `--force` to back it up and continue",
    )


def _plan_restore(
    project: Project,
    files: ProjectFiles,
    backup: Backup,
    receipt: Receipt,
    *,
    back_up_existing: bool,
) -> PlannedChange:
    name, folder, after = SkillName(backup.name), backup.origin, receipt
    if folder:  # it replaces our link, which the receipt forgets in the same change
        links = {each: dict(names) for each, names in receipt.links.items()}
        links.get(folder, {}).pop(name, None)
        return PlannedChange(
            moves=ChangeSet(link_restores={folder: {name: backup.id}}),
            links=LinkPlan(links_to_remove={name: (folder,)}, conflicts={folder: (name,)} if back_up_existing else {}),
            receipt=receipt.replace(links=links),
        )
    if metadata := read_backup_metadata(project.layout, backup.id):
        after = receipt.replace(inherited={**receipt.inherited, name: metadata})
    state = read_installed_state(backup.path, name, receipt.skills.get(name), StatCache())
    skill = NewSkill(
        content=CopiedSource(path=backup.path), needs_backup=back_up_existing, is_edited=state.kind == "edited"
    )
    find_refused = partial(find_refused_skills, project, options=ValidationOptions(), may_fetch=False)
    change, _ = plan_local_change(project.scope, project.settings, files, (receipt, after), {name: skill}, find_refused)
    return change.replace(moves=ChangeSet(consumed_backups=(backup.id,)))


def _list_actions(layout: Layout, backup: Backup, receipt: Receipt) -> tuple[Action, ...]:
    """Return the action of restoring, and one for each other skill. `receipt` is the one before the change."""
    restored = Action(
        verb="relink" if backup.origin else "update",
        name=SkillName(backup.name),
        new_version=backup.id,
        reason=f"restored into {backup.origin}" if backup.origin else "restored from a backup",
        outcome="restored",
    )
    labels = dict.fromkeys(_registered_names(layout), "")
    labels |= {name: version_label(skill) for name, skill in receipt.skills.items()}
    labels.pop(restored.name, None)
    others = [Action(verb="keep", name=name, old_version=text, new_version=text) for name, text in labels.items()]
    return restored, *others


def _registered_names(layout: Layout) -> list[SkillName]:
    """Return the names in the registry, which include local skills."""
    try:
        entries = read_registry(read_registry_text(layout) or "", layout.registry)[0]
    except DocumentError:
        return []
    return [SkillName(name) for name in entries]


def _warn_version_mismatch(project: Project, files: ProjectFiles, backup: Backup) -> None:
    """Warn if the backup has another version than the one that is locked."""
    locked = files.lockfile.skills.get(SkillName(backup.name))
    version = "" if backup.origin else read_backup_version(project.layout, backup)
    if locked is None or not (version and locked.version) or _is_same_version(version, locked.version):
        return
    versions = f"{backup.id} is {sanitize(version, 40)}, but {backup.name} is locked to {sanitize(locked.version, 40)}"
    project.reporter.warn(
        f"{versions}: it is treated as a local change, so `{project.command('sync', '--frozen')}` will stop at it"
    )


def _ownership_notes(scope: Scope, files: ProjectFiles, backup: Backup, receipt: Receipt) -> tuple[str, ...]:
    """Explain that a skill which nothing requires is a local one now: its source was recorded in the receipt only."""
    name = SkillName(backup.name)
    if backup.origin or name in receipt.skills or name in files.manifest.skills or name in files.lockfile.skills:
        return ()
    install, restore = scope.command("install", "SPEC", "--force"), scope.command("backup restore", name)
    note = (
        f"{name} is not in the manifest, so it is a local skill now and is never updated; to turn it into local "
        f"changes of its source, run `{install}`, then `{restore}`"
    )
    return (note,)


def _is_same_version(left: str, right: str) -> bool:
    return left == right or (parse_version(left) is not None and parse_version(left) == parse_version(right))
