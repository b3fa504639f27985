"""Make a scope be what a manifest and a lockfile say: look, plan, fetch, stage, commit. All or nothing."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillpm.documents.digest import content_hash
from skillpm.documents.lockfile import LockedSkill, Lockfile
from skillpm.documents.names import SkillName
from skillpm.documents.pin import PathPin, Pin, describe
from skillpm.documents.receipt import InstalledFile, InstalledSkill, Receipt, write_receipt
from skillpm.documents.text import show
from skillpm.documents.tree import Tree
from skillpm.errors import BlockedError, FetchError, OfflineError
from skillpm.fetching.base import variant_of
from skillpm.fetching.front import Fetchers
from skillpm.files import read_text
from skillpm.installing.layout import Layout, load_receipt
from skillpm.installing.links import LinkState, kind_of_link, look_at_link
from skillpm.installing.plan import Action, Wishes, plan
from skillpm.installing.planned_links import LinkPlan, plan_links
from skillpm.installing.scan import Scan, Stamp, read_scan, stamp_of, write_scan
from skillpm.installing.staging import Content, LiveLink, prepare, stage
from skillpm.installing.survey import OnDisk, survey, walk_files
from skillpm.installing.transaction import commit
from skillpm.operations.paperwork import Paperwork
from skillpm.operations.relock import lock_text
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.serving.hosts import agent_folder, chosen_agents
from skillpm.serving.registering import Built, Fresh, build_registry, known_registry
from skillpm.store import StoreDamaged


@dataclass(frozen=True, kw_only=True, slots=True)
class Changed:
    """What an operation did, or with `--dry-run` would do."""

    changed: bool
    scope: str
    directory: str
    actions: tuple[Action, ...] = ()
    warnings: tuple[str, ...] = ()
    dry_run: bool = False
    next_step: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outlook:
    """A change that was planned: what is there, what is to be, and the actions that lead from one to the other."""

    papers: Paperwork
    lockfile: Lockfile
    receipt: Receipt
    scan: Scan
    disk: Mapping[SkillName, OnDisk]
    actions: tuple[Action, ...]
    links: LinkPlan
    built: Built
    documents: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_nothing(self) -> bool:
        """Tell whether all is as it should be."""
        return not self.documents and all(action.verb == "keep" for action in self.actions)


def outlook(scope: Scope, tools: Tools, papers: Paperwork, lockfile: Lockfile, wishes: Wishes) -> Outlook:
    """Plan; nothing is changed, fetched or locked. Raises `BlockedError` where somebody's work is in the way."""
    layout = scope.layout
    receipt, scan = load_receipt(layout), read_scan(layout.scan)
    disk = survey(layout.directory, {*lockfile.skills, *receipt.skills}, receipt.skills, scan)
    actions = plan(lockfile.skills, receipt.skills, disk, wishes)  # type: ignore[arg-type]
    links = _planned_links(scope, tools, papers, receipt, actions)
    actions = _with_links(actions, links, wishes)
    _stop_if_blocked(actions)
    after = replace(receipt, skills=_receipt_after(scope, receipt, lockfile, disk, actions), links=links.links)
    registry_text = read_text(layout.registry)
    known = known_registry(layout, registry_text, scan)
    written = [action.name for action in actions if action.verb in {"add", "update", "remove"}]
    built = build_registry(layout, after, known, gone=written, disabled=everywhere_disabled(papers))
    documents = {
        "receipt": (read_text(layout.receipt), write_receipt(after) if after != receipt or written else None),
        "lockfile": (papers.lockfile_text, lock_text(lockfile, papers)),
        "manifest": (read_text(scope.manifest), papers.manifest_text),
        "registry": (registry_text, built.text if lockfile.skills or built.entries or registry_text else None),
    }
    if not lockfile.skills and papers.lockfile_text is None:
        del documents["lockfile"]
    return Outlook(
        papers=papers,
        lockfile=lockfile,
        receipt=receipt,
        scan=scan,
        disk=disk,  # type: ignore[arg-type]
        actions=actions,
        links=links,
        built=built,
        documents={role: new for role, (old, new) in documents.items() if new is not None and new != old},
    )


