"""The one road of every changing command: edit the manifest, re-lock, and make the directory follow."""

import os
from collections.abc import Callable, Collection, Mapping

from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.fetchers.base import variant_of
from skillpm.installer.actions import Action, InstallOptions
from skillpm.installer.leftovers import has_leftovers
from skillpm.operations.context.missing_manifest import require_manifest, require_project_manifest
from skillpm.operations.context.project_files import ProjectFiles, read_project_files, retry_if_changed
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.dry_run import warn_dry_run_effects
from skillpm.operations.install.index_policy import (
    add_indexes,
    added_index_message,
    find_user_only_indexes,
    missing_index_message,
    refuse_unconfigured,
    unconfigured_index_messages,
)
from skillpm.operations.install.lock_resolution import LockPolicy, find_lock_conflicts, make_fetchers, resolve_lockfile
from skillpm.operations.install.next_steps import suggest_next_step
from skillpm.operations.install.plan import InstallPlan, plan_install

INTERRUPTED_CHANGE = "an interrupted change is not finished yet; this is how things are without it"


class ChangeResult(Value):
    """What an operation did, or with `--dry-run` would do; `notes` are what else there is to know of it,
    `linked` and `unlinked` places in agents' folders, `written` the documents that are new.
    """

    is_changed: bool
    scope: str
    directory: str
    actions: tuple[Action, ...] = ()
    warnings: tuple[str, ...] = ()
    is_dry_run: bool = False
    next_step: str = ""
    notes: tuple[str, ...] = ()
    links_made: tuple[str, ...] = ()
    links_removed: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()


class ChangeOptions(Value):
    """How a changing command goes about it. `is_naming`: the manifest is to name the indexes that skills come from."""

    lock_policy: LockPolicy = LockPolicy()
    install: InstallOptions = InstallOptions()
    dry_run: bool = False
    adds_indexes: bool = False


Edit = Callable[[ProjectFiles], ProjectFiles]


def change(
    scope: Scope,
    context: Context,
    options: ChangeOptions,
    edit: Edit,
    select_upgrades: Callable[[ProjectFiles], Collection[SkillName]] = lambda _: (),
    read_files: Callable[[Scope, Context], ProjectFiles] = read_project_files,
) -> ChangeResult:
    """Edit the manifest, re-lock, and make the directory follow: the one road of every changing command.

    It is gone twice: once without the lock, to find that there is nothing to do, and then under it with the
    documents read again, since another process may have changed them. An editor knows no lock: where a document was
    saved while skills were fetched, it is read once more, and what was fetched is at hand by then.
    """
    require_project_manifest(scope, context.settings)
    if not options.dry_run and has_leftovers(scope.layout):
        from skillpm.operations.context.scope_lock import clean_up_after_crash  # noqa: PLC0415  (after somebody was killed)

        clean_up_after_crash(scope, context)

    def edited() -> ProjectFiles:
        return edit(require_manifest(scope, read_files(scope, context)))

    if not os.path.exists(scope.layout.journal):
        papers = edited()
        settled = not find_lock_conflicts(papers) and not select_upgrades(papers)
        if settled or options.lock_policy.locked or options.lock_policy.frozen:
            ahead = _make_plan(scope, context, options, papers, ())
            if ahead.is_empty or options.dry_run:
                return _change_result(scope, context, options, ahead)
    elif options.dry_run:
        context.reporter.warn(INTERRUPTED_CHANGE)
    if options.dry_run:
        papers = edited()
        return _change_result(
            scope, context, options, _make_plan(scope, context, options, papers, select_upgrades(papers))
        )
    ahead = _plan_and_execute(scope, context, options, edited, select_upgrades)
    return _change_result(scope, context, options, ahead)


def _plan_and_execute(
    scope: Scope,
    context: Context,
    options: ChangeOptions,
    read_edited: Callable[[], ProjectFiles],
    select_upgrades: Callable[[ProjectFiles], Collection[SkillName]],
) -> InstallPlan:
    """Plan and do, under the lock."""
    # Locks and the machinery of a transaction cost 25 ms: a command with nothing to do never comes here.
    from skillpm.operations.context.scope_lock import lock_scope, remove_empty_directory  # noqa: PLC0415
    from skillpm.operations.install.executor import execute  # noqa: PLC0415

    def planned_and_done() -> InstallPlan:
        papers = read_edited()
        ahead = _make_plan(scope, context, options, papers, select_upgrades(papers))
        if not ahead.is_empty:
            execute(scope, context, ahead, make_fetchers(scope, context))
        return ahead

    was_there = os.path.isdir(scope.layout.internal_dir)
    done = False
    try:
        with lock_scope(scope, context, force=options.install.force):
            ahead = retry_if_changed(planned_and_done)
            done = True
    finally:
        if not (was_there or done):
            remove_empty_directory(scope)
    return ahead


def _make_plan(
    scope: Scope, context: Context, options: ChangeOptions, files: ProjectFiles, upgrade: Collection[SkillName]
) -> InstallPlan:
    fetchers, touched = make_fetchers(scope, context), options.install.selected
    lockfile = resolve_lockfile(scope, files, fetchers, options.lock_policy, upgrade, touched)
    unknown = find_user_only_indexes(scope, context.settings, files, lockfile)
    named = unknown if options.adds_indexes else []
    ahead = plan_install(scope, context, add_indexes(files, named, context.settings), lockfile, options.install)
    absent = {name for name in ahead.written_skills if _needs_fetch(ahead, context, name)}
    refuse_unconfigured(scope, ahead.files, lockfile, absent, context.settings)
    if "lockfile" in ahead.documents and not named:
        for place in unknown:
            context.reporter.warn(missing_index_message(scope, files, place))
    return ahead.replace(added_indexes=tuple(named))


def _needs_fetch(plan: InstallPlan, context: Context, name: SkillName) -> bool:
    """Tell whether a skill's content is not at hand, so that it has to be fetched."""
    skill = plan.lockfile.skills[name]
    return skill.digest is not None and not context.store.has(skill.digest, variant_of(skill.pin))


def _change_result(scope: Scope, context: Context, options: ChangeOptions, plan: InstallPlan) -> ChangeResult:
    for message in unconfigured_index_messages(
        scope, plan.files, plan.lockfile, context.settings, options.install.selected
    ):
        context.reporter.warn(message)
    if options.dry_run:
        warn_dry_run_effects(scope, context.settings, plan, context.reporter.warn)
    return ChangeResult(
        is_changed=not plan.is_empty,
        scope=scope.kind,
        directory=scope.layout.directory,
        actions=plan.actions,
        warnings=tuple(context.reporter.warnings),
        is_dry_run=options.dry_run,
        links_made=_link_paths(plan.links.links_to_create),
        links_removed=_link_paths(plan.links.links_to_remove),
        documents=tuple(plan.documents),
        next_step="" if options.dry_run else suggest_next_step(scope, context, plan.files, plan.lockfile, plan.receipt),
        notes=tuple(added_index_message(place, dry_run=options.dry_run) for place in plan.added_indexes),
    )


def _link_paths(links: Mapping[SkillName, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted(f"{folder}/{name}" for name, folders in links.items() for folder in folders))
