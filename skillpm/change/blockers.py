"""What blocks a plan: local changes that would be lost, and files where links should be."""

import os
from collections.abc import Collection, Mapping, Sequence

from skillpm.core.names import SkillName
from skillpm.core.suggestions import list_some, suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import BlockedError, NotFoundError
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import UNMANAGED_REASON, Action, InstallOptions
from skillpm.installer.disk.disk_state import (
    FOLDER_REPLACED,
    LINE_ENDINGS_REASON,
    InstalledState,
    differs_in_line_endings,
)
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.scope.scope import Scope
from skillpm.settings import Settings

MAX_COMMAND_LENGTH = 120
MAX_FILES = 4
NOTHING_CHANGED = "nothing was changed"


def check_keep_names(scope: Scope, keep: Collection[str], known: Collection[SkillName]) -> None:
    """Raise `NotFoundError` for a name to keep that is not a skill of this scope: it may be mistyped."""
    for name in keep:
        if name not in known:
            hint = suggestion_hint(name, known, f"run `{scope.command('list')}` to see the available skills")
            raise NotFoundError(f"--keep: skill `{sanitize(name)}` not found", hint=hint)


def is_unmanaged(action: Action, receipt: Receipt) -> bool:
    """Return whether a local skill is kept where the lockfile has one of the same name."""
    return action.verb == "keep" and action.reason == UNMANAGED_REASON and action.name not in receipt.skills


def apply_link_plan(actions: Sequence[Action], links: LinkPlan, options: InstallOptions) -> tuple[Action, ...]:
    """Return the actions with conflicting links blocked, and with the link changes of kept skills described.

    Those of new skills are described only if the user asked for links.
    """
    if not options.force:
        actions = [_block_on_links(action, links) for action in actions]
    return tuple(_describe_link_changes(action, links, options) for action in actions)


def _block_on_links(action: Action, links: LinkPlan) -> Action:
    paths = [f"{folder}/{action.name}" for folder, names in links.conflicts.items() if action.name in names]
    if not paths:
        return action
    exist = "exists and was" if len(paths) == 1 else "exist and were"
    return action.replace(verb="blocked", reason=f"{' and '.join(paths)} {exist} not created by skillpm")


def _describe_link_changes(action: Action, links: LinkPlan, options: InstallOptions) -> Action:
    created, removed, skipped = (
        plan.get(action.name, ()) for plan in (links.links_to_create, links.links_to_remove, links.links_to_skip)
    )
    if action.verb == "add" and created and options.is_linking_requested:
        return action.replace(
            reason="; ".join([*filter(None, [action.reason]), *_describe_new(action, links, created)])
        )
    if action.verb != "keep" or not (created or removed or skipped):
        return action
    adopted = links.links_to_adopt.get(action.name, ())
    new = [folder for folder in created if folder not in adopted]
    reasons = _describe_new(action, links, new)
    reasons += [f"the identical folder in {', '.join(adopted)} is adopted as a copy"] if adopted else []
    reasons += [f"no longer linked in {', '.join(removed)}"] if removed else []
    reasons += [f"the existing folder in {', '.join(skipped)} is kept"] if skipped else []
    if not (created or removed):
        return action.replace(reason="; ".join(reasons), outcome="kept")
    outcome = "relinked" if created and removed else "linked" if created else "unlinked"
    return action.replace(verb="relink", reason="; ".join(reasons), outcome=outcome)


def _describe_new(action: Action, links: LinkPlan, folders: Sequence[str]) -> list[str]:
    """Return in which folders a skill was linked, and to which it was copied."""
    copied = [folder for folder in folders if links.links.get(folder, {}).get(action.name) == "copy"]
    linked = [folder for folder in folders if folder not in copied]
    return [
        *([f"linked in {', '.join(linked)}"] if linked else []),
        *([f"copied to {', '.join(copied)}"] if copied else []),
    ]


def explain_line_endings(
    scope: Scope, settings: Settings, lockfile: Lockfile, links: LinkPlan, actions: Sequence[Action]
) -> tuple[Action, ...]:
    """Return the actions; what blocks is described better if only line endings differ, as git converts them."""
    base = scope.link_folders(settings)

    def explain(action: Action) -> Action:
        locked = lockfile.skills.get(action.name)
        if action.verb != "blocked" or locked is None:
            return action
        copies = [folder for folder, names in links.conflicts.items() if action.name in names]
        folders = [os.path.join(base.path(folder), action.name) for folder in copies]
        if not all(
            differs_in_line_endings(folder, locked.digest)
            for folder in folders or [scope.layout.skill_path(action.name)]
        ):
            return action
        paths = " and ".join(f"{folder}/{action.name}" for folder in copies)
        reason = LINE_ENDINGS_REASON if len(copies) < 2 else LINE_ENDINGS_REASON.replace("differs", "differ")  # noqa: PLR2004
        return action.replace(reason=f"{paths} {reason}".lstrip(), changes=())

    return tuple(map(explain, actions))


