"""Change all skills directories of a workspace from its root (ADR 33).

One resolution and one download serve all of them. Everything is planned, fetched and checked before anything is
written. Then the lockfile is written, and each skills directory is changed in a transaction of its own: if one fails,
the directories before it are done, and the next `sync` completes the rest.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence

from skillpm.change.before_changes import enforce_blocks, refresh_policies, removing_refused_links
from skillpm.change.change import (
    COMMITTED_SKILLS,
    INTERRUPTED_CHANGE,
    ChangeOptions,
    ChangeResult,
    change_result,
    has_committed_skills,
    plan_scope,
    raise_if_blocked,
    raise_if_refused,
    resolve_changed_lockfile,
)
from skillpm.change.executor import execute
from skillpm.change.locked_content import fetch_change
from skillpm.change.plan import InstallPlan
from skillpm.core.names import SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import OfflineError, SkillpmError
from skillpm.files import read_text
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.manifest import read_manifest
from skillpm.installer.disk.journal import is_change_pending
from skillpm.installer.disk.leftovers import find_temporary_files, has_leftovers
from skillpm.locking.lock_resolution import find_lock_conflicts, render_lockfile
from skillpm.locking.upgrade import FailedUpdate
from skillpm.requirements.manifest_requirements import read_requirements
from skillpm.scope.effective_settings import read_user_setting
from skillpm.scope.left_out import LeftOut
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import (
    ProjectFiles,
    read_project_files,
    retry_if_changed,
    write_checked_lockfile,
)
from skillpm.scope.scope import LOCKFILE, Scope, member_scope
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.scope.scope_lock import clean_up_after_crash, lock_scopes
from skillpm.scope.workspace_files import with_root_settings
from skillpm.specs.includes import expand_includes
from skillpm.store import Proofs

MAX_FOLDERS = 8


class WorkspacePlan(Value):
    """The planned change of a workspace."""

    files: ProjectFiles
    lockfile: Lockfile
    # The new text of the lockfile; None if it stays as it is.
    lockfile_text: str | None
    # By the folder of the manifest, the root first; only those that have, or had, skills.
    plans: Mapping[str, tuple[Scope, InstallPlan]] = EMPTY_MAPPING
    failures: tuple[FailedUpdate, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything is up to date."""
        return self.lockfile_text is None and all(plan.is_empty for _, plan in self.plans.values())


def change_workspace(
    project: Project,
    options: ChangeOptions,
    select_upgrades: Callable[[ProjectFiles], Collection[SkillName]] = lambda _: (),
) -> ChangeResult:
    """Resolve, plan and execute for the root and all members. As `change`, this plans first without the locks."""
    with removing_refused_links(project.session, dry_run=options.dry_run) as refused:

        def make_plan(files: ProjectFiles, upgrade: Collection[SkillName]) -> WorkspacePlan:
            plan = _plan(project, options, files, upgrade)
            refused[:] = [(each, own.refused_on_disk) for each, own in plan.plans.values()]
            for _, own in plan.plans.values():
                raise_if_blocked(own)
            return plan

        return _change(project, options, select_upgrades, make_plan)


