"""Decide what to do, from what is wanted, what was installed and what lies there. Pure, so `--dry-run` is free."""

from collections.abc import Collection, Mapping
from typing import Literal

from skillpm.core.git_syntax import short_commit
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import GitPin, PathPin, Pin, summarize_pin
from skillpm.formats.receipt import InstalledSkill
from skillpm.installer.disk_state import FileChange, InstalledState

UNMANAGED_REASON = "a folder that skillpm did not make"
MODES_RESTORED_REASON = "executable bits put back"
Verb = Literal["add", "update", "remove", "keep", "relink", "blocked"]


class Action(Value):
    """One thing to do, or not to do, with one skill. `aside` says that what lies there is kept as a backup.

    `done` is what people call it afterwards, where the verb does not say it.
    """

    verb: Verb
    name: SkillName
    old_version: str = ""
    new_version: str = ""
    reason: str = ""
    needs_backup: bool = False
    changes: tuple[FileChange, ...] = ()
    outcome: str = ""


class InstallOptions(Value):
    """How the person wants obstacles met. `touched`: the only skills to look at; None means all. `only`: no other one
    is to come or to change, also where the lockfile is ahead. `gone`: skills made by hand that are to go. `linking`:
    links are what was asked for, those of skills made by hand too. `command`: the command line that was typed, to be
    said again with a way out. `leaves_edits`: an edited skill is in the way only where its locked state changes.
    """

    keep: Collection[str] = ()
    force: bool = False
    inexact: bool = False
    selected: Collection[str] | None = None
    selected_only: bool = False
    unmanaged_to_remove: Collection[SkillName] = ()
    is_linking_requested: bool = False
    command: str = ""
    tolerates_edits: bool = False


def plan_actions(
    locked: Mapping[SkillName, LockedSkill],
    installed: Mapping[SkillName, InstalledSkill],
    states: Mapping[SkillName, InstalledState],
    options: InstallOptions,
) -> tuple[Action, ...]:
    """Give the actions, by name: first what is wanted, then what is wanted no more."""
    stays = {name for name in locked if options.selected_only and name not in (options.selected or ())}
    wanted = [
        _plan_unselected(name, installed.get(name), states[name])
        if name in stays
        else _plan_wanted(name, locked[name], installed.get(name), states[name], options)
        for name in sorted(locked)
        if name not in stays or states[name].kind != "absent"
    ]
    gone = (
        []
        if options.inexact
        else [name for name in sorted({*installed, *options.unmanaged_to_remove}) if name not in locked]
    )
    return (*wanted, *(_plan_removal(name, installed.get(name), states[name], options) for name in gone))


def version_label(skill: LockedSkill | InstalledSkill | None) -> str:
    """Give what people call a state of a skill: its version, else its commit, else its digest."""
    if skill is None:
        return ""
    if skill.version:
        return skill.version
    if isinstance(skill.pin, GitPin):
        return short_commit(skill.pin.commit)
    if isinstance(skill.pin, PathPin) and skill.pin.link:
        return "link"
    return (skill.digest or "")[7:19]


def _describe_update(old: InstalledSkill | None, new: LockedSkill) -> str:
    """Say what is new about an update whose version is the old one."""
    if old is None or version_label(old) != version_label(new):
        return ""
    said = "" if old.digest is None or old.digest != new.digest else "same content"
    if isinstance(old.pin, GitPin) and isinstance(new.pin, GitPin) and old.pin.commit != new.pin.commit:
        commits = f"{short_commit(old.pin.commit)} → {short_commit(new.pin.commit)}"
        return f"{commits}; {said}" if said else commits
    return f"{_describe_source_change(old.pin, new.pin)}; {said}" if said else "other content"


def _describe_source_change(old: Pin, new: Pin) -> str:
    """Say what is new about where the same bytes come from."""
    if isinstance(old, GitPin) and isinstance(new, GitPin) and (old.url, old.path) == (new.url, new.path):
        if not new.ref:
            return "now asked for by its commit"
        ref = sanitize(new.ref.removeprefix("refs/heads/").removeprefix("refs/tags/"), 60)
        return f"now follows {'the default branch' if ref == 'HEAD' else ref}"
    return f"now from {sanitize(summarize_pin(new), 80)}"


