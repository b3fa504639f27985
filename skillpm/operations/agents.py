"""`agents`, `link`, `unlink`: list agents, and link skills for them."""

from collections.abc import Sequence

from skillpm.agent_hosts.known_agents import (
    Agent,
    agent_folder,
    find_agents,
    is_present,
    is_used_in,
    load_agents,
    require_agent_folder,
)
from skillpm.change.change import ChangeOptions, ChangeResult, change
from skillpm.change.skill_links import find_present_agents
from skillpm.core.values import Value
from skillpm.formats.editing.json_edit import set_member
from skillpm.installer.disk.layout import load_receipt
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.trusted_signers import require_key_files


class KnownAgent(Value):
    """An agent, and how it relates to a scope."""

    id: str
    project_dir: str | None
    user_dir: str | None
    is_present: bool
    is_linked: bool
    # Linked agents that read the same folder: while they are linked, this one sees the skills, too.
    shared_with: tuple[str, ...] = ()


def list_agents(project: Project) -> list[KnownAgent]:
    """List all agents, sorted by ID."""
    files = read_project_files(project)
    folders = {folder for folder, links in load_receipt(project.layout).links.items() if links}
    linked_agents = find_agents(files.agents, where=files.agents_location)
    linked: dict[str, list[str]] = {}
    for agent in linked_agents:
        folder = agent_folder(agent, project.scope.kind, project.settings)
        if folder is not None and folder in folders:
            linked.setdefault(folder, []).append(agent.id)

    def by_folder(agent: Agent) -> list[str]:
        return linked.get(agent_folder(agent, project.scope.kind, project.settings) or "", [])

    return [
        KnownAgent(
            id=agent.id,
            project_dir=agent.project_dir,
            user_dir=agent_folder(agent, "user", project.settings),
            is_present=is_present(agent, project.scope.root, project.settings),
            is_linked=agent.id in by_folder(agent),
            shared_with=tuple(sorted({*by_folder(agent)} - {agent.id})),
        )
        for agent in sorted(load_agents().values(), key=lambda agent: agent.id)
    ]


class DetectedHosts(Value):
    """The hosts to link if the user names none; `is_certain` unless a person has to choose among them."""

    names: tuple[str, ...]
    is_certain: bool


def detect_hosts(project: Project) -> DetectedHosts:
    """Return the hosts that a scope is used with.

    For a project, these are the hosts whose own folders it has. Other hosts on this machine are certain only if there
    is just one: the manifest is shared with people who use others.
    """
    present, agents = find_present_agents(project), load_agents()
    used = (
        tuple(name for name in present if is_used_in(agents[name], project.scope.root))
        if project.scope.kind == "project"
        else ()
    )
    names = used or tuple(present)
    return DetectedHosts(names=names, is_certain=project.scope.kind == "user" or len(names) == 1 or bool(used))


def link(project: Project, names: Sequence[str], options: ChangeOptions) -> ChangeResult:
    """Link the skills of a scope for these agents, now and after every later change."""
    require_agent_folders(names, project)
    require_key_files(project.scope, project.settings)

    def edit(files: ProjectFiles) -> ProjectFiles:
        return add_agents(files, names)

    options = without_skill_changes(options)
    options = options.replace(install=options.install.replace(is_linking_requested=True))
    result = change(project, options, edit)
    return result if result.is_dry_run else warn_lost_skills(project, names, result)


def warn_lost_skills(project: Project, names: Sequence[str], result: ChangeResult) -> ChangeResult:
    """Warn of the skills that these agents do not load although they are linked, and add that to a result."""
    from skillpm.change.lost_skills import find_lost_skills  # noqa: PLC0415  (as above)
    from skillpm.operations.host_listing import find_cut_listings  # noqa: PLC0415  (imports the serving of skills)

    lost = [str(each) for each in find_lost_skills(project.scope, project.settings, names)]
    lost += find_cut_listings(project.scope, project.settings, names)
    for message in lost:
        project.reporter.warn(message)
    return result.replace(warnings=(*result.warnings, *lost))


def unlink(project: Project, names: Sequence[str], options: ChangeOptions) -> ChangeResult:
    """Remove the links for these agents; only links that skillpm created are removed."""

    def edit(files: ProjectFiles) -> ProjectFiles:
        find_agents(name for name in names if name not in files.agents)
        return _with_agents(files, [agent for agent in files.agents if agent not in names])

    return change(project, without_skill_changes(options), edit)


def add_agents(files: ProjectFiles, names: Sequence[str]) -> ProjectFiles:
    """Return the files with these agents beside those that are linked already."""
    return _with_agents(files, list(dict.fromkeys([*files.agents, *names])))


def require_agent_folders(names: Sequence[str], project: Project) -> None:
    """Raise `UsageError` for an agent that is not known, or that reads no skills in a scope."""
    for agent in find_agents(names):
        require_agent_folder(agent, project.scope.kind, project.settings)


def _with_agents(files: ProjectFiles, agents: list[str]) -> ProjectFiles:
    if agents == [*files.agents]:
        return files
    return files.with_manifest_text(set_member(files.editable_manifest, ("agents",), agents))


def without_skill_changes(options: ChangeOptions) -> ChangeOptions:
    """Return options that select no skill, so that local changes block nothing."""
    return options.replace(install=options.install.replace(selected=(), inexact=True))
