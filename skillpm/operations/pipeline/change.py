"""Change a scope: edit the manifest, resolve, plan and execute, and report the result."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from skillpm.agent_hosts.known_agents import agent_folder, is_present, load_agents
from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import list_some
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import Action, InstallOptions
from skillpm.installer.journal import is_change_pending
from skillpm.installer.leftovers import has_leftovers
from skillpm.operations.context.project_files import (
    ProjectFiles,
    read_project_files,
    require_manifest,
    require_project_manifest,
    retry_if_changed,
)
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope, workspace_scope
from skillpm.operations.context.scope_fetchers import make_fetchers
from skillpm.operations.context.scope_policy import has_published_policy, load_scope_policies
from skillpm.operations.context.scope_settings import read_edit_policies
from skillpm.operations.context.validation_options import ValidationOptions
from skillpm.operations.inspect.moved_tags import report_moved_tags
from skillpm.operations.pipeline.blockers import raise_if_blocked
from skillpm.operations.pipeline.dry_run import dry_run_warnings
from skillpm.operations.pipeline.groups import remove_from_groups, select_groups
from skillpm.operations.pipeline.includes import expand_includes, explain_includes
from skillpm.operations.pipeline.index_policy import (
    add_indexes,
    added_index_message,
    find_user_only_indexes,
    missing_index_message,
    refuse_unconfigured,
    unconfigured_index_messages,
)
from skillpm.operations.pipeline.lock_resolution import LockPolicy, find_lock_conflicts, write_ranges
from skillpm.operations.pipeline.plan import InstallPlan, plan_install
from skillpm.operations.pipeline.present_skills import find_refused_skills, refused_messages
from skillpm.operations.pipeline.upgrade import FailedUpdate, Upgrade, UpgradeOptions, resolve_upgrade
from skillpm.operations.pipeline.whole_repositories import find_whole_repositories, require_confirmation
from skillpm.store import Proofs

if TYPE_CHECKING:
    from skillpm.operations.content_validation.problems import Problem
    from skillpm.operations.inspect.skill_change import SkillChange

MAX_AGENTS_NAMED = 4


def suggest_next_step(scope: Scope, context: Context, files: ProjectFiles, lockfile: Lockfile, before: Receipt) -> str:
    """Return the next step in a scope without linked agents, or an empty string.

    `before` is the receipt before the change: if something was installed already, the user has seen the suggestion.
    """
    if files.agents or files.manifest.agents is not None or not lockfile.skills or before.skills:
        return ""
    present = find_present_agents(scope, context)
    if not present:
        link = scope.command("link", "AGENT")
        return f"`{link}` makes them visible to your agent; `skillpm agents --all` lists the agents it knows"
    others = f" (also here: {', '.join(present[MAX_AGENTS_NAMED:])})" if len(present) > MAX_AGENTS_NAMED else ""
    link = scope.command("link", *present[:MAX_AGENTS_NAMED])
    return f"`{link}` makes them visible to {'that agent' if len(present) == 1 else 'these agents'}{others}"


def find_present_agents(scope: Scope, context: Context) -> list[str]:
    """Return the agents that are on this machine or in this project, and read skills in this scope."""
    return [
        agent.id
        for agent in load_agents().values()
        if agent_folder(agent, scope.kind, context.settings) and is_present(agent, scope.root, context.settings)
    ]


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
    # Whether skills that cannot be upgraded stay as they are locked, while the others are upgraded.
    allows_failures: bool = False
    # The skills to update, if the user named some: they are refused, but not left out.
    chosen: tuple[str, ...] = ()
    # The URLs of repositories whose skills are listed again, for the includes that stand for all of them.
    refreshed: tuple[str, ...] = ()
    # The groups of the manifest to install; empty for everything.
    groups: tuple[str, ...] = ()
    validation: ValidationOptions = ValidationOptions()


Edit = Callable[[ProjectFiles], ProjectFiles]


def change(
    scope: Scope,
    context: Context,
    options: ChangeOptions,
    edit: Edit,
    select_upgrades: Callable[[ProjectFiles], Collection[SkillName]] = lambda _: (),
    read_files: Callable[[Scope, Context], ProjectFiles] = read_project_files,
) -> ChangeResult:
    """Edit the manifest, resolve, plan and execute.

    This plans twice: first without the lock, since often there is nothing to do, then while holding it, with the
    documents read again, since another process may have changed them. Editors take no lock: if a document is saved
    while skills are fetched, it plans once more; what was fetched is in the store by then.
    """
    refresh_policies(scope, context)
    enforce_blocks([scope], context, options)
    require_project_manifest(scope, context.settings)
    if not options.dry_run and has_leftovers(scope.layout):
        from skillpm.operations.context.scope_lock import clean_up_after_crash  # noqa: PLC0415  (only after a crash)

        clean_up_after_crash(scope, context)

    def edited() -> ProjectFiles:
        return edit(require_manifest(scope, read_files(scope, context)))

    if not os.path.exists(scope.layout.journal):
        files = edited()
        is_refreshing = bool(options.refreshed and files.includes)
        is_settled = not (find_lock_conflicts(files) or is_refreshing or select_upgrades(files))
        if is_settled or options.lock_policy.locked or options.lock_policy.frozen:
            plan = _make_plan(scope, context, options, files, ())
            if plan.is_empty or options.dry_run:
                raise_if_refused(context, options, [plan])
                return change_result(scope, context, options, plan)
    elif options.dry_run and is_change_pending(scope.layout):
        context.reporter.warn(INTERRUPTED_CHANGE)
    if options.dry_run:
        files = edited()
        plan = _make_plan(scope, context, options, files, select_upgrades(files))
    else:
        is_first = not os.path.isdir(scope.layout.internal_dir)
        plan = _plan_and_execute(scope, context, options, edited, select_upgrades)
        if is_first and scope.kind == "project" and has_committed_skills(plan):
            raise_if_refused(context, options, [plan])
            result = change_result(scope, context, options, plan)
            return result.replace(notes=(*result.notes, COMMITTED_SKILLS.format(scope.layout.directory)))
    raise_if_refused(context, options, [plan])
    return change_result(scope, context, options, plan)


def raise_if_refused(context: Context, options: ChangeOptions, plans: Sequence[InstallPlan]) -> None:
    """Raise `NotTrusted` for skills that are there and refused, now that no agent gets them any more.

    A command that is about other skills only warns of them, and so does every command for local skills, which are the
    user's own; not with `--frozen` and `--locked`, since a checkout may bring local skills, too.
    """
    if not any(plan.refused for plan in plans):
        return
    from skillpm.operations.content_validation.problems import refusal  # noqa: PLC0415  (only then)

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
                context.reporter.warn(message)
    if problems:
        changed = (action for plan in plans for action in plan.actions if action.name not in plan.refused)
        done = "everything else was done; " if any(action.verb != "keep" for action in changed) else ""
        them = "it" if len({problem.skill for problem in problems}) == 1 else "them"
        raise refusal(problems, outcome=f"{done}no agent gets {them}")


def refresh_policies(scope: Scope, context: Context) -> None:
    """Fetch the published policies whose interval is over."""
    if has_published_policy(scope, context.settings):
        from skillpm.operations.policy.refresh import refresh_due_policies  # noqa: PLC0415  (few users have any)

        refresh_due_policies(scope, context)


def enforce_blocks(scopes: Sequence[Scope], context: Context, options: ChangeOptions) -> None:
    """Take the links to blocked skills away before anything else, since that must not fail with the command."""
    for scope in () if options.dry_run else scopes:
        policies = load_scope_policies(scope, context.settings)
        if policies is not None and policies.has_blocked:
            from skillpm.operations.policy.blocked_links import unlink_blocked  # noqa: PLC0415  (few policies block any)

            unlink_blocked(scope, context)


def has_committed_skills(plan: InstallPlan) -> bool:
    """Return whether locked skills were there before the first change in this directory: git tracks them, probably."""
    return any(plan.disk[name].kind != "absent" for name in plan.files.lockfile.skills if name in plan.disk)


def _plan_and_execute(
    scope: Scope,
    context: Context,
    options: ChangeOptions,
    read_edited: Callable[[], ProjectFiles],
    select_upgrades: Callable[[ProjectFiles], Collection[SkillName]],
) -> InstallPlan:
    # Locks and transactions take 25 ms to import, which a command with nothing to do saves.
    from skillpm.operations.context.scope_lock import lock_scopes  # noqa: PLC0415

    def plan_and_execute() -> InstallPlan:
        files = read_edited()
        plan = _make_plan(scope, context, options, files, select_upgrades(files))
        if not plan.is_empty:
            from skillpm.operations.pipeline.executor import execute  # noqa: PLC0415  (with all checks of new content)
            from skillpm.operations.pipeline.locked_content import fetch_change  # noqa: PLC0415

            fetchers = make_fetchers(scope, context).with_locked(plan.lockfile.skills)
            execute(scope, context, fetch_change(scope, context, plan, fetchers))
        return plan

    policy = options.lock_policy
    may_write_documents = not (policy.frozen or policy.locked)
    # The lockfile of a member is that of its root, which other members may change.
    scopes = [workspace_scope(scope, context.settings), scope] if scope.member else [scope]
    with lock_scopes(scopes, context, force=options.install.force, may_write_documents=may_write_documents):
        return retry_if_changed(plan_and_execute)


def _make_plan(
    scope: Scope, context: Context, options: ChangeOptions, files: ProjectFiles, upgrade: Collection[SkillName]
) -> InstallPlan:
    if not (options.lock_policy.locked or options.lock_policy.frozen):
        files = expand_includes(scope, files, make_fetchers(scope, context), options.refreshed)
    upgraded = resolve_changed_lockfile(scope, context, options, files, upgrade)
    files, lockfile = write_ranges(files, upgraded.lockfile, make_fetchers(scope, context))
    if files.manifest_text != files.original_manifest_text:  # which may have added them to a group
        files = remove_from_groups(files, upgraded.left_out)
    return plan_scope(scope, context, options, files, lockfile).replace(failures=upgraded.failures)


def resolve_changed_lockfile(
    scope: Scope, context: Context, options: ChangeOptions, files: ProjectFiles, upgrade: Collection[SkillName]
) -> Upgrade:
    """Return the whole lockfile that applies. Raises `WholeRepository` for a skill that has to be confirmed."""
    upgrade_options = UpgradeOptions(
        lock_policy=options.lock_policy,
        selected=options.install.selected,
        allows_failures=options.allows_failures,
        checks_commits=True,
    )
    upgraded = resolve_upgrade(scope, files, make_fetchers(scope, context), upgrade, upgrade_options)
    if files.included and upgraded.lockfile != files.whole_lockfile and not options.lock_policy.locked:
        from skillpm.operations.pipeline.refused_includes import (  # noqa: PLC0415  (with all checks of new content)
            RefusalOptions,
            leave_out_refused,
        )

        refusals = RefusalOptions(upgrade=upgrade, validation=options.validation, chosen=options.chosen)
        upgraded = leave_out_refused(scope, context, files, upgraded, upgrade_options, refusals)
    lockfile, before = upgraded.lockfile, files.whole_lockfile
    report_moved_tags(before, lockfile, context.reporter)
    if lockfile != before and not (options.allows_whole_repositories or options.dry_run):
        require_confirmation(context.store, before, lockfile)
    return upgraded


def plan_scope(
    scope: Scope, context: Context, options: ChangeOptions, files: ProjectFiles, lockfile: Lockfile
) -> InstallPlan:
    """Plan what a whole lockfile means for the skills directory of a scope. Raises `BlockedError`."""
    settings = context.settings
    if options.groups:
        options = options.replace(install=select_groups(files, lockfile, options.groups, options.install))
    user_only = find_user_only_indexes(scope, settings, files, lockfile)
    added = user_only if options.adds_indexes and not scope.member else []
    edits = options.install.edits.over(read_edit_policies(files.manifest, settings))
    install = options.install.replace(edits=edits)
    find_refused = partial(
        find_refused_skills, scope, context, options=options.validation, may_fetch=not options.dry_run
    )
    plan = plan_install(scope, settings, add_indexes(files, added, settings), lockfile, install, find_refused)
    _report_warnings(context, plan)
    raise_if_blocked(
        scope, plan.actions, plan.links, {*files.whole_lockfile.skills, *plan.receipt.skills}, options.install
    )
    if options.validation.requires_reviews:
        from skillpm.operations.content_validation.reviewed import require_reviews  # noqa: PLC0415  (only with --reviewed)

        require_reviews(scope, context, plan.lockfile)
    missing = plan.find_missing(context.store, Proofs(settings.cache_dir))
    refuse_unconfigured(scope, plan.files, lockfile, missing, settings)
    warnings = []
    if "lockfile" in plan.documents and not added:
        warnings += [missing_index_message(scope, files, index) for index in user_only]
    warnings += unconfigured_index_messages(scope, plan.files, lockfile, settings, options.install.selected)
    plan = plan.replace(validation=options.validation)
    if options.dry_run:
        warnings += dry_run_warnings(scope, settings, plan)
        if not plan.is_empty:
            from skillpm.operations.pipeline.locked_content import find_refusals  # noqa: PLC0415  (as in execution)

            warnings += find_refusals(scope, context, plan)
        if any(action.merges for action in plan.actions):
            from skillpm.operations.pipeline.edit_merge import overlap_messages  # noqa: PLC0415  (starts git)

            warnings += overlap_messages(scope, context, plan)
        whole = find_whole_repositories(context.store, files.whole_lockfile, lockfile).values()
        warnings += [f"{message}; installing it needs confirmation, or --yes" for message in whole]
    notes = find_stale_members(scope, files, lockfile) if files.others else ()
    return plan.replace(added_indexes=tuple(added), warnings=(*plan.warnings, *warnings), notes=notes)


def find_stale_members(scope: Scope, files: ProjectFiles, lockfile: Lockfile) -> tuple[str, ...]:
    """Return a note that names the other projects of a workspace for which a change of the lockfile matters."""
    from skillpm.operations.context.workspace_files import select_member  # noqa: PLC0415  (only in a workspace)

    stale = [
        folder or "the root"
        for folder, requirements in sorted(files.others.items())
        if select_member(files.whole_lockfile, folder, requirements).skills
        != select_member(lockfile, folder, requirements).skills
    ]
    names, command = list_some(stale, MAX_AGENTS_NAMED), f"`skillpm -C {shell_word(scope.base)} sync`"
    return (f"skills.lock has changed for {names}, too; {command} installs it there",) if stale else ()


def _report_warnings(context: Context, plan: InstallPlan) -> None:
    """Report the warnings of a plan; one that was reported before is not repeated."""
    for message in plan.warnings:
        context.reporter.warn(message)


def change_result(scope: Scope, context: Context, options: ChangeOptions, plan: InstallPlan) -> ChangeResult:
    """Return the result of a plan; if there was nothing to do, record what had to be read to know that."""
    if plan.is_empty and plan.unrecorded is not None and not options.dry_run:
        from skillpm.operations.pipeline.executor import record_file_stats  # noqa: PLC0415  (after a copy only)

        record_file_stats(scope, plan.unrecorded)
    _report_warnings(context, plan)
    return ChangeResult(
        is_changed=not plan.is_empty,
        scope=scope.kind,
        directory=scope.layout.directory,
        actions=explain_includes(plan.files, plan.lockfile, plan.actions),
        warnings=tuple(context.reporter.warnings),
        is_dry_run=options.dry_run,
        links_made=_link_paths(plan.links.links_to_create),
        links_removed=_link_paths(plan.links.links_to_remove),
        documents=tuple(plan.documents),
        failures=plan.failures,
        old_lockfile=plan.files.lockfile,
        lockfile=plan.lockfile,
        next_step="" if options.dry_run else suggest_next_step(scope, context, plan.files, plan.lockfile, plan.receipt),
        notes=(*(added_index_message(index, dry_run=options.dry_run) for index in plan.added_indexes), *plan.notes),
    )


def _link_paths(links: Mapping[SkillName, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted(f"{folder}/{name}" for name, folders in links.items() for folder in folders))
