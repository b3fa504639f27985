"""What stands in the way of a plan: links that cannot be made, work that would be lost. Told, never overrun."""

import os
from collections.abc import Collection, Mapping, Sequence

from skillpm.agent_hosts.known_agents import agent_folder, chosen_agents
from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.suggestions import guess
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import BlockedError, NotFoundError
from skillpm.formats.pin import PathPin, Pin
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import FOREIGN, Action, Wishes
from skillpm.installer.disk_state import REPLACED
from skillpm.installer.links.link_planner import LinkPlan, plan_links
from skillpm.installer.links.state import LinkState, kind_of_link, look_at_link
from skillpm.operations.context.project_files import Paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.live_links import source_folder

LONGEST_COMMAND = 120
NO_WISHES = Wishes()


class Shown(Value):
    """The skills that hosts are to see: installed ones, and those of the user's own with what a copy of them is."""

    installed: Collection[SkillName]
    own: Mapping[SkillName, Digest | None]


def refuse_unknown(keep: Collection[str], known: Collection[SkillName]) -> None:
    """Raise `NotFoundError` for a name that is to be kept and is no skill of this scope: it may be mistyped."""
    for name in keep:
        if name not in known:
            hint = guess(name, known, "`skillpm list` shows what is there")
            raise NotFoundError(f"--keep: there is no skill `{show(name)}` here", hint=hint)


def is_foreign(action: Action, receipt: Receipt) -> bool:
    """Tell whether a skill stays that somebody made, though another one is asked for."""
    return action.verb == "keep" and action.reason == FOREIGN and action.name not in receipt.skills


def planned_links(
    scope: Scope,
    tools: Tools,
    papers: Paperwork,
    receipt: Receipt,
    shown: Shown,
    wishes: Wishes = NO_WISHES,
) -> LinkPlan:
    """Plan the links of all skills that will be there, for all agents the scope names.

    What lies at a link's place is in nobody's way when its skill is to be kept, or is not meant at all and was linked
    there before. A skill of the user's own is only meant by who asks for links.
    """
    if not papers.agents and not receipt.links:
        return LinkPlan()
    folders: dict[str, set[SkillName]] = {}
    for agent in chosen_agents(papers.agents, where=papers.agents_written_in):
        folder = agent_folder(agent, scope.kind, tools.settings)
        if folder is None:
            tools.reporter.warning(f"{agent.id} reads no skills in {scope.kind} scope")
            continue
        switched_on = (name for name in (*shown.installed, *shown.own) if not _is_disabled(papers, name, agent.id))
        folders.setdefault(folder, set()).update(switched_on)
    paths = scope.link_folders(tools.settings)

    def is_source(place: str, pin: Pin) -> bool:
        """Tell whether what lies at a link's place is the folder that the skill is installed from."""
        is_copied = isinstance(pin, PathPin) and not pin.link
        return is_copied and os.path.realpath(place) == source_folder(scope, tools.settings, pin)

    def leads_to_ours(folder: str, name: SkillName) -> bool:
        """Tell whether another tool's link leads to what we keep for another host: then this one sees it, too."""
        place = os.path.join(paths.path(folder), name)
        others = [each for each, names in folders.items() if each != folder and name in names]
        kept = [os.path.join(paths.path(each), name) for each in others if name in receipt.links.get(each, {})]
        return os.path.islink(place) and os.path.realpath(place) in map(os.path.realpath, kept)

    def look(folder: str, name: SkillName) -> LinkState:
        known = (receipt.links.get(folder, {}).get(name, ""), receipt.copied(name))
        locked = papers.lockfile.skills.get(name)
        if locked is not None and is_source(os.path.join(paths.path(folder), name), locked.pin):
            return LinkState(kind="ours", itself=True)  # somebody's own, that the host had before us
        wanted = shown.own.get(name) if name in shown.own or locked is None else locked.digest
        state = look_at_link(paths, folder, name, scope.layout, known, wanted=None if known[0] else wanted)
        if state.kind == "foreign" and leads_to_ours(folder, name):
            return state.but(itself=True)
        if state.kind == "foreign" and not state.is_copy and name in shown.own and not wishes.linking:
            return state.but(itself=True)  # as if the host had it: doctor tells, and `link` stops
        untouched = wishes.touched is not None and name not in wishes.touched and (wishes.only or known[0] != "")
        return state.but(is_left=True) if state.kind == "foreign" and (untouched or name in wishes.keep) else state

    return plan_links(folders, receipt.links, look, kind_of_link(tools.settings.link_mode))