def explain_checkouts(
    scope: Scope, before: Lockfile, disk: Mapping[SkillName, InstalledState], actions: Sequence[Action]
) -> tuple[Action, ...]:
    """Return the actions; what blocks is not called an edit if it is what the lockfile has, as in another branch."""
    sync = scope.command("sync")

    def explain(action: Action) -> Action:
        locked, state = before.skills.get(action.name), disk.get(action.name)
        is_edit = action.verb == "blocked" and bool(action.changes)
        if not is_edit or not (locked and state and state.digest and locked.digest == state.digest):
            return action
        return action.replace(reason=f"came with a checkout, as skills.lock has it; `{sync}` takes it over", changes=())

    return tuple(map(explain, actions))


def blocked_error(
    scope: Scope,
    blocked: Sequence[Action],
    links: LinkPlan,
    known: Collection[SkillName],
    options: InstallOptions,
    outcome: str = NOTHING_CHANGED,
) -> BlockedError:
    """Return an error that names every blocked skill, its changed files, and the ways to continue.

    `known` are the skills of the present lockfile and receipt: only these can be compared.
    """
    blockers = "a skill" if len(blocked) == 1 else f"{len(blocked)} skills"
    if all(action.changes not in {(), FOLDER_REPLACED} for action in blocked):
        blockers = "local changes"
    linked = {name for names in links.conflicts.values() for name in names}
    comparable = [
        action.name
        for action in blocked
        if action.name in known and action.changes != FOLDER_REPLACED and action.name not in linked
    ]
    return BlockedError(
        f"blocked by {blockers}; {outcome}\n" + "\n".join(map(_describe_blocked, blocked)),
        hint=_blocked_hint(scope, blocked, comparable, options),
        skills=[action.name for action in blocked],
    )


def _describe_blocked(action: Action) -> str:
    changes = () if action.changes == FOLDER_REPLACED else action.changes
    files = [f"{sanitize(change.path, 80)} {change.state}" for change in changes[:MAX_FILES]]
    more = f" and {len(changes) - MAX_FILES} more" if len(changes) > MAX_FILES else ""
    return f"  {action.name}: {action.reason}" + (f" ({', '.join(files)}{more})" if files else "")


def _blocked_hint(
    scope: Scope, blocked: Sequence[Action], comparable: Sequence[SkillName], options: InstallOptions
) -> str:
    """Return the commands that go on from here, complete if they are not too long."""
    them, keep_them = ("it", "it as it is") if len(blocked) == 1 else ("them", "them as they are")
    ways = []
    if comparable:
        ways.append(f"`{scope.command('diff', comparable[0])}` to see the changes")
        if {"update", "sync"} & {*options.command.split()} and all(map(_is_edit, blocked)):
            ways.append("`--merge` to carry them over")
    if not _is_all_requested(blocked, options):
        keep = " ".join(f"--keep {action.name}" for action in blocked)
        command = next((way for way in (f"{options.command} {keep}", keep) if len(way) <= MAX_COMMAND_LENGTH), "")
        shown = sanitize(command or "--keep NAME", MAX_COMMAND_LENGTH)
        ways.append(f"`{shown}` to keep {keep_them if command else 'one as it is'}")
    force = f"`--force` to back {them} up and continue"
    hint = f"use {', '.join([*ways, f'or {force}'])}" if ways else f"use {force}"
    return hint + _lasting_answer([action.name for action in blocked if _is_edit(action)])


def _is_edit(action: Action) -> bool:
    """Return whether a blocked action would overwrite edited files: not remove them, nor a folder of another origin."""
    return bool(action.changes) and action.changes != FOLDER_REPLACED and bool(action.new_version)


def _lasting_answer(names: Sequence[SkillName]) -> str:
    """Return what to write into the manifest, so that these edits never block a command again."""
    if not names:
        return ""
    edits = ", ".join(f'"{name}": "keep"' for name in names)
    edits = edits if len(edits) <= MAX_COMMAND_LENGTH else '"NAME": "keep"'
    return f'; to keep {"it" if len(names) == 1 else "them"} always, write "edits": {{{edits}}} into skills.json'


def find_edited(actions: Sequence[Action]) -> list[Action]:
    """Return the actions that leave edited files of a skill as they are."""
    return [
        action
        for action in actions
        if action.verb in {"keep", "relink"} and action.changes and action.changes != FOLDER_REPLACED
    ]


def edited_notes(scope: Scope, actions: Sequence[Action]) -> tuple[str, ...]:
    """Return one line about the edited skills that the actions leave as they are without saying so."""
    names = [action.name for action in find_edited(actions) if action.outcome != "kept"]
    if not names:
        return ()
    stay, command = ("it stays as it is", scope.command("diff", names[0]))
    if len(names) > 1:
        stay, command = ("they stay as they are", scope.command("diff"))
    return (f"edited: {list_some(names, MAX_FILES)}; {stay}, and `{command}` shows the changes",)


def _is_all_requested(blocked: Sequence[Action], options: InstallOptions) -> bool:
    """Return whether nothing would be left to do without these skills: they are removed, or all that is updated."""
    if not options.selected:
        return False
    gone = {action.name for action in blocked if not action.new_version}
    edited = {action.name for action in blocked if action.changes}
    return bool(gone) or {*options.selected} <= edited
