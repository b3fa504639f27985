"""`migrate`: flat files, `x.md` and `<category>/x.md`, become skills, `x/SKILL.md`; nothing is lost."""

import os
from collections.abc import Mapping
from shlex import quote

from skillpm.core.digest import compute_digest, content_hash
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import pluralize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, NotFoundError
from skillpm.files import read_text, translate_os_errors
from skillpm.formats.legacy_registry import is_generated
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.installer.backups import back_up_legacy_registry, find_latest_registry_backup
from skillpm.installer.layout import PROJECT_FOLDER, Layout, load_receipt
from skillpm.installer.links.created_folders import record_created_folders
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.migration.cleanup import stage_flat_file
from skillpm.installer.migration.migration_planner import Migration, plan_migration
from skillpm.installer.migration.scanner import FlatFolder, scan_flat_files
from skillpm.installer.skill_file import read_skill_file
from skillpm.installer.staging import FsyncQueue, prepare_staging
from skillpm.installer.stat_cache import FileStat, read_stat_cache
from skillpm.installer.transaction import ChangeSet, commit
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_lock import lock_scope, remove_empty_directory
from skillpm.operations.install.blockers import plan_existing_links
from skillpm.operations.install.executor import record_file_stats
from skillpm.operations.install.unmanaged_links import LocalSkills
from skillpm.operations.migrate.flat_files import find_flat_files
from skillpm.operations.migrate.handwritten_registry import load_legacy_registry
from skillpm.operations.migrate.report import (
    MigrationResult,
    group_links,
    make_link_command,
    make_list_command,
    warn_name_mismatches,
    warn_user_only,
)
from skillpm.registry.build_state import BuildResult
from skillpm.registry.builder import PendingChanges, StagedSkill, build_registry, load_prior_state


class _MigrationPlan(Value):
    """A migration that was planned: what is there, what is to be."""

    receipt: Receipt
    migration: Migration
    built: BuildResult
    links: LinkPlan
    has_agents: bool
    has_changes: bool


def _flat_files_hint(context: Context) -> str:
    """Say what to name: a folder of flat files that is here, also one that no manifest makes a project's."""
    here = context.settings.working_directory
    for typed, called in ((PROJECT_FOLDER, f"{PROJECT_FOLDER} here"), (".", "the folder you are in")):
        if found := find_flat_files(os.path.join(here, typed), (), context.settings.limits):
            return f"for the {pluralize(len(found), 'flat file')} in {called}: `skillpm migrate {typed}`"
    return "name the folder that holds the skills: `skillpm migrate DIR`"


def migrate(scope: Scope, context: Context, *, dry_run: bool = False) -> MigrationResult:
    """Make skills of the flat files in a scope's skills directory, all of them or none.

    Like every change it is planned twice: without the lock, to find that there is nothing to do, and under it.
    """
    if not os.path.isdir(scope.layout.directory):
        raise NotFoundError(f"there is no folder {scope.layout.directory}", hint=_flat_files_hint(context))
    is_pending = os.path.exists(scope.layout.journal)
    rubbish = (scope.layout.staging, scope.layout.trash)
    is_tidy = not (is_pending or any(map(os.path.lexists, rubbish)))
    if is_pending and dry_run:
        context.reporter.warn("an interrupted change is not finished yet; this is how things are without it")
    if dry_run or is_tidy:
        ahead = _make_plan(scope, context)
        if dry_run or not ahead.has_changes:
            return _migration_result(scope, context, ahead, dry_run=dry_run)
    was_there, done = os.path.isdir(scope.layout.internal_dir), False
    before = find_latest_registry_backup(scope.layout)
    try:
        with lock_scope(scope, context):
            ahead = _make_plan(scope, context)
            if ahead.has_changes:
                _execute(scope, context, ahead)
            done = True
    finally:
        if not (was_there or done):
            remove_empty_directory(scope)
    after = find_latest_registry_backup(scope.layout)
    return _migration_result(scope, context, ahead, backup="" if after == before else after)


