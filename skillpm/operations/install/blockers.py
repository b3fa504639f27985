"""What stands in the way of a plan: links that cannot be made, work that would be lost. Told, never overrun."""

import os
from collections.abc import Collection, Mapping, Sequence

from skillpm.agent_hosts.known_agents import agent_folder, find_agents
from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import BlockedError, NotFoundError
from skillpm.formats.pin import PathPin, Pin
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import UNMANAGED_REASON, Action, InstallOptions
from skillpm.installer.disk_state import FOLDER_REPLACED
from skillpm.installer.links.link_planner import LinkPlan, plan_links
from skillpm.installer.links.state import LinkState, choose_link_kind, read_link_state
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.live_links import source_folder

MAX_COMMAND_LENGTH = 120
DEFAULT_OPTIONS = InstallOptions()


class VisibleSkills(Value):
    """The skills that hosts are to see: installed ones, and those of the user's own with what a copy of them is."""

    installed: Collection[SkillName]
    local: Mapping[SkillName, Digest | None]


def check_keep_names(keep: Collection[str], known: Collection[SkillName]) -> None:
    """Raise `NotFoundError` for a name that is to be kept and is no skill of this scope: it may be mistyped."""
    for name in keep:
        if name not in known:
            hint = suggestion_hint(name, known, "`skillpm list` shows what is there")
            raise NotFoundError(f"--keep: there is no skill `{sanitize(name)}` here", hint=hint)


def is_unmanaged(action: Action, receipt: Receipt) -> bool:
    """Tell whether a skill stays that somebody made, though another one is asked for."""
    return action.verb == "keep" and action.reason == UNMANAGED_REASON and action.name not in receipt.skills


def plan_skill_links(
    scope: Scope,
    context: Context,
    files: ProjectFiles,
    receipt: Receipt,
    visible: VisibleSkills,
    options: InstallOptions = DEFAULT_OPTIONS,
) -> LinkPlan:
    """Plan the links of all skills that will be there, for all agents the scope names.

    What lies at a link's place is in nobody's way when its skill is to be kept, or is not meant at all and was linked
    there before. A skill of the user's own is only meant by who asks for links.
    """
    if not files.agents and not receipt.links:
        return LinkPlan()
    folders: dict[str, set[SkillName]] = {}
    for agent in find_agents(files.agents, where=files.agents_location):
        folder = agent_folder(agent, scope.kind, context.settings)
        if folder is None:
            context.reporter.warn(f"{agent.id} reads no skills in {scope.kind} scope")
            continue
        switched_on = (name for name in (*visible.installed, *visible.local) if not _is_disabled(files, name, agent.id))
        folders.setdefault(folder, set()).update(switched_on)
    paths = scope.link_folders(context.settings)

    def is_source(place: str, pin: Pin) -> bool:
        """Tell whether what lies at a link's place is the folder that the skill is installed from."""
        is_copied = isinstance(pin, PathPin) and not pin.link
        return is_copied and os.path.realpath(place) == source_folder(scope, context.settings, pin)

    def leads_to_ours(folder: str, name: SkillName) -> bool:
        """Tell whether another tool's link leads to what we keep for another host: then this one sees it, too."""
        place = os.path.join(paths.path(folder), name)
        others = [each for each, names in folders.items() if each != folder and name in names]
        kept = [os.path.join(paths.path(each), name) for each in others if name in receipt.links.get(each, {})]
        return os.path.islink(place) and os.path.realpath(place) in map(os.path.realpath, kept)

    def look(folder: str, name: SkillName) -> LinkState:
        known = (receipt.links.get(folder, {}).get(name, ""), receipt.copy_digest(name))
        locked = files.lockfile.skills.get(name)
        if locked is not None and is_source(os.path.join(paths.path(folder), name), locked.pin):
            return LinkState(kind="ours", needs_no_link=True)  # somebody's own, that the host had before us
        wanted = visible.local.get(name) if name in visible.local or locked is None else locked.digest
        state = read_link_state(paths, folder, name, scope.layout, known, expected_digest=None if known[0] else wanted)
        if state.kind == "foreign" and leads_to_ours(folder, name):
            return state.replace(needs_no_link=True)
        if (
            state.kind == "foreign"
            and not state.is_identical_copy
            and name in visible.local
            and not options.is_linking_requested
        ):
            return state.replace(needs_no_link=True)  # as if the host had it: doctor tells, and `link` stops
        untouched = (
            options.selected is not None and name not in options.selected and (options.selected_only or known[0] != "")
        )
        return (
            state.replace(is_skipped=True) if state.kind == "foreign" and (untouched or name in options.keep) else state
        )

    return plan_links(folders, receipt.links, look, choose_link_kind(context.settings.link_mode))