def _plan_wanted(
    name: SkillName, wanted: LockedSkill, old: InstalledSkill | None, state: InstalledState, options: InstallOptions
) -> Action:
    was, becomes = version_label(old), version_label(wanted)
    same = old is not None and old.digest == wanted.digest and old.pin == wanted.pin
    if state.kind == "absent":
        return Action(verb="add", name=name, new_version=becomes, reason="" if old is None else "its folder was gone")
    if state.kind == "intact":
        if same:
            return Action(verb="keep", name=name, old_version=was, new_version=becomes)
        return Action(
            verb="update", name=name, old_version=was, new_version=becomes, reason=_describe_update(old, wanted)
        )
    untouched = options.selected is not None and name not in options.selected
    if has_only_mode_changes(state, old) and not (name in options.keep or (untouched and same)):
        return Action(
            verb="update",
            name=name,
            old_version=was,
            new_version=becomes,
            reason=MODES_RESTORED_REASON if same else _describe_update(old, wanted),
        )
    if state.digest is not None and state.digest == wanted.digest:
        # Committed to git, or brought to the locked state by hand: the content is the locked one, so it is ours.
        return Action(verb="keep", name=name, old_version=was, new_version=becomes, reason="already there")
    if name in options.keep:
        return _keep_action(name, was, state)
    if (same and untouched) or (options.tolerates_edits and state.kind == "edited" and _has_same_content(old, wanted)):
        return _keep_action(name, was, state).replace(outcome="kept" if name in (options.selected or ()) else "")
    verb: Verb = "add" if old is None else "update"
    return _block_or_replace(verb, name, (was, becomes), state, options)


def _plan_unselected(name: SkillName, old: InstalledSkill | None, state: InstalledState) -> Action:
    """Leave a skill as it is that nobody meant."""
    was = version_label(old)
    if state.kind == "intact":
        return Action(verb="keep", name=name, old_version=was, new_version=was)
    return _keep_action(name, was, state).replace(outcome="")


def _plan_removal(
    name: SkillName, old: InstalledSkill | None, state: InstalledState, options: InstallOptions
) -> Action:
    was = version_label(old)
    if name in options.keep and state.kind in {"edited", "foreign"}:
        return _keep_action(name, was, state)
    if state.kind in {"absent", "intact"} or has_only_mode_changes(state, old):
        return Action(
            verb="remove", name=name, old_version=was, reason="already gone" if state.kind == "absent" else ""
        )
    if options.selected is not None and name not in options.selected:
        # It was meant by nobody: it stays until a `sync`, which tells of it.
        return _keep_action(name, was, state).replace(outcome="")
    return _block_or_replace("remove", name, (was, ""), state, options)


def _has_same_content(old: InstalledSkill | None, wanted: LockedSkill) -> bool:
    """Tell whether what is wanted was installed already, whatever happened to it since."""
    return old is not None and old.digest == wanted.digest


def has_only_mode_changes(state: InstalledState, installed: InstalledSkill | None) -> bool:
    """Tell whether of a skill only executable bits are other than installed, so that there is no work to lose."""
    return (
        state.kind == "edited"
        and state.digest is not None
        and installed is not None
        and state.digest == installed.digest
    )


def _keep_action(name: SkillName, version: str, state: InstalledState) -> Action:
    """Somebody's work that stays as it is."""
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
    """Somebody's work is in the way: blocked, or with `--force` set aside first."""
    was, becomes = versions
    reason = state.reason or ("edited since it was installed" if state.kind == "edited" else UNMANAGED_REASON)
    if options.force:
        reason += "; set aside first"
        return Action(verb=verb, name=name, old_version=was, new_version=becomes, reason=reason, needs_backup=True)
    return Action(verb="blocked", name=name, old_version=was, new_version=becomes, reason=reason, changes=state.changes)
