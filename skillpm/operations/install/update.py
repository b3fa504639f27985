"""`update`: lock and install the newest that the manifest allows: versions in range, branch heads, moved tags."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from skillpm.change.change import ChangeOptions, ChangeResult, change
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.installer.actions import InstallOptions, find_edit_mode, version_label
from skillpm.installer.disk.disk_state import read_installed_states
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.disk.stat_cache import read_stat_cache
from skillpm.locking.index_policy import select_upgrades
from skillpm.locking.lock_resolution import find_changed_skills
from skillpm.locking.yanked import find_yanked
from skillpm.operations.inspect.outdated import no_update_messages
from skillpm.operations.inspect.upstream import find_excluded_commits
from skillpm.scope.effective_settings import read_edit_policies
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.scope import is_workspace_root
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.specs.includes import EVERY_REPOSITORY
from skillpm.store import StoreDamaged

if TYPE_CHECKING:
    from skillpm.compare.skill_change import SkillChange


def update(project: Project, names: Sequence[str], options: ChangeOptions, *, with_files: bool = False) -> ChangeResult:
    """Lock and install the newest allowed version of these skills, or of all, except those to keep.

    The result has what changes in content; `with_files` includes the files that differ.
    """
    before = read_project_files(project).covered_lockfile
    install_options = options.install.replace(selected=names or None, inexact=bool(names))

    def find_upgrades(files: ProjectFiles) -> Collection[SkillName]:
        selected = select_upgrades(project.scope, files, project.settings, names)
        kept = {*options.install.keep, *_find_kept_edits(project, files, options.install)}
        return [name for name in selected if name not in kept]

    refreshed = () if names else (EVERY_REPOSITORY,)
    options = options.replace(install=install_options, refreshed=refreshed, chosen=tuple(names))
    if is_workspace_root(project.scope):
        from skillpm.change.workspace_change import change_workspace  # noqa: PLC0415  (only in a workspace)

        result = change_workspace(project, options, find_upgrades)
    else:
        result = change(project, options, lambda files: files, find_upgrades)
    after = before if options.dry_run else read_project_files(project).covered_lockfile
    result = _explain_yanked(project, result, before, after, names)
    excluded = find_excluded_commits(after.skills, make_fetchers(project))
    reasons = tuple(f"{name}: {reason}" for name, (_, reason) in excluded.items() if not names or name in names)
    notes = () if result.is_changed else no_update_messages(project, names)
    updates = _describe_updates(project.session, result, with_files=with_files)
    return result.replace(
        warnings=tuple(project.reporter.warnings), notes=(*result.notes, *notes, *reasons), updates=tuple(updates)
    )


def _find_kept_edits(project: Project, files: ProjectFiles, options: InstallOptions) -> Collection[SkillName]:
    """Return the edited skills that stay as they are, as `edits` says."""
    policy = options.edits.over(read_edit_policies(files.manifest, project.settings))
    if "keep" not in {policy.default, *policy.by_name.values()}:
        return ()
    installed, stat_cache = load_receipt(project.layout).skills, read_stat_cache(project.layout.stat_cache)
    states = read_installed_states(project.layout.directory, installed, installed, stat_cache)
    options = options.replace(edits=policy)
    return [name for name, state in states.items() if find_edit_mode(name, installed[name], state, options) == "keep"]


def _describe_updates(session: Session, result: ChangeResult, *, with_files: bool) -> "list[SkillChange]":
    """Return what changes about locked skills. Fetches nothing: what is not cached is reported as not read."""
    changed = find_changed_skills(result.old_lockfile, result.lockfile)
    if not changed:
        return []
    from skillpm.compare.file_diff import LineBudget  # noqa: PLC0415  (only if there is something)
    from skillpm.compare.skill_change import describe_change  # noqa: PLC0415

    def read(skill: LockedSkill | None) -> tuple[FileTree | None, str]:
        if skill is None or skill.digest is None:
            return None, ""
        with suppress(StoreDamaged):
            if tree := session.store.read(skill.digest, skill.pin.store_variant()):
                return tree, ""
        return None, "it is not in the cache"

    budget = LineBudget() if with_files else None
    updates = []
    for name, old, new in changed:
        (before, old_reason), (after, new_reason) = read(old), read(new)
        reasons = ("" if new is None else old_reason, new_reason)
        updates.append(describe_change(session, name, (old, new), (before, after), reasons, budget=budget))
    return updates


def _explain_yanked(
    project: Project, result: ChangeResult, before: Lockfile, after: Lockfile, names: Sequence[str]
) -> ChangeResult:
    """Set the yank as the reason of each update away from a yanked version, and warn of skills that stay on one."""
    kept = {name: skill for name, skill in after.skills.items() if name in before.skills}
    kept = {name: skill for name, skill in kept.items() if skill.version == before.skills[name].version}
    yanked = find_yanked(project, {**before.skills, **kept})  # kept ones with their new place in the index
    everywhere = [action for each in result.members.values() for action in each.actions]
    actions = {action.name: action for action in (*everywhere, *result.actions)}
    for name, reason in yanked.items():
        action = actions.get(name)
        if action is None or action.new_version == version_label(before.skills[name]):
            if not names or name in names:
                project.reporter.warn(f"{name}: {reason}; no other version matches")
        elif action.new_version:
            actions[name] = action.replace(reason="; ".join(filter(None, [reason, action.reason])))
    return result.replace(actions=tuple(actions[action.name] for action in result.actions))