def plan_existing_links(
    scope: Scope, context: Context, files: ProjectFiles, receipt: Receipt, local: Mapping[SkillName, Digest | None]
) -> LinkPlan:
    """Plan the links of a change that installs nothing: what is linked stays so, and skills of the user's own come."""
    plan = plan_skill_links(scope, context, files, receipt, VisibleSkills(installed=(), local=local))
    links = {
        folder: {name: kind for name, kind in names.items() if name in receipt.skills}
        for folder, names in receipt.links.items()
    }
    for folder, names in plan.links.items():
        links[folder] = {**links.get(folder, {}), **names}
    dropped = {name: folders for name, folders in plan.links_to_remove.items() if name not in receipt.skills}
    return plan.replace(links={folder: names for folder, names in links.items() if names}, links_to_remove=dropped)


def _is_disabled(files: ProjectFiles, name: SkillName, agent: str) -> bool:
    switched = files.manifest.disabled.get(name, [])
    return switched is True or agent in switched


def apply_link_plan(actions: Sequence[Action], links: LinkPlan, options: InstallOptions) -> tuple[Action, ...]:
    """Say of each skill that stays what becomes of its links, and stop at what is in a link's way."""
    if not options.force:
        actions = [_block_on_links(action, links) for action in actions]
    return tuple(_describe_link_changes(action, links) for action in actions)


def _block_on_links(action: Action, links: LinkPlan) -> Action:
    places = [f"{folder}/{action.name}" for folder, names in links.conflicts.items() if action.name in names]
    if not places:
        return action
    are, them = ("is", "it") if len(places) == 1 else ("are", "them")
    reason = f"{' and '.join(places)} {are} there already, and skillpm did not make {them}"
    return action.replace(verb="blocked", reason=reason)


def _describe_link_changes(action: Action, links: LinkPlan) -> Action:
    made, dropped, left = (
        found.get(action.name, ()) for found in (links.links_to_create, links.links_to_remove, links.links_to_skip)
    )
    if action.verb != "keep" or not (made or dropped or left):
        return action
    adopted = links.links_to_adopt.get(action.name, ())
    new = [folder for folder in made if folder not in adopted]
    said = [f"linked in {', '.join(new)}"] if new else []
    said += [f"what lies in {', '.join(adopted)} is the same, and is taken over as a copy"] if adopted else []
    said += [f"no longer linked in {', '.join(dropped)}"] if dropped else []
    said += [f"what lies in {', '.join(left)} is left there"] if left else []
    if not (made or dropped):
        return action.replace(reason="; ".join(said), outcome="kept")
    done = "relinked" if made and dropped else "linked" if made else "unlinked"
    return action.replace(verb="relink", reason="; ".join(said), outcome=done)


def raise_if_blocked(
    actions: Sequence[Action], links: LinkPlan, locked: Collection[SkillName], options: InstallOptions
) -> None:
    """Raise `BlockedError` that names every skill in the way, its files, and the ways out.

    `locked` are the skills of the lockfile as it is: only with these there is something to compare.
    """
    blocked = [action for action in actions if action.verb == "blocked"]
    if not blocked:
        return
    lines = []
    for action in blocked:
        files = ", ".join(
            f"{sanitize(it.path, 80)} {it.state}" for it in action.changes[:4] if action.changes != FOLDER_REPLACED
        )
        more = f" and {len(action.changes) - 4} more" if len(action.changes) > 4 else ""  # noqa: PLR2004
        lines.append(f"  {action.name}: {action.reason}" + (f" ({files}{more})" if files else ""))
    count = "a skill is" if len(blocked) == 1 else f"{len(blocked)} skills are"
    if all(action.changes not in {(), FOLDER_REPLACED} for action in blocked):
        count = "your edits are"
    by_link = {name for names in links.conflicts.values() for name in names}
    in_place = [action.name for action in blocked if action.name in locked and action.changes != FOLDER_REPLACED]
    compared = [name for name in in_place if name not in by_link]
    raise BlockedError(
        f"{count} in the way; nothing was changed\n" + "\n".join(lines),
        hint=_blocked_hint(blocked, compared, options),
        names=[action.name for action in blocked],
    )


def _blocked_hint(blocked: Sequence[Action], comparable: Sequence[SkillName], options: InstallOptions) -> str:
    """Say what can be typed now, word for word where that is not too long."""
    it, a_backup = ("it", "a backup") if len(blocked) == 1 else ("them", "backups")
    ways = [f"`skillpm diff {comparable[0]}` shows {'it' if len(blocked) == 1 else 'the first'}"] if comparable else []
    if not _is_all_requested(blocked, options):
        kept = " ".join(f"--keep {action.name}" for action in blocked)
        way = next((way for way in (f"{options.command} {kept}", kept) if len(way) <= MAX_COMMAND_LENGTH), "")
        ways.append(
            f"`{sanitize(way or '--keep NAME', MAX_COMMAND_LENGTH)}` goes on without {it if way else 'that one'}"
        )
    return ", ".join([*ways, f"`--force` sets {it} aside as {a_backup} first"])


def _is_all_requested(blocked: Sequence[Action], options: InstallOptions) -> bool:
    """Tell whether without these nothing would be left of what was asked for: they are to go, or to be updated."""
    if not options.selected:
        return False
    gone = {action.name for action in blocked if not action.new_version}
    edited = {action.name for action in blocked if action.changes}
    return bool(gone) or {*options.selected} <= edited
