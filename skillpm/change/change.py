"""Change a scope: edit the manifest, resolve, plan and execute, and report the result."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from skillpm.change.before_changes import enforce_blocks, refresh_policies, removing_refused_links
from skillpm.change.blockers import (
    NOTHING_CHANGED,
    blocked_error,
    edited_notes,
    explain_checkouts,
    explain_line_endings,
)
from skillpm.change.plan import InstallPlan, plan_install
from skillpm.change.present_skills import (
    accept_edits,
    find_refused_skills,
    read_lasting_edits,
    refused_messages,
)
from skillpm.change.skill_links import MAX_AGENTS_NAMED, suggest_next_step
from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import list_some
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import SkillpmError
from skillpm.formats.lockfile import Lockfile
from skillpm.installer.actions import Action, InstallOptions
from skillpm.installer.disk.journal import is_change_pending
from skillpm.installer.disk.leftovers import has_leftovers
from skillpm.locking.index_policy import (
    add_indexes,
    added_index_message,
    find_user_only_indexes,
    missing_index_message,
    refuse_unconfigured,
    unconfigured_index_messages,
)
from skillpm.locking.lock_resolution import LockPolicy, find_lock_conflicts, write_ranges
from skillpm.locking.moved_refs import report_moved_tags
from skillpm.locking.upgrade import FailedUpdate, Upgrade, UpgradeOptions, resolve_upgrade
from skillpm.locking.whole_repositories import find_whole_repositories, require_confirmation
from skillpm.scope.left_out import LeftOut, names_of
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import (
    ProjectFiles,
    keep_bundled,
    read_project_files,
    require_manifest,
    require_project_manifest,
    retry_if_changed,
)
from skillpm.scope.scope import Scope, workspace_scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.store import Proofs
from skillpm.vetting.validation_options import ValidationOptions

if TYPE_CHECKING:
    from skillpm.compare.skill_change import SkillChange
    from skillpm.vetting.problems import Problem

INTERRUPTED_CHANGE = "an interrupted change is pending; this is the state without it"


COMMITTED_SKILLS = (
    "{} came with the checkout: agents read its skills before any command has checked them; `skillpm verify` does"
)


class ChangeResult(Value):
    """What an operation did, or would do with `--dry-run`."""

    is_changed: bool
    scope: str
    directory: str
    actions: tuple[Action, ...] = ()
    warnings: tuple[str, ...] = ()
    is_dry_run: bool = False
    next_step: str = ""
    notes: tuple[str, ...] = ()
    # Paths in agents' folders.
    links_made: tuple[str, ...] = ()
    links_removed: tuple[str, ...] = ()
    # The roles of the documents that changed.
    documents: tuple[str, ...] = ()
    # The skills that could not be upgraded.
    failures: tuple[FailedUpdate, ...] = ()
    # What was left out of collections.
    left_out: tuple[LeftOut, ...] = ()
    # The lockfile before and after.
    old_lockfile: Lockfile = Lockfile()
    lockfile: Lockfile = Lockfile()
    # What an update changes in content.
    updates: "tuple[SkillChange, ...]" = ()
    # In the root of a workspace, what was done for each member, by folder.
    members: Mapping[str, "ChangeResult"] = EMPTY_MAPPING


class ChangeOptions(Value):
    """How a command changes things."""

    lock_policy: LockPolicy = LockPolicy()
    install: InstallOptions = InstallOptions()
    dry_run: bool = False
    # Whether indexes that only config.toml configures are added to the manifest if skills come from them.
    adds_indexes: bool = False
    # Whether the user has confirmed that a skill may be a repository with many files.
    allows_whole_repositories: bool = False
    # The skills to update, if the user named some: they are refused, but not left out.
    chosen: tuple[str, ...] = ()
    # The URLs of repositories whose skills are listed again, for the includes that stand for all of them.
    refreshed: tuple[str, ...] = ()
    # The groups of the manifest to install; empty for everything.
    groups: tuple[str, ...] = ()
    validation: ValidationOptions = ValidationOptions()
    # Called before anything is written, if there is something to write.
    announce: Callable[[], None] | None = None

    def with_updated(self, names: Collection[SkillName]) -> "ChangeOptions":
        """Return the same options for a change that updates these skills."""
        return self.replace(validation=self.validation.replace(updated=names))


Edit = Callable[[ProjectFiles], ProjectFiles]


def change(
    project: Project,
    options: ChangeOptions,
    edit: Edit,
    select_upgrades: Callable[[ProjectFiles], Collection[SkillName]] = lambda _: (),
    read_files: Callable[[Project], ProjectFiles] = read_project_files,
) -> ChangeResult:
    """Edit the manifest, resolve, plan and execute.

    This plans twice: first without the lock, since often there is nothing to do, then while holding it, with the
    documents read again, since another process may have changed them. Editors take no lock: if a document is saved
    while skills are fetched, it plans once more; what was fetched is in the store by then.
    """
    refresh_policies(project)
    enforce_blocks([project.scope], project.session, dry_run=options.dry_run)
    require_project_manifest(project.scope, project.settings)
    if not options.dry_run and has_leftovers(project.layout, project.scope.base):
        from skillpm.scope.scope_lock import clean_up_after_crash  # noqa: PLC0415  (only after a crash)

        clean_up_after_crash(project)

    def edited() -> ProjectFiles:
        return edit(require_manifest(project.scope, read_files(project)))

    with removing_refused_links(project.session, dry_run=options.dry_run) as refused:

        def make_plan(files: ProjectFiles, upgrade: Collection[SkillName]) -> InstallPlan:
            plan = _make_plan(project, options, files, upgrade)
            refused[:] = [(project.scope, plan.refused_on_disk)]
            raise_if_blocked(plan)
            if options.announce and not plan.is_empty:
                options.announce()
            return plan

        return _change(project, options, edited, select_upgrades, make_plan)


def raise_if_blocked(plan: InstallPlan) -> InstallPlan:
    """Return a plan. Raises `BlockedError` if it would overwrite something."""
    if plan.block is not None:
        raise plan.block
    return plan


def _change(
    project: Project,
    options: ChangeOptions,
    edited: Callable[[], ProjectFiles],
    select_upgrades: Callable[[ProjectFiles], Collection[SkillName]],
    make_plan: Callable[[ProjectFiles, Collection[SkillName]], InstallPlan],
) -> ChangeResult:
    if not os.path.exists(project.layout.journal):
        files = edited()
        is_refreshing = bool(options.refreshed and files.includes)
        is_settled = not (find_lock_conflicts(files) or is_refreshing or select_upgrades(files))
        if is_settled or options.lock_policy.locked or options.lock_policy.frozen:
            plan = make_plan(files, ())
            if plan.is_empty or options.dry_run:
                raise_if_refused(project.session, options, [plan])
                return change_result(project, options, plan)
    elif options.dry_run and is_change_pending(project.layout):
        project.reporter.warn(INTERRUPTED_CHANGE)
    notes: tuple[str, ...] = ()
    if options.dry_run:
        files = edited()
        plan = make_plan(files, select_upgrades(files))
    else:
        is_first = not os.path.isdir(project.layout.internal_dir)
        plan = _plan_and_execute(project, options, edited, lambda files: make_plan(files, select_upgrades(files)))
        if is_first and project.scope.kind == "project" and has_committed_skills(plan):
            notes = (COMMITTED_SKILLS.format(project.layout.directory),)
    raise_if_refused(project.session, options, [plan])
    result = change_result(project, options, plan)
    return result.replace(notes=(*result.notes, *notes))


def raise_if_refused(session: Session, options: ChangeOptions, plans: Sequence[InstallPlan]) -> None:
    """Raise `NotTrusted` for skills that are there and refused, now that no agent gets them any more.

    A command that is about other skills only warns of them, and so does every command for local skills, which are the
    user's own; not with `--frozen` and `--locked`, since a checkout may bring local skills, too. There, edits that are
    not accepted on this machine are a `BlockedError`.
    """
    if any(plan.refused for plan in plans):
        _raise_if_meant(session, options, plans)
    for plan in plans:
        if plan.late_block is not None:
            raise plan.late_block


def _raise_if_meant(session: Session, options: ChangeOptions, plans: Sequence[InstallPlan]) -> None:
    from skillpm.vetting.problems import refusal  # noqa: PLC0415  (only then)

    is_strict = options.lock_policy.frozen or options.lock_policy.locked
    selected = options.install.selected
    problems: list[Problem] = []
    for plan in plans:
        for name, reasons in plan.refused.items():
            is_meant = name in selected if selected is not None else is_strict or name in plan.lockfile.skills
            if is_meant and not options.dry_run:
                problems += reasons
                continue
            outcome = "would be refused" if options.dry_run else "is refused"
            for message in refused_messages({name: reasons}, outcome):
                session.reporter.warn(message)
    if problems:
        changed = (action for plan in plans for action in plan.actions if action.name not in plan.refused)
        done = "everything else was done; " if any(action.verb != "keep" for action in changed) else ""
        them = "it" if len({problem.skill for problem in problems}) == 1 else "them"
        raise refusal(problems, outcome=f"{done}no agent gets {them}")


def has_committed_skills(plan: InstallPlan) -> bool:
    """Return whether locked skills were there before the first change in this directory: git tracks them, probably."""
    return any(plan.disk[name].kind != "absent" for name in plan.files.lockfile.skills if name in plan.disk)


def _plan_and_execute(
    project: Project,
    options: ChangeOptions,
    read_edited: Callable[[], ProjectFiles],
    make_plan: Callable[[ProjectFiles], InstallPlan],
) -> InstallPlan:
    # Locks and transactions take 25 ms to import, which a command with nothing to do saves.
    from skillpm.scope.scope_lock import lock_scopes  # noqa: PLC0415

    def plan_and_execute() -> InstallPlan:
        plan = make_plan(read_edited())
        if not plan.is_empty:
            from skillpm.change.executor import execute  # noqa: PLC0415  (with all checks of new content)
            from skillpm.change.locked_content import fetch_change  # noqa: PLC0415

            fetchers = make_fetchers(project).with_locked(plan.lockfile.skills)
            change = fetch_change(project, plan, fetchers)
            with keep_bundled(project, plan.files.whole_lockfile, plan.documents.get("lockfile")):
                execute(project, change)
        return plan

    policy = options.lock_policy
    may_write_documents = not (policy.frozen or policy.locked)
    # The lockfile of a member is that of its root, which other members may change.
    scopes = (
        [workspace_scope(project.scope, project.settings), project.scope] if project.scope.member else [project.scope]
    )
    with lock_scopes(scopes, project.session, force=options.install.force, may_write_documents=may_write_documents):
        return retry_if_changed(plan_and_execute)


def _make_plan(
    project: Project, options: ChangeOptions, files: ProjectFiles, upgrade: Collection[SkillName]
) -> InstallPlan:
    if (files.includes or files.member) and not (options.lock_policy.locked or options.lock_policy.frozen):
        from skillpm.specs.includes import expand_includes  # noqa: PLC0415  (few projects include whole repositories)

        files = expand_includes(project.scope, files, make_fetchers(project), options.refreshed)
    upgraded = resolve_changed_lockfile(project, options, files, upgrade)
    files, lockfile = write_ranges(files, upgraded.lockfile, make_fetchers(project))
    if files.manifest.groups and files.manifest_text != files.original_manifest_text:  # may have added them to a group
        from skillpm.change.groups import remove_from_groups  # noqa: PLC0415  (few manifests have groups)

        files = remove_from_groups(files, names_of(upgraded.left_out))
    plan = plan_scope(project, options.with_updated(upgrade), files, lockfile)
    return plan.replace(failures=upgraded.failures, left_out=upgraded.left_out)


def resolve_changed_lockfile(
    project: Project, options: ChangeOptions, files: ProjectFiles, upgrade: Collection[SkillName]
) -> Upgrade:
    """Return the whole lockfile that applies. Raises `WholeRepository` for a skill that has to be confirmed."""
    upgrade_options = UpgradeOptions(
        lock_policy=options.lock_policy,
        selected=options.install.selected,
        chosen=options.chosen,
        checks_commits=True,
    )
    fetchers = make_fetchers(project)
    upgraded = resolve_upgrade(project.scope, files, fetchers, upgrade, upgrade_options)
    if files.included and upgraded.lockfile != files.whole_lockfile and not options.lock_policy.locked:
        from skillpm.locking.refused_includes import (  # noqa: PLC0415  (with all checks of new content)
            RefusalOptions,
            leave_out_refused,
        )

        refusals = RefusalOptions(upgrade=upgrade, validation=options.validation)
        upgraded = leave_out_refused(project, upgraded, upgrade_options, refusals)
    lockfile, before = upgraded.lockfile, files.whole_lockfile
    report_moved_tags(before, lockfile, fetchers, project.reporter)
    if lockfile != before and not (options.allows_whole_repositories or options.dry_run):
        require_confirmation(project.store, before, lockfile)
    return upgraded


def plan_scope(project: Project, options: ChangeOptions, files: ProjectFiles, lockfile: Lockfile) -> InstallPlan:
    """Plan what a whole lockfile means for the skills directory of a scope."""
    settings = project.settings
    if options.groups:
        from skillpm.change.groups import select_groups  # noqa: PLC0415  (as above)

        options = options.replace(install=select_groups(files, lockfile, options.groups, options.install))
    user_only = find_user_only_indexes(project.scope, settings, files, lockfile)
    added = user_only if options.adds_indexes and not project.scope.member else []
    is_strict = options.lock_policy.frozen or options.lock_policy.locked
    edits = read_lasting_edits(project.scope, settings, files.manifest, is_strict=is_strict)
    install = options.install.replace(edits=options.install.edits.over(edits), is_strict=is_strict)
    find_refused = partial(find_refused_skills, project, options=options.validation, may_fetch=not options.dry_run)
    plan = plan_install(project.scope, settings, add_indexes(files, added, settings), lockfile, install, find_refused)
    _report_warnings(project.session, plan)
    known = {*files.whole_lockfile.skills, *plan.receipt.skills}
    plan = plan.replace(
        actions=explain_line_endings(project.scope, settings, plan.lockfile, plan.links, plan.actions),
        held=explain_line_endings(project.scope, settings, plan.lockfile, plan.links, plan.held),
    )
    plan = plan.replace(actions=explain_checkouts(project.scope, files.lockfile, plan.disk, plan.actions))
    blocked = [action for action in plan.actions if action.verb == "blocked"]
    if blocked:
        return plan.replace(block=blocked_error(project.scope, blocked, plan.links, known, install))
    if plan.held:
        outcome = NOTHING_CHANGED if plan.is_empty or options.dry_run else "everything else was done"
        plan = plan.replace(late_block=blocked_error(project.scope, plan.held, plan.links, known, install, outcome))
    if not (is_strict or options.dry_run):
        accept_edits(project.scope, settings, plan.receipt, plan.disk, plan.actions, plan.refused)
    if options.validation.requires_reviews:
        from skillpm.vetting.required_reviews import require_reviews  # noqa: PLC0415  (only with --reviewed)

        require_reviews(project, plan.lockfile)
    missing = plan.find_missing(project.store, Proofs(settings.cache_dir))
    refuse_unconfigured(project.scope, plan.files, lockfile, missing, settings)
    warnings = []
    if "lockfile" in plan.documents and not added:
        warnings += [missing_index_message(project.scope, files, index) for index in user_only]
    warnings += unconfigured_index_messages(project.scope, plan.files, lockfile, settings, options.install.selected)
    plan = plan.replace(validation=options.validation)
    if options.dry_run:
        from skillpm.change.plan import dry_run_warnings  # noqa: PLC0415  (only here)

        warnings += dry_run_warnings(project.scope, settings, plan)
        if not plan.is_empty:
            from skillpm.change.locked_content import find_refusals  # noqa: PLC0415  (as in execution)

            warnings += find_refusals(project, plan)
        if any(action.merges for action in plan.actions):
            from skillpm.change.edit_merge import overlap_messages  # noqa: PLC0415  (starts git)

            warnings += overlap_messages(project, plan)
        whole = find_whole_repositories(project.store, files.whole_lockfile, lockfile).values()
        warnings += [f"{message}; installing it needs confirmation, or --yes" for message in whole]
    notes = find_stale_members(project.scope, files, lockfile) if files.others else ()
    return plan.replace(added_indexes=tuple(added), warnings=(*plan.warnings, *warnings), notes=notes)


def find_stale_members(scope: Scope, files: ProjectFiles, lockfile: Lockfile) -> tuple[str, ...]:
    """Return a note that names the other projects of a workspace for which a change of the lockfile matters."""
    from skillpm.scope.workspace_files import select_member  # noqa: PLC0415  (only in a workspace)

    stale = [
        folder or "the root"
        for folder, requirements in sorted(files.others.items())
        if select_member(files.whole_lockfile, folder, requirements).skills
        != select_member(lockfile, folder, requirements).skills
    ]
    names, command = list_some(stale, MAX_AGENTS_NAMED), f"`skillpm -C {shell_word(scope.base)} sync`"
    return (f"skills.lock has also changed for {names}; run {command} to install the changes there",) if stale else ()


def _report_warnings(session: Session, plan: InstallPlan) -> None:
    """Report the warnings of a plan; one that was reported before is not repeated."""
    for message in plan.warnings:
        session.reporter.warn(message)


def change_result(project: Project, options: ChangeOptions, plan: InstallPlan) -> ChangeResult:
    """Return the result of a plan; if there was nothing to do, record what had to be read to know that."""
    if plan.is_empty and plan.unrecorded is not None and not options.dry_run:
        from skillpm.change.executor import record_file_stats  # noqa: PLC0415  (after a copy only)
        from skillpm.scope.scope_lock import hold_scope  # noqa: PLC0415

        with suppress(SkillpmError), hold_scope(project.scope, project.settings):
            record_file_stats(project.scope, plan.unrecorded)
    _report_warnings(project.session, plan)
    actions = plan.actions
    if plan.files.includes:
        from skillpm.specs.includes import explain_includes  # noqa: PLC0415  (as above)

        actions = explain_includes(plan.files, plan.lockfile, actions)
    return ChangeResult(
        is_changed=not plan.is_empty,
        scope=project.scope.kind,
        directory=project.layout.directory,
        actions=actions,
        warnings=tuple(project.reporter.warnings),
        is_dry_run=options.dry_run,
        links_made=_link_paths(plan.links.links_to_create),
        links_removed=_link_paths(plan.links.links_to_remove),
        documents=tuple(plan.documents),
        failures=plan.failures,
        left_out=plan.left_out,
        old_lockfile=plan.files.lockfile,
        lockfile=plan.lockfile,
        next_step="" if options.dry_run else suggest_next_step(project, plan.files, plan.lockfile, plan.receipt),
        notes=(
            *(added_index_message(index, dry_run=options.dry_run) for index in plan.added_indexes),
            *edited_notes(project.scope, plan.actions),
            *plan.notes,
        ),
    )


def _link_paths(links: Mapping[SkillName, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted(f"{folder}/{name}" for name, folders in links.items() for folder in folders))
