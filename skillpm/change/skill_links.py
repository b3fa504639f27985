"""Plan which skills are linked into which agents' folders, and suggest agents. Changes nothing."""

import os
from collections.abc import Collection, Mapping

from skillpm.agent_hosts.known_agents import agent_folder, find_agents, is_present, load_agents
from skillpm.change.local_skills import source_folder
from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import InstallOptions
from skillpm.installer.links.link_planner import LinkChoice, LinkPlan, plan_links
from skillpm.installer.links.state import LinkState, choose_link_kind, read_link_state
from skillpm.kinds.base import Pin
from skillpm.scope.effective_settings import read_link_mode_of
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope
from skillpm.settings import Settings

MAX_AGENTS_NAMED = 4


class LinkKinds(Value):
    """Which agent folders get copies instead of links."""

    # What the user chose, if anything.
    mode: str
    # The folders of hosts that find no skills behind links.
    copied_folders: Collection[str]

    @classmethod
    def read(cls, scope: Scope, settings: Settings, files: ProjectFiles) -> "LinkKinds":
        """Return the kinds for the agents of a scope."""
        agents = [agent for agent in find_agents(files.agents, where=files.agents_location) if agent.needs_copies]
        folders = {agent_folder(agent, scope.kind, settings) or "" for agent in agents}
        return cls(mode=read_link_mode_of(files.manifest, settings), copied_folders=folders)

    def choose(self, folder: str) -> LinkChoice:
        """Return the kind of links in a folder. What a host needs counts before what the user chose."""
        if folder in self.copied_folders:
            return LinkChoice(kind="copy", is_required=True)
        return LinkChoice(kind=choose_link_kind(self.mode), is_required=bool(self.mode))

    @property
    def has_copies(self) -> bool:
        """Whether any folder gets copies."""
        return self.mode == "copy" or bool(self.copied_folders)


class SkillsToLink(Value):
    """The skills that agents should see: installed ones, and local ones with the digest that a copy has, if copied."""

    installed: Collection[SkillName]
    local: Mapping[SkillName, Digest | None]


class _LinkReader(Value):
    """Reads the state of each link's place, and decides what it means for this change."""

    scope: Scope
    settings: Settings
    files: ProjectFiles
    receipt: Receipt
    visible: SkillsToLink
    options: InstallOptions
    # The skills to link, by agent folder.
    requested: Mapping[str, Collection[SkillName]]

    def read_state(self, folder: str, name: SkillName) -> LinkState:
        """Return the state of the place where a skill's link should be.

        A foreign file or folder there is skipped if its skill is kept, or if the skill is not selected and was linked
        before. A local skill is only linked over it if the user asked for links (`skillpm link`).
        """
        recorded = self.receipt.links.get(folder, {}).get(name, "")
        locked = self.files.lockfile.skills.get(name)
        if locked is not None and self._is_source(folder, name, locked.pin):
            return LinkState(kind="ours", needs_no_link=True)  # the user's own folder, which the agent reads already
        is_local = name in self.visible.local
        digest = self.visible.local.get(name) if is_local or locked is None else locked.digest
        state = read_link_state(
            self.scope.link_folders(self.settings),
            folder,
            name,
            self.scope.layout,
            (recorded, self.receipt.copy_digest(name)),
            expected_digest=None if recorded else digest,
        )
        if state.kind != "foreign":
            return state
        if self._leads_to_our_link(folder, name):
            return state.replace(needs_no_link=True)
        if is_local and not state.is_identical_copy and not self.options.is_linking_requested:
            return state.replace(needs_no_link=True)  # `doctor` reports it, and `link` stops at it
        return state.replace(is_skipped=self._is_skipped(name, recorded))

    def _is_skipped(self, name: SkillName, recorded: str) -> bool:
        selected = self.options.selected
        is_unselected = selected is not None and name not in selected and (self.options.selected_only or recorded != "")
        return is_unselected or name in self.options.keep

    def _path(self, folder: str, name: SkillName) -> str:
        return os.path.join(self.scope.link_folders(self.settings).path(folder), name)

    def _is_source(self, folder: str, name: SkillName, pin: Pin) -> bool:
        """Return whether the link's place is the very folder that the skill is installed from."""
        is_copied = pin.local_folder != "" and not pin.is_live_link
        return is_copied and os.path.realpath(self._path(folder, name)) == source_folder(self.scope, self.settings, pin)

    def _leads_to_our_link(self, folder: str, name: SkillName) -> bool:
        """Return whether another tool's link leads to our link for another agent, so that this one sees the skill."""
        path = self._path(folder, name)
        others = [each for each, names in self.requested.items() if each != folder and name in names]
        ours = [self._path(each, name) for each in others if name in self.receipt.links.get(each, {})]
        return os.path.islink(path) and os.path.realpath(path) in map(os.path.realpath, ours)