def carry_out(scope: Scope, tools: Tools, ahead: Outlook, fetchers: Fetchers) -> None:
    """Do what was planned. Only under the lock."""
    settings, layout = tools.settings, scope.layout
    writing = [action for action in ahead.actions if action.verb in {"add", "update"}]
    puts = {action.name: action for action in writing if _needs_files(action, ahead)}
    contents = _contents(scope, tools, {name: ahead.lockfile.skills[name] for name in puts}, fetchers)
    prepare(layout, fsync=settings.fsync)
    fresh: dict[SkillName, Fresh] = {}
    installed = dict(_receipt_after(scope, ahead.receipt, ahead.lockfile, ahead.disk, ahead.actions))
    for name, content in contents.items():
        stamps = stage(layout, name, content, fsync=settings.fsync)
        locked = ahead.lockfile.skills[name]
        fresh[name] = Fresh(data=_skill_file(layout, content), stamps=stamps)
        installed[name] = installed_skill(locked, content)
    removals = {action.name: action.aside for action in ahead.actions if action.verb == "remove"}
    after = replace(ahead.receipt, skills=installed, links=ahead.links.links)
    built = build_registry(
        layout,
        after,
        known_registry(layout, read_text(layout.registry), ahead.scan),
        fresh=fresh,
        gone=removals,
        disabled=everywhere_disabled(ahead.papers),
    )
    for problem in built.problems:
        tools.reporter.warning(f"{problem.path} is not in the registry: {problem.message}")
    documents = {**ahead.documents, "receipt": write_receipt(after), "registry": built.text}
    here = {name: lies for name, lies in removals.items() if os.path.lexists(layout.skill(name))}
    commit(
        scope.target(settings),
        {name: action.aside for name, action in puts.items()},
        here,
        documents,
        ahead.links.obstacles,
        tools.reporter.warning,
    )
    remember(scope, built)


def remember(scope: Scope, built: Built) -> None:
    """Write the stat cache for a registry that was just written."""
    try:
        registry: dict[str, Stamp] = {"skills.json": stamp_of(os.stat(scope.layout.registry))}
    except OSError:
        return
    write_scan(scope.layout.scan, {**built.stamps, "": registry}, time.time_ns())


def everywhere_disabled(papers: Paperwork) -> set[str]:
    """Give the skills that the manifest switches off for everybody."""
    return {name for name, agents in papers.manifest.disabled.items() if agents is True}


def installed_skill(locked: LockedSkill, content: Content) -> InstalledSkill:
    """Give the receipt's entry for content that is being installed."""
    files = {}
    if isinstance(content, Tree):
        files = {
            file.path: InstalledFile(
                sha256=file.content, size=len(file.data), executable=file.executable, link=file.link
            )
            for file in content.files
        }
    return InstalledSkill(pin=locked.pin, digest=locked.digest, version=locked.version, files=files)


def _planned_links(
    scope: Scope, tools: Tools, papers: Paperwork, receipt: Receipt, actions: Sequence[Action]
) -> LinkPlan:
    """Plan the links of all skills that will be there, for all agents the scope names."""
    if not papers.agents and not receipt.links:
        return LinkPlan()
    folders: dict[str, set[SkillName]] = {}
    there = [action.name for action in actions if action.verb not in {"remove", "blocked"}]
    for agent in chosen_agents(papers.agents):
        folder = agent_folder(agent, scope.kind, tools.settings)
        if folder is None:
            tools.reporter.warning(f"{agent.id} reads no skills in {scope.kind} scope")
            continue
        shown = (name for name in there if not _is_disabled(papers, name, agent.id))
        folders.setdefault(folder, set()).update(shown)
    paths = scope.link_folders(tools.settings)

    def look(folder: str, name: SkillName) -> LinkState:
        skill = receipt.skills.get(name)
        known = (receipt.links.get(folder, {}).get(name, ""), None if skill is None else skill.digest)
        return look_at_link(paths, folder, name, scope.layout, known)

    return plan_links(folders, receipt.links, look, kind_of_link(tools.settings.link_mode))


def _is_disabled(papers: Paperwork, name: SkillName, agent: str) -> bool:
    switched = papers.manifest.disabled.get(name, [])
    return switched is True or agent in switched


def _with_links(actions: Sequence[Action], links: LinkPlan, wishes: Wishes) -> tuple[Action, ...]:
    """Say of each skill that stays what becomes of its links, and stop at what is in a link's way."""
    if not wishes.force:
        for folder, names in links.obstacles.items():
            reason = f"{folder}/{names[0]} is there already, and skillpm did not make it"
            actions = [
                replace(action, verb="blocked", reason=reason) if action.name == names[0] else action
                for action in actions
            ]
    return tuple(_with_own_links(action, links) for action in actions)


def _with_own_links(action: Action, links: LinkPlan) -> Action:
    made, dropped = links.made.get(action.name, ()), links.dropped.get(action.name, ())
    if action.verb != "keep" or not (made or dropped):
        return action
    said = [f"linked in {', '.join(made)}"] if made else []
    said += [f"no longer linked in {', '.join(dropped)}"] if dropped else []
    return replace(action, verb="relink", reason="; ".join(said))