def kept_links(
    scope: Scope, tools: Tools, papers: Paperwork, receipt: Receipt, own: Mapping[SkillName, Digest | None]
) -> LinkPlan:
    """Plan the links of a change that installs nothing: what is linked stays so, and skills of the user's own come."""
    plan = planned_links(scope, tools, papers, receipt, Shown(installed=(), own=own))
    links = {
        folder: {name: kind for name, kind in names.items() if name in receipt.skills}
        for folder, names in receipt.links.items()
    }
    for folder, names in plan.links.items():
        links[folder] = {**links.get(folder, {}), **names}
    dropped = {name: folders for name, folders in plan.dropped.items() if name not in receipt.skills}
    return plan.but(links={folder: names for folder, names in links.items() if names}, dropped=dropped)


def _is_disabled(papers: Paperwork, name: SkillName, agent: str) -> bool:
    switched = papers.manifest.disabled.get(name, [])
    return switched is True or agent in switched


def with_links(actions: Sequence[Action], links: LinkPlan, wishes: Wishes) -> tuple[Action, ...]:
    """Say of each skill that stays what becomes of its links, and stop at what is in a link's way."""
    if not wishes.force:
        actions = [_without_its_links(action, links) for action in actions]
    return tuple(_with_own_links(action, links) for action in actions)


def _without_its_links(action: Action, links: LinkPlan) -> Action:
    places = [f"{folder}/{action.name}" for folder, names in links.obstacles.items() if action.name in names]
    if not places:
        return action
    are, them = ("is", "it") if len(places) == 1 else ("are", "them")
    reason = f"{' and '.join(places)} {are} there already, and skillpm did not make {them}"
    return action.but(verb="blocked", reason=reason)


def _with_own_links(action: Action, links: LinkPlan) -> Action:
    made, dropped, left = (found.get(action.name, ()) for found in (links.made, links.dropped, links.left))
    if action.verb != "keep" or not (made or dropped or left):
        return action
    adopted = links.adopted.get(action.name, ())
    new = [folder for folder in made if folder not in adopted]
    said = [f"linked in {', '.join(new)}"] if new else []
    said += [f"what lies in {', '.join(adopted)} is the same, and is taken over as a copy"] if adopted else []
    said += [f"no longer linked in {', '.join(dropped)}"] if dropped else []
    said += [f"what lies in {', '.join(left)} is left there"] if left else []
    if not (made or dropped):
        return action.but(reason="; ".join(said), done="kept")
    done = "relinked" if made and dropped else "linked" if made else "unlinked"
    return action.but(verb="relink", reason="; ".join(said), done=done)


def stop_if_blocked(actions: Sequence[Action], links: LinkPlan, locked: Collection[SkillName], wishes: Wishes) -> None:
    """Raise `BlockedError` that names every skill in the way, its files, and the ways out.

    `locked` are the skills of the lockfile as it is: only with these there is something to compare.
    """
    blocked = [action for action in actions if action.verb == "blocked"]
    if not blocked:
        return
    lines = []
    for action in blocked:
        files = ", ".join(f"{show(it.path, 80)} {it.state}" for it in action.changes[:4] if action.changes != REPLACED)
        more = f" and {len(action.changes) - 4} more" if len(action.changes) > 4 else ""  # noqa: PLR2004
        lines.append(f"  {action.name}: {action.reason}" + (f" ({files}{more})" if files else ""))
    count = "a skill is" if len(blocked) == 1 else f"{len(blocked)} skills are"
    if all(action.changes not in {(), REPLACED} for action in blocked):
        count = "your edits are"
    by_link = {name for names in links.obstacles.values() for name in names}
    in_place = [action.name for action in blocked if action.name in locked and action.changes != REPLACED]
    compared = [name for name in in_place if name not in by_link]
    raise BlockedError(
        f"{count} in the way; nothing was changed\n" + "\n".join(lines),
        hint=_ways_out(blocked, compared, wishes),
        names=[action.name for action in blocked],
    )


def _ways_out(blocked: Sequence[Action], compared: Sequence[SkillName], wishes: Wishes) -> str:
    """Say what can be typed now, word for word where that is not too long."""
    it, a_backup = ("it", "a backup") if len(blocked) == 1 else ("them", "backups")
    ways = [f"`skillpm diff {compared[0]}` shows {'it' if len(blocked) == 1 else 'the first'}"] if compared else []
    if not _all_are_meant(blocked, wishes):
        kept = " ".join(f"--keep {action.name}" for action in blocked)
        way = next((way for way in (f"{wishes.command} {kept}", kept) if len(way) <= LONGEST_COMMAND), "")
        ways.append(f"`{show(way or '--keep NAME', LONGEST_COMMAND)}` goes on without {it if way else 'that one'}")
    return ", ".join([*ways, f"`--force` sets {it} aside as {a_backup} first"])


def _all_are_meant(blocked: Sequence[Action], wishes: Wishes) -> bool:
    """Tell whether without these nothing would be left of what was asked for: they are to go, or to be updated."""
    if not wishes.touched:
        return False
    gone = {action.name for action in blocked if not action.becomes}
    edited = {action.name for action in blocked if action.changes}
    return bool(gone) or {*wishes.touched} <= edited
