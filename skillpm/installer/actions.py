"""Plan what a command does with each skill, from the requested, the recorded and the actual state.

Planning is pure: it reads nothing from disk, so `--dry-run` and the tests compare plans without side effects.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.formats.edit_policy import EditMode, EditPolicy
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import InstalledSkill
from skillpm.installer.disk.disk_state import FileChange, InstalledState

UNMANAGED_REASON = "a folder that skillpm did not create"
KEPT_REASON = "edited; kept, as `edits` says"
MERGED_REASON = "your edits merged; backed up first"
MODES_RESTORED_REASON = "executable bits restored"
Verb = Literal["add", "update", "remove", "keep", "relink", "blocked"]


class Action(Value):
    """What happens, or deliberately does not happen, to one skill."""

    verb: Verb
    name: SkillName
    # Labels as `version_label` returns them; empty if that state does not exist.
    old_version: str = ""
    new_version: str = ""
    reason: str = ""
    # The existing folder is backed up before it is replaced or removed.
    needs_backup: bool = False
    # Local edits that block the action, or that it leaves in place.
    changes: tuple[FileChange, ...] = ()
    # How the finished action is reported, if `verb` alone does not say it.
    outcome: str = ""
    # Local edits are merged into the new content.
    merges: bool = False


class InstallOptions(Value):
    """What the user chose for skills that have local edits or conflict with unmanaged folders."""

    # Skills whose local state stays as it is (`--keep`).
    keep: Collection[str] = ()
    # Replace local edits and unmanaged folders, after backing them up.
    force: bool = False
    # Leave skills installed that the lockfile no longer lists.
    inexact: bool = False
    # The skills the command names; None means all of them.
    selected: Collection[str] | None = None
    # Neither install nor update any other skill, even if the lockfile is ahead of what is installed.
    selected_only: bool = False
    # Unmanaged skills that the command removes.
    unmanaged_to_remove: Collection[SkillName] = ()
    # The command is about links, including those of unmanaged skills.
    is_linking_requested: bool = False
    # The command line as typed, to be repeated in hints.
    command: str = ""
    # An edited skill blocks the command even if there is nothing to do for it (`--frozen`, `--locked`).
    is_strict: bool = False
    # What happens to local edits, unless `keep` or `force` decides.
    edits: EditPolicy = EditPolicy()
    # Merged files may have conflict marks.
    allows_marks: bool = False


def plan_actions(
    locked: Mapping[SkillName, LockedSkill],
    installed: Mapping[SkillName, InstalledSkill],
    states: Mapping[SkillName, InstalledState],
    options: InstallOptions,
    find_range: Callable[[SkillName], str] = lambda _: "",
) -> tuple[Action, ...]:
    """Return the actions: requested skills sorted by name, then removals sorted by name.

    `find_range` returns the version range that a skill is required by, empty if it is not required so.
    """
    unselected = {name for name in locked if options.selected_only and name not in (options.selected or ())}
    installs = [
        _plan_unselected(name, installed.get(name), states[name])
        if name in unselected
        else _name_range(_plan_wanted(name, locked[name], installed.get(name), states[name], options), find_range)
        for name in sorted(locked)
        if name not in unselected or states[name].kind != "absent"
    ]
    removals = (
        []
        if options.inexact
        else [name for name in sorted({*installed, *options.unmanaged_to_remove}) if name not in locked]
    )
    return (*installs, *(_plan_removal(name, installed.get(name), states[name], options) for name in removals))


def version_label(skill: LockedSkill | InstalledSkill | None) -> str:
    """Return the display name of a skill's state: its version, else its commit, else its digest, shortened."""
    if skill is None:
        return ""
    if skill.version:
        return skill.version
    return skill.pin.label() or (skill.digest or "")[7:19]


def _describe_update(old: InstalledSkill | None, new: LockedSkill) -> str:
    """Return what an update changes if the version label stays the same, else an empty string."""
    if old is None or version_label(old) != version_label(new):
        return ""
    digest_note = "" if old.digest is None or old.digest != new.digest else "same content"
    if "" != old.pin.commit_id != new.pin.commit_id != "":
        commits = f"{short_commit(old.pin.commit_id)} → {short_commit(new.pin.commit_id)}"
        return f"{commits}; {digest_note}" if digest_note else commits
    return f"{new.pin.describe_change(old.pin)}; {digest_note}" if digest_note else "different content"


NOW_AT_TAG = "now at tag "


def _name_range(action: Action, find_range: Callable[[SkillName], str]) -> Action:
    """Return an action whose reason is a new tag with the range that is followed, if the tag was chosen by one."""
    if not action.reason.startswith(NOW_AT_TAG) or not (followed := find_range(action.name)):
        return action
    return action.replace(reason=f"now follows {sanitize(followed, 60)}, {action.reason.removeprefix('now ')}")