def _stop_if_blocked(actions: Sequence[Action]) -> None:
    blocked = [action for action in actions if action.verb == "blocked"]
    if not blocked:
        return
    lines = []
    for action in blocked:
        files = ", ".join(f"{show(change.path, 80)} {change.state}" for change in action.changes[:4])
        more = f" and {len(action.changes) - 4} more" if len(action.changes) > 4 else ""  # noqa: PLR2004
        lines.append(f"  {action.name}: {action.reason}" + (f" ({files}{more})" if files else ""))
    first = blocked[0].name
    count = "a skill is" if len(blocked) == 1 else f"{len(blocked)} skills are"
    raise BlockedError(
        f"{count} in the way; nothing was changed\n" + "\n".join(lines),
        hint=f"`skillpm diff {first}` shows it, `--keep {first}` goes on without it, "
        "`--force` sets it aside as a backup first",
    )


def _receipt_after(
    scope: Scope,
    receipt: Receipt,
    lockfile: Lockfile,
    disk: Mapping[SkillName, OnDisk],
    actions: Sequence[Action],
) -> dict[SkillName, InstalledSkill]:
    """Give the receipt's skills after the actions, but for those whose files are yet to be staged."""
    after = dict(receipt.skills)
    for action in actions:
        locked = lockfile.skills.get(action.name)
        if action.verb == "remove":
            after.pop(action.name, None)
        elif action.verb in {"keep", "relink"} and locked is not None and disk[action.name].digest == locked.digest:
            after[action.name] = _adopted(scope, action.name, locked, receipt.skills.get(action.name))
        elif action.verb == "update" and locked is not None and action.name in after:
            after[action.name] = replace(after[action.name], pin=locked.pin, version=locked.version)
    return after


def _adopted(scope: Scope, name: SkillName, locked: LockedSkill, old: InstalledSkill | None) -> InstalledSkill:
    """Give the receipt's entry of a folder whose content is the locked one already."""
    if old is not None and old.digest == locked.digest and old.pin == locked.pin:
        return old
    if locked.digest is None:
        return InstalledSkill(pin=locked.pin, digest=None, version=locked.version)
    files = {}
    for path, entry in walk_files(scope.layout.skill(name)):
        state = entry.stat(follow_symlinks=False)
        with open(entry.path, "rb") as file:
            data = file.read()
        files[path] = InstalledFile(
            sha256=content_hash(data), size=len(data), executable=bool(state.st_mode & 0o100)
        )
    return InstalledSkill(pin=locked.pin, digest=locked.digest, version=locked.version, files=files)


def _needs_files(action: Action, ahead: Outlook) -> bool:
    """Tell whether files must be written: not when only the commit moved and the folder's tree is the same."""
    old, new = ahead.receipt.skills.get(action.name), ahead.lockfile.skills[action.name]
    if action.verb == "add" or old is None or ahead.disk[action.name].kind != "intact":
        return True
    return old.digest != new.digest or variant_of(old.pin) != variant_of(new.pin)


def _contents(
    scope: Scope, tools: Tools, locked: Mapping[SkillName, LockedSkill], fetchers: Fetchers
) -> dict[SkillName, Content]:
    """Have every skill's content at hand, every byte checked against the lockfile."""
    store = tools.store
    stored = {name: skill for name, skill in locked.items() if skill.digest is not None}
    absent = {name: skill for name, skill in stored.items() if _must_fetch(tools, skill)}
    missing = fetchers.fetch(absent) if absent else []
    if missing:
        raise OfflineError(missing)
    contents: dict[SkillName, Content] = {}
    for name, skill in sorted(locked.items()):
        if skill.digest is None:
            contents[name] = LiveLink(target=_live_target(scope, tools, skill.pin))
            continue
        try:
            tree = store.read(skill.digest, variant_of(skill.pin))
        except StoreDamaged:
            tools.reporter.warning(f"{name}: its copy in the store was damaged; it is fetched anew")
            missing = fetchers.fetch({name: skill})
            if missing:
                raise OfflineError(missing) from None
            tree = store.read(skill.digest, variant_of(skill.pin))
        if tree is None:
            raise FetchError(f"`{name}` did not arrive from {describe(skill.pin)}")
        contents[name] = tree
    return contents


def _must_fetch(tools: Tools, skill: LockedSkill) -> bool:
    return isinstance(skill.pin, PathPin) or (
        skill.digest is not None and not tools.store.has(skill.digest, variant_of(skill.pin))
    )


def _live_target(scope: Scope, tools: Tools, pin: Pin) -> str:
    """Give what a live link says: relative inside the project, so that a checkout can move, else absolute."""
    written = pin.path if isinstance(pin, PathPin) else ""
    home = tools.settings.home
    base = os.path.dirname(scope.manifest)
    target = os.path.realpath(os.path.join(base, home + written[1:] if written.startswith("~/") else written))
    return os.path.relpath(target, os.path.realpath(scope.layout.directory)) if written[:1] == "." else target


def _skill_file(layout: Layout, content: Content) -> bytes:
    if isinstance(content, Tree):
        return content.read("SKILL.md") or b""
    folder = os.path.join(layout.directory, content.target) if isinstance(content, LiveLink) else content.folder
    with open(os.path.join(folder, "SKILL.md"), "rb") as file:
        return file.read()