def _change(
    project: Project,
    options: ChangeOptions,
    select_upgrades: Callable[[ProjectFiles], Collection[SkillName]],
    make_plan: Callable[[ProjectFiles, Collection[SkillName]], WorkspacePlan],
) -> ChangeResult:
    refresh_policies(project)
    enforce_blocks([project.scope], project.session, dry_run=options.dry_run)
    files = read_project_files(project)
    scopes = _find_scopes(project.scope, project.session, files)
    enforce_blocks(scopes[1:], project.session, dry_run=options.dry_run)
    _warn_of_own_lockfiles(scopes, project.session)
    is_pending = any(is_change_pending(each.layout) for each in scopes)
    if not (options.dry_run or is_pending):
        for each in scopes:
            # The lockfile is written before anything is staged: a half-written one is all that a death then leaves.
            if has_leftovers(each.layout, each.base) or (
                each is project.scope and find_temporary_files([project.scope.lockfile])
            ):
                clean_up_after_crash(project.in_scope(each))
    if options.dry_run:
        if is_pending:
            project.reporter.warn(INTERRUPTED_CHANGE)
        plan = make_plan(files, select_upgrades(files))
        _raise_if_refused(project.session, options, plan)
        return _result(project, options, plan)
    is_refreshing = bool(options.refreshed and files.includes)
    is_settled = not (find_lock_conflicts(files) or is_refreshing or select_upgrades(files))
    if not is_pending and (is_settled or options.lock_policy.locked or options.lock_policy.frozen):
        plan = make_plan(files, ())
        if plan.is_empty:
            _raise_if_refused(project.session, options, plan)
            return _result(project, options, plan)

    def plan_and_execute() -> WorkspacePlan:
        files = read_project_files(project)
        plan = make_plan(files, select_upgrades(files))
        if not plan.is_empty:
            _execute(project, plan)
        return plan

    policy, force = options.lock_policy, options.install.force
    may_write_documents = not (policy.frozen or policy.locked)
    new = {each.member for each in scopes if not os.path.isdir(each.layout.internal_dir)}
    with lock_scopes(scopes, project.session, force=force, may_write_documents=may_write_documents):
        plan = retry_if_changed(plan_and_execute)
    committed = [own for folder, own in plan.plans.items() if folder in new and has_committed_skills(own[1])]
    notes = tuple(COMMITTED_SKILLS.format(each.layout.directory) for each, _ in committed)
    _raise_if_refused(project.session, options, plan)
    result = _result(project, options, plan)
    return result.replace(notes=(*result.notes, *notes))


def _warn_of_own_lockfiles(scopes: Sequence[Scope], session: Session) -> None:
    for each in scopes[1:]:
        if os.path.lexists(own := os.path.join(each.root, LOCKFILE)):
            session.reporter.warn(f"{own} is not used: {each.lockfile} locks the skills of all members; delete it")


def _raise_if_refused(session: Session, options: ChangeOptions, plan: WorkspacePlan) -> None:
    raise_if_refused(session, options, [own for _, own in plan.plans.values()])


def _find_scopes(root: Scope, session: Session, files: ProjectFiles) -> list[Scope]:
    """Return the root and the members that have a skills directory, or require skills."""
    members = [member_scope(root, session.settings, folder) for folder in sorted(files.others)]
    return [root, *(each for each in members if files.others[each.member] or os.path.isdir(each.layout.internal_dir))]


def _plan(
    project: Project, options: ChangeOptions, files: ProjectFiles, upgrade: Collection[SkillName]
) -> WorkspacePlan:
    if not (options.lock_policy.locked or options.lock_policy.frozen):
        files = expand_includes(project.scope, files, make_fetchers(project), options.refreshed)
    upgraded = resolve_changed_lockfile(project, options, files, upgrade)
    lockfile = upgraded.lockfile
    text = render_lockfile(lockfile, files) if lockfile.skills or files.lockfile_text is not None else None
    plans = {}
    for each in _find_scopes(project.scope, project.session, files):
        own = _read_member_files(project.in_scope(each), files) if each.member else files
        own = own.replace(lockfile_text=text, workspace_lockfile=lockfile)
        if own.select(lockfile).skills or _is_used(each):
            plans[each.member] = (
                each,
                plan_scope(project.in_scope(each), options.with_updated(upgrade), own, lockfile),
            )
    is_same = text == files.lockfile_text
    return WorkspacePlan(
        files=files,
        lockfile=lockfile,
        lockfile_text=None if is_same else text,
        plans=plans,
        failures=upgraded.failures,
        left_out=upgraded.left_out,
    )


