"""What blocks a plan: local changes that would be lost, and files where links should be."""

from collections.abc import Collection, Sequence

from skillpm.core.names import SkillName
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import BlockedError, NotFoundError
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import UNMANAGED_REASON, Action, InstallOptions
from skillpm.installer.disk_state import FOLDER_REPLACED
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.operations.context.scope import Scope

MAX_COMMAND_LENGTH = 120
MAX_FILES = 4


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


def raise_if_blocked(
    scope: Scope, actions: Sequence[Action], links: LinkPlan, known: Collection[SkillName], options: InstallOptions
) -> None:
    """Raise `BlockedError` that names every blocked skill, its changed files, and the ways to continue.

    `known` are the skills of the present lockfile and receipt: only these can be compared.
    """
    blocked = [action for action in actions if action.verb == "blocked"]
    if not blocked:
        return
    blockers = "a skill" if len(blocked) == 1 else f"{len(blocked)} skills"
    if all(action.changes not in {(), FOLDER_REPLACED} for action in blocked):
        blockers = "local changes"
    linked = {name for names in links.conflicts.values() for name in names}
    comparable = [
        action.name
        for action in blocked
        if action.name in known and action.changes != FOLDER_REPLACED and action.name not in linked
    ]
    raise BlockedError(
        f"blocked by {blockers}; nothing was changed\n" + "\n".join(map(_describe_blocked, blocked)),
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
        if "update" in options.command.split():
            ways.append("`--merge` to carry them over")
    if not _is_all_requested(blocked, options):
        keep = " ".join(f"--keep {action.name}" for action in blocked)
        command = next((way for way in (f"{options.command} {keep}", keep) if len(way) <= MAX_COMMAND_LENGTH), "")
        shown = sanitize(command or "--keep NAME", MAX_COMMAND_LENGTH)
        ways.append(f"`{shown}` to keep {keep_them if command else 'one as it is'}")
    force = f"`--force` to back {them} up and continue"
    return f"use {', '.join([*ways, f'or {force}'])}" if ways else f"use {force}"


def _is_all_requested(blocked: Sequence[Action], options: InstallOptions) -> bool:
    """Return whether nothing would be left to do without these skills: they are removed, or all that is updated."""
    if not options.selected:
        return False
    gone = {action.name for action in blocked if not action.new_version}
    edited = {action.name for action in blocked if action.changes}
    return bool(gone) or {*options.selected} <= edited