def _plan_wanted(
    name: SkillName, wanted: LockedSkill, old: InstalledSkill | None, state: InstalledState, options: InstallOptions
) -> Action:
    old_version, new_version = version_label(old), version_label(wanted)
    is_unchanged = old is not None and old.digest == wanted.digest and old.pin == wanted.pin
    if state.kind == "absent":
        return Action(
            verb="add", name=name, new_version=new_version, reason="" if old is None else "its folder was missing"
        )
    if state.kind == "intact":
        if is_unchanged:
            return Action(verb="keep", name=name, old_version=old_version, new_version=new_version)
        return Action(
            verb="update",
            name=name,
            old_version=old_version,
            new_version=new_version,
            reason=_describe_update(old, wanted),
        )
    is_unselected = options.selected is not None and name not in options.selected
    # Lost executable bits are restored without a backup: no work is lost with them (ADR 12).
    if has_only_mode_changes(state, old) and not (name in options.keep or (is_unselected and is_unchanged)):
        return Action(
            verb="update",
            name=name,
            old_version=old_version,
            new_version=new_version,
            reason=MODES_RESTORED_REASON if is_unchanged else _describe_update(old, wanted),
        )
    if state.digest is not None and state.digest == wanted.digest:
        # The folder came with the git checkout, or was brought to the locked state by hand. Its content is the locked
        # one, so taking it over loses nothing.
        return Action(
            verb="keep", name=name, old_version=old_version, new_version=new_version, reason="already present"
        )
    if (kept := _keep_edits(name, wanted, old, state, options)) is not None:
        return kept
    if find_edit_mode(name, old, state, options) == "merge":
        reason = "; ".join(filter(None, [_describe_update(old, wanted), MERGED_REASON]))
        return Action(
            verb="update",
            name=name,
            old_version=old_version,
            new_version=new_version,
            reason=reason,
            needs_backup=True,
            changes=state.changes,
            merges=True,
        )
    verb: Verb = "add" if old is None else "update"
    action = _block_or_replace(verb, name, (old_version, new_version), state, options)
    update = _describe_update(old, wanted) if action.needs_backup and not is_unchanged else ""
    return action.replace(reason=f"{update}; {action.reason}") if update else action


def _keep_edits(
    name: SkillName, wanted: LockedSkill, old: InstalledSkill | None, state: InstalledState, options: InstallOptions
) -> Action | None:
    """Return the action that leaves local work as it is, if the user chose that or there is nothing to do for it."""
    kept = _keep_action(name, version_label(old), state)
    if name in options.keep:
        return kept
    is_unselected = options.selected is not None and name not in options.selected
    if is_unselected and old is not None and old.digest == wanted.digest and old.pin == wanted.pin:
        return kept.replace(outcome="")
    mode = find_edit_mode(name, old, state, options)
    if mode == "keep":
        return kept.replace(reason=KEPT_REASON)
    is_settled = _is_edited(state, old) and _has_same_content(old, wanted) and not options.force
    if is_settled and (mode == "merge" or not options.is_strict):
        return kept.replace(outcome="kept" if name in (options.selected or ()) else "")
    return None


def find_edit_mode(
    name: SkillName, installed: InstalledSkill | None, state: InstalledState, options: InstallOptions
) -> EditMode:
    """Return what happens to the local edits of a skill; to anything but edited files: `block`."""
    return options.edits.find_mode(name) if _is_edited(state, installed) and not options.force else "block"


def _is_edited(state: InstalledState, installed: InstalledSkill | None) -> bool:
    """Return whether an installed skill has edited files, and is not replaced by something else."""
    return state.kind == "edited" and state.digest is not None and installed is not None and bool(installed.digest)


def hold_blocked(actions: Sequence[Action]) -> tuple[tuple[Action, ...], tuple[Action, ...]]:
    """Return the actions with the blocked ones replaced by ones that keep what is there, and the blocked ones."""
    held = tuple(action for action in actions if action.verb == "blocked")
    return tuple(action.replace(verb="keep") if action in held else action for action in actions), held


def _plan_unselected(name: SkillName, old: InstalledSkill | None, state: InstalledState) -> Action:
    """Leave a skill as it is because the command does not select it."""
    version = version_label(old)
    if state.kind == "intact":
        return Action(verb="keep", name=name, old_version=version, new_version=version)
    return _keep_action(name, version, state).replace(outcome="")


def _plan_removal(
    name: SkillName, old: InstalledSkill | None, state: InstalledState, options: InstallOptions
) -> Action:
    old_version = version_label(old)
    if name in options.keep and state.kind in {"edited", "foreign"}:
        return _keep_action(name, old_version, state)
    if state.kind in {"absent", "intact"} or has_only_mode_changes(state, old):
        return Action(
            verb="remove",
            name=name,
            old_version=old_version,
            reason="already removed" if state.kind == "absent" else "",
        )
    if options.selected is not None and name not in options.selected:
        # The command is about other skills: an edited leftover stays until a `sync`, which reports it.
        return _keep_action(name, old_version, state).replace(outcome="")
    return _block_or_replace("remove", name, (old_version, ""), state, options)


def _has_same_content(old: InstalledSkill | None, wanted: LockedSkill) -> bool:
    """Return whether the requested content was installed before, regardless of edits since then."""
    return old is not None and old.digest == wanted.digest


def has_only_mode_changes(state: InstalledState, installed: InstalledSkill | None) -> bool:
    """Return whether an installed skill differs only in executable bits, so that no work can be lost (ADR 12)."""
    return (
        state.kind == "edited"
        and state.digest is not None
        and installed is not None
        and state.digest == installed.digest
    )


def _keep_action(name: SkillName, version: str, state: InstalledState) -> Action:
    """Return the action that leaves local work as it is."""
    reason = state.reason or "edited" if state.kind == "edited" else UNMANAGED_REASON
    return Action(
        verb="keep",
        name=name,
        old_version=version,
        new_version=version,
        reason=reason,
        changes=state.changes,
        outcome="kept",
    )


def _block_or_replace(
    verb: Verb, name: SkillName, versions: tuple[str, str], state: InstalledState, options: InstallOptions
) -> Action:
    """Return the action for a folder with local work: blocked, or with `--force` backed up first."""
    old_version, new_version = versions
    reason = state.reason or ("edited since it was installed" if state.kind == "edited" else UNMANAGED_REASON)
    if options.force:
        reason += "; backed up first"
        return Action(
            verb=verb, name=name, old_version=old_version, new_version=new_version, reason=reason, needs_backup=True
        )
    return Action(
        verb="blocked",
        name=name,
        old_version=old_version,
        new_version=new_version,
        reason=reason,
        changes=state.changes,
    )
