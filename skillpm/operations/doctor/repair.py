"""`doctor --fix`: repair everything that can be repaired without losing data.

Damaged documents are moved to the backups, never just deleted. Then the interrupted change is completed, and a sync
restores what is missing. That sync resolves nothing, removes nothing, and does not touch edited or local skills.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from skillpm.change.change import ChangeOptions
from skillpm.core.json_text.decoder import JsonNode, load_json
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.directories import make_folders, remove_file, rename
from skillpm.errors import BlockedError, DocumentError, NewerDocument, SkillpmError
from skillpm.files import read_text, remove_tree, translate_os_errors, write_document
from skillpm.formats.legacy_metadata import LegacyMetadata, read_legacy_metadata
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.formats.registry import read_registry
from skillpm.installer.actions import InstallOptions
from skillpm.installer.disk.backups import next_backup_id
from skillpm.installer.disk.disk_state import read_installed_state
from skillpm.installer.disk.journal import read_journal
from skillpm.installer.disk.late_edits import back_up_abandoned_change
from skillpm.installer.disk.layout import Layout, load_receipt
from skillpm.installer.disk.stat_cache import StatCache
from skillpm.locking.lock_resolution import LockPolicy
from skillpm.locks import hold_lock
from skillpm.operations.cache.prune import remove_entries
from skillpm.operations.doctor.agent_checks import find_dead_links, find_partial_copies
from skillpm.operations.doctor.cache_checks import (
    find_damaged_entries,
    find_damaged_repositories,
    find_inaccessible,
)
from skillpm.operations.doctor.diagnostics import DoctorContext
from skillpm.operations.install.sync import sync
from skillpm.operations.registry import rebuild_registry
from skillpm.registry.build_state import PriorState
from skillpm.registry.builder import PendingChanges, build_registry
from skillpm.registry.metadata_overlay import find_legacy_metadata
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope_lock import hold_scope, lock_scope

Report = Callable[[str], None]


def repair(doctor: DoctorContext, report: Report) -> None:
    """Repair everything that can be repaired without loss; `report` receives side effects and failures."""
    steps = [partial(_repair_access, doctor), partial(_repair_cache, doctor)]
    if doctor.scope is not None:
        project = Project(doctor.scope, doctor.session)
        in_scope = (_repair_receipt, _repair_journal, _repair_links, _repair_skills, _repair_registry)
        steps += [partial(step, project, report) for step in in_scope]
    for step in steps:
        try:
            step()
        except SkillpmError as error:
            report(f"{error.message} ({error.where})" if error.where else error.message)


def _repair_access(doctor: DoctorContext) -> None:
    for path in [*find_inaccessible(doctor)]:
        with translate_os_errors("remove a part of the cache", path):
            remove_tree(path)


def _repair_cache(doctor: DoctorContext) -> None:
    # A repository in use is skipped: the process that uses it detects the damage and replaces it.
    remove_entries([*find_damaged_entries(doctor), *find_damaged_repositories(doctor)], dry_run=False)


def _repair_receipt(project: Project, report: Report) -> None:
    layout = project.layout
    if not os.path.isdir(layout.internal_dir):
        return
    try:
        load_receipt(layout)
    except NewerDocument:
        return
    except DocumentError:
        with _lock_directory(project), translate_os_errors("repair the receipt", layout.receipt):
            legacy_metadata = _recover_legacy_metadata(layout)
            _back_up_damaged(layout, layout.receipt, report)
            if legacy_metadata:
                text = write_receipt(Receipt(inherited=legacy_metadata))
                write_document(layout.receipt, text.encode(), fsync=project.settings.fsync)


def _repair_journal(project: Project, report: Report) -> None:
    layout = project.layout
    if not os.path.isdir(layout.internal_dir):
        return
    try:
        read_journal(layout)
    except NewerDocument:
        raise
    except DocumentError:
        with _lock_directory(project), translate_os_errors("repair the journal", layout.journal):
            back_up_abandoned_change(layout, report)
            _back_up_damaged(layout, layout.journal, report)
    # Taking the lock completes an interrupted change and removes leftovers; a journal from elsewhere is rejected.
    with lock_scope(project), translate_os_errors("delete rejected journals", layout.rejected):
        remove_tree(layout.rejected)


def _repair_links(project: Project, _: Report) -> None:
    target = project.scope.target(project.settings)
    with hold_scope(project.scope, project.settings), translate_os_errors("remove a dead link", project.scope.root):
        for path, is_own in [*find_dead_links(project.scope, project.settings)]:
            if is_own:
                with target.hold_parent(path):
                    remove_file(path)
    if find_partial_copies(project.scope, project.settings):
        with lock_scope(project), translate_os_errors("remove an incomplete copy", project.scope.root):
            for path in find_partial_copies(project.scope, project.settings):
                with target.hold_parent(path):
                    remove_tree(path)


def _repair_skills(project: Project, report: Report) -> None:
    files = read_project_files(project)
    if files.manifest_text is None or (files.lockfile_text is None and files.requirements):
        return
    keep = _find_blockers(project)
    lock_policy = LockPolicy(frozen=files.lockfile_text is not None)
    try:
        _sync_except(project, keep, lock_policy, report)
    except BlockedError as blocked:  # a file has the name of a link: repair the other skills
        _sync_except(project, (*keep, *blocked.skills), lock_policy, report)


def _sync_except(project: Project, keep: Sequence[str], lock_policy: LockPolicy, report: Report) -> None:
    options = ChangeOptions(lock_policy=lock_policy, install=InstallOptions(keep=keep, inexact=True))
    for warning in sync(project, options).warnings:
        report(warning)


def _repair_registry(project: Project, _: Report) -> None:
    if os.path.isdir(project.layout.directory):
        rebuild_registry(project)


@contextmanager
def _lock_directory(project: Project) -> Iterator[None]:
    settings, layout = project.settings, project.layout
    with (
        hold_scope(project.scope, settings),
        hold_lock(layout.lock, settings.lock_timeout, layout.directory, project.reporter.warn),
    ):
        yield


def _back_up_damaged(layout: Layout, path: str, report: Report) -> None:
    """Move an unreadable document to the backups."""
    make_folders(layout.backups)
    backup = os.path.join(layout.backups, next_backup_id(layout, os.path.basename(path)))
    rename(path, backup)
    report(f"moved the damaged {os.path.basename(path)} to {backup}")


def _recover_legacy_metadata(layout: Layout) -> dict[SkillName, LegacyMetadata]:
    """Recover what `migrate` recorded about skills: from the damaged receipt or, failing that, from the registry."""
    try:
        node = JsonNode(load_json(read_text(layout.receipt) or "")["inherited"], layout.receipt)
        return {parse_skill_name(key, where=part.where): read_legacy_metadata(part) for key, part in node.items()}
    except (OSError, ValueError, KeyError, TypeError, RecursionError, SkillpmError):
        pass
    try:
        registered = read_registry(read_text(layout.registry) or "", layout.registry)[0]
    except SkillpmError:
        return {}
    built = build_registry(layout, Receipt(), PriorState(entries={}, stat_cache=StatCache()), PendingChanges())
    return find_legacy_metadata(built.entries, registered)


def _find_blockers(project: Project) -> tuple[str, ...]:
    """Return the skills whose folders are edited or not skillpm's: the repair leaves them out."""
    installed = load_receipt(project.layout).skills
    locked = read_project_files(project).lockfile.skills
    names = []
    for name in sorted({*locked, *installed}):
        state = read_installed_state(project.layout.skill_path(name), name, installed.get(name), StatCache())
        if state.kind in {"edited", "foreign"} and (name not in locked or state.digest != locked[name].digest):
            names.append(name)
    return tuple(names)