def _make_plan(scope: Scope, context: Context) -> _MigrationPlan:
    layout, receipt = scope.layout, load_receipt(scope.layout)
    if receipt.links and scope.root == layout.directory:
        raise ConflictError(
            f"the skills in {layout.directory} are linked for agents, so it belongs to a scope",
            hint=f"work in that scope: SKILLPM_HOME={quote(layout.directory)} skillpm migrate -g",
        )
    with translate_os_errors("look for flat files", layout.directory):
        folder = scan_flat_files(layout.directory, context.settings.limits)
    text = read_text(layout.registry)
    migration = plan_migration(
        folder,
        load_legacy_registry(layout, text),
        _claimed_names(scope, context, receipt),
        _read_local_skills(layout, folder, receipt),
    )
    moved = {move.name for move in migration.moves}
    stays = {name: facts for name, facts in receipt.inherited.items() if name not in moved}
    after = receipt.replace(inherited={**migration.legacy_metadata, **stays})
    fresh = {move.name: StagedSkill(data=move.data, file_stats={}) for move in migration.moves}
    known = load_prior_state(layout, text, read_stat_cache(layout.stat_cache))
    papers = read_project_files(scope, context)
    built = build_registry(layout, after, known, PendingChanges(new_skills=fresh), disabled=papers.disabled)
    links = LinkPlan()
    if scope.root != layout.directory:  # a folder of no scope has no agents
        own = LocalSkills.from_registry(after, built.entries)
        digests = {move.name: compute_digest([("SKILL.md", content_hash(move.data))]) for move in migration.moves}
        copies = own.digest_copies(layout, receipt, context.settings.link_mode, digests)
        links = plan_existing_links(scope, context, papers, receipt, {name: copies.get(name) for name in own.versions})
        after = after.replace(links=links.links, copies=own.select_copied(links.links, copies))
        after = record_created_folders(receipt, after, scope.link_folders(context.settings))
    is_stale = text != built.text and (bool(built.entries) or (text is not None and is_generated(text)))
    return _MigrationPlan(
        receipt=after,
        migration=migration,
        built=built,
        links=links,
        has_agents=bool(papers.agents),
        has_changes=bool(moved) or after != receipt or is_stale,
    )


def _claimed_names(scope: Scope, context: Context, receipt: Receipt) -> dict[str, str]:
    """Give the names that installing will want, and what to say of them."""
    papers = read_project_files(scope, context)
    claims: dict[str, str] = dict.fromkeys(receipt.skills, "is an installed skill whose folder is gone")
    claims |= dict.fromkeys(papers.lockfile.skills, "is locked to come from elsewhere")
    return claims | dict.fromkeys(papers.requirements, "is asked for in the manifest")


def _read_local_skills(layout: Layout, folder: FlatFolder, receipt: Receipt) -> Mapping[SkillName, bytes]:
    """Give the SKILL.md of skills that are folders already, and of which nothing was inherited yet."""
    found = {}
    for name in folder.skills:
        if is_skill_name(name) and name not in receipt.skills and name not in receipt.inherited:
            try:
                found[SkillName(name)] = read_skill_file(layout.skill_path(name))
            except OSError:
                continue
    return found


def _execute(scope: Scope, context: Context, plan: _MigrationPlan) -> None:
    """Do it. Only under the lock."""
    layout, target, fsync = scope.layout, scope.target(context.settings), context.settings.fsync
    target.raise_if_unwritable(("receipt", "registry"), plan.links.changed_folders)
    for problem in plan.built.problems:
        context.reporter.warn(f"{problem.path} is not in the registry: {problem.message}")
    prepare_staging(layout, fsync=fsync)
    with translate_os_errors("keep the old skills.json", layout.backups):
        back_up_legacy_registry(layout, context.reporter.log_verbose, fsync=fsync)
    stamps: dict[str, Mapping[str, FileStat]] = {}
    settling = FsyncQueue(fsync=fsync)
    for move in plan.migration.moves:
        stamps[move.name] = stage_flat_file(layout, move.name, move.data, move.source.mode)
        settling.add(os.path.join(layout.staging, move.name))
    plan.built.file_stats.update(stamps)
    flat = {move.name: move.source.path for move in plan.migration.moves}
    documents = {"receipt": write_receipt(plan.receipt), "registry": plan.built.text}
    settling.wait()
    commit(target, ChangeSet(flat_files=flat), documents, context.reporter.warn)
    record_file_stats(scope, plan.built)


def _migration_result(
    scope: Scope, context: Context, plan: _MigrationPlan, *, backup: str = "", dry_run: bool = False
) -> MigrationResult:
    for move in plan.migration.moves:
        for finding in move.recovered_findings:
            context.reporter.warn(f"{move.source.path}, line {finding.line}: {finding.message}")
    warn_name_mismatches(context, plan.migration)
    warn_user_only(context, plan.migration)
    return MigrationResult(
        is_changed=plan.has_changes,
        directory=scope.layout.directory,
        moves=plan.migration.moves,
        ignored=plan.migration.ignored,
        legacy_metadata=dict(sorted(plan.migration.legacy_metadata.items())),
        skill_count=len(plan.built.entries),
        backup=backup,
        warnings=tuple(context.reporter.warnings),
        is_dry_run=dry_run,
        list_command=make_list_command(scope),
        linked_skills=group_links(plan.links),
        link_command="" if plan.has_agents else make_link_command(scope, context),
    )