def _read_member_files(project: Project, root: ProjectFiles) -> ProjectFiles:
    """Return the files of a member, whose root has been read."""
    text = read_text(project.scope.manifest)
    manifest = with_root_settings(read_manifest(text or "", project.scope.manifest), root.manifest)
    user_agents = None if manifest.agents is not None else read_user_setting(project.settings, "agents")
    files = root.replace(
        manifest=manifest,
        requirements=read_requirements(manifest, project.scope.member),
        manifest_text=text,
        original_manifest_text=text,
        default_agents=() if user_agents is None else user_agents.texts(),
        member=project.scope.member,
        includes=(),
        included={},
        others={folder: each for folder, each in root.by_manifest.items() if folder != project.scope.member},
        root_manifest=root.manifest,
    )
    return files.replace(lockfile=files.select(root.whole_lockfile))


def _is_used(scope: Scope) -> bool:
    """Return whether a skills directory has, or had, skills: while its lock is held, it exists in any case."""
    layout = scope.layout
    try:
        names = {*os.listdir(layout.directory)}
    except FileNotFoundError:
        return False
    return os.path.lexists(layout.receipt) or names != {os.path.basename(layout.internal_dir)}


def _execute(project: Project, plan: WorkspacePlan) -> None:
    """Fetch and check everything, then write the lockfile, then change one directory after the other."""
    settings, proofs = project.settings, Proofs(project.settings.cache_dir)
    pending = {folder: each for folder, each in plan.plans.items() if not each[1].is_empty}
    for each, own in pending.values():
        roles = {*own.documents, "receipt", "registry"}
        each.target(settings).raise_if_unwritable(roles, own.links.changed_folders)
    fetchers = make_fetchers(project).with_locked(plan.lockfile.skills)
    wanted = {name for _, own in pending.values() for name in own.find_missing(project.store, proofs)}
    if missing := fetchers.fetch({name: plan.lockfile.skills[name] for name in sorted(wanted)}):
        raise OfflineError(missing, skills=[description.partition(" (")[0] for description in missing])
    changes = {folder: fetch_change(project.in_scope(each), own, fetchers) for folder, (each, own) in pending.items()}
    if plan.lockfile_text is not None:
        write_checked_lockfile(project, plan.files, plan.lockfile_text)
    for number, (folder, change) in enumerate(changes.items()):
        try:
            execute(project.in_scope(pending[folder][0]), change)
        except SkillpmError as error:
            raise _explain_partial(project.scope, error, [*changes], number) from error


def _explain_partial(scope: Scope, error: SkillpmError, folders: Sequence[str], number: int) -> SkillpmError:
    """Return the error with what is done and what is not, now that each directory changes by itself."""
    names = [folder or "the root" for folder in folders]
    done = f"done: {list_some(names[:number], MAX_FOLDERS)}; " if number else ""
    error.message = f"{names[number]}: {error.message}"
    rest = f"{done}not done: {list_some(names[number:], MAX_FOLDERS)}; `{scope.command('sync')}` completes them"
    error.hint = "; ".join(filter(None, [error.hint, rest]))
    return error


def _result(project: Project, options: ChangeOptions, plan: WorkspacePlan) -> ChangeResult:
    results = {
        folder: change_result(project.in_scope(each), options, own).replace(warnings=())
        for folder, (each, own) in plan.plans.items()
    }
    empty = ChangeResult(is_changed=False, scope=project.scope.kind, directory=project.layout.directory)
    own = results.pop("", empty.replace(is_dry_run=options.dry_run))
    documents = () if plan.lockfile_text is None else ("lockfile",)
    return own.replace(
        is_changed=not plan.is_empty,
        documents=(*own.documents, *documents),
        failures=plan.failures,
        left_out=plan.left_out,
        old_lockfile=plan.files.whole_lockfile,
        lockfile=plan.lockfile,
        warnings=tuple(project.reporter.warnings),
        members={
            folder: results.get(
                folder, empty.replace(directory=os.path.join(project.scope.root, folder, ".agent-skills"))
            )
            for folder in sorted(plan.files.others)
        },
    )