def plan_skill_links(
    scope: Scope,
    settings: Settings,
    files: ProjectFiles,
    receipt: Receipt,
    visible: SkillsToLink,
    options: InstallOptions,
) -> LinkPlan:
    """Plan the links of all skills that should be visible, for all agents of a scope."""
    if not files.agents and not receipt.links:
        return LinkPlan()
    requested: dict[str, set[SkillName]] = {}
    warnings = []
    for agent in find_agents(files.agents, where=files.agents_location):
        folder = agent_folder(agent, scope.kind, settings)
        if folder is None:
            warnings.append(f"{agent.id} reads no skills in {scope.kind} scope")
            continue
        enabled = (name for name in (*visible.installed, *visible.local) if not _is_disabled(files, name, agent.id))
        requested.setdefault(folder, set()).update(enabled)
    reader = _LinkReader(
        scope=scope,
        settings=settings,
        files=files,
        receipt=receipt,
        visible=visible,
        options=options,
        requested=requested,
    )
    plan = plan_links(requested, receipt.links, reader.read_state, LinkKinds.read(scope, settings, files).choose)
    return plan.replace(warnings=tuple(warnings))


def plan_local_links(
    scope: Scope,
    settings: Settings,
    files: ProjectFiles,
    receipt: Receipt,
    local: Mapping[SkillName, Digest | None],
    refused: Collection[SkillName],
) -> LinkPlan:
    """Plan the links of a change that installs nothing: existing links stay, and those of local skills are added.

    Links to refused skills are removed.
    """
    visible = SkillsToLink(installed=(), local=local)
    plan = plan_skill_links(scope, settings, files, receipt, visible, InstallOptions())
    links = {
        folder: {name: kind for name, kind in names.items() if name in receipt.skills and name not in refused}
        for folder, names in receipt.links.items()
    }
    for folder, names in plan.links.items():
        links[folder] = {**links.get(folder, {}), **names}
    removed = {
        name: folders for name, folders in plan.links_to_remove.items() if name not in receipt.skills or name in refused
    }
    return plan.replace(links={folder: names for folder, names in links.items() if names}, links_to_remove=removed)


def _is_disabled(files: ProjectFiles, name: SkillName, agent: str) -> bool:
    disabled = files.manifest.disabled.get(name, [])
    return disabled is True or agent in disabled


def suggest_next_step(project: Project, files: ProjectFiles, lockfile: Lockfile, before: Receipt) -> str:
    """Return the next step in a scope without linked agents, or an empty string.

    `before` is the receipt before the change: if something was installed already, the user has seen the suggestion.
    """
    if files.agents or files.manifest.agents is not None or not lockfile.skills or before.skills:
        return ""
    present = find_present_agents(project)
    if not present:
        link = project.command("link", "AGENT")
        return f"`{link}` makes them visible to your agent; `skillpm agents --all` lists the agents it knows"
    others = f" (also here: {', '.join(present[MAX_AGENTS_NAMED:])})" if len(present) > MAX_AGENTS_NAMED else ""
    link = project.command("link", *present[:MAX_AGENTS_NAMED])
    return f"`{link}` makes them visible to {'that agent' if len(present) == 1 else 'these agents'}{others}"


def find_present_agents(project: Project) -> list[str]:
    """Return the agents that are on this machine or in this project, and read skills in this scope."""
    return [
        agent.id
        for agent in load_agents().values()
        if agent_folder(agent, project.scope.kind, project.settings)
        and is_present(agent, project.scope.root, project.settings)
    ]
