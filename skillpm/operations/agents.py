"""`agents`, `link`, `unlink`: which hosts are here, and showing installed skills to them."""

from collections.abc import Sequence

from skillpm.agent_hosts.known_agents import agent_folder, find_agents, is_present, load_agents, require_agent_folder
from skillpm.core.values import Value
from skillpm.formats.agent_table import Agent
from skillpm.formats.json_edit import set_member
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import ProjectFiles, read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.pipeline import ChangeOptions, ChangeResult, change


class KnownAgent(Value):
    """One host: where it reads skills, whether it is here, whether the scope's skills are linked for it.

    `shares` are the linked hosts that read the same folder: it sees the skills too, as long as these are linked.
    """

    id: str
    project_dir: str | None
    user_dir: str | None
    is_present: bool
    is_linked: bool
    shared_with: tuple[str, ...] = ()


def list_agents(scope: Scope, context: Context) -> list[KnownAgent]:
    """List all hosts, sorted by id."""
    papers = read_project_files(scope, context)
    folders = {folder for folder, links in load_receipt(scope.layout).links.items() if links}
    chosen = find_agents(papers.agents, where=papers.agents_location)
    linked: dict[str, list[str]] = {}
    for agent in chosen:
        folder = agent_folder(agent, scope.kind, context.settings)
        if folder is not None and folder in folders:
            linked.setdefault(folder, []).append(agent.id)

    def by_folder(agent: Agent) -> list[str]:
        return linked.get(agent_folder(agent, scope.kind, context.settings) or "", [])

    return [
        KnownAgent(
            id=agent.id,
            project_dir=agent.project_dir,
            user_dir=agent_folder(agent, "user", context.settings),
            is_present=is_present(agent, scope.root, context.settings),
            is_linked=agent.id in by_folder(agent),
            shared_with=tuple(sorted({*by_folder(agent)} - {agent.id})),
        )
        for agent in sorted(load_agents().values(), key=lambda agent: agent.id)
    ]


def link(scope: Scope, context: Context, names: Sequence[str], options: ChangeOptions) -> ChangeResult:
    """Show the installed skills to these hosts, now and after every later change."""
    for agent in find_agents(names):
        require_agent_folder(agent, scope.kind, context.settings)

    def edit(papers: ProjectFiles) -> ProjectFiles:
        agents = list(dict.fromkeys([*papers.agents, *names]))
        return (
            papers.with_manifest_text(set_member(papers.editable_manifest, ("agents",), agents))
            if agents != [*papers.agents]
            else papers
        )

    options = without_skill_changes(options)
    return change(scope, context, options.replace(install=options.install.replace(is_linking_requested=True)), edit)


def unlink(scope: Scope, context: Context, names: Sequence[str], options: ChangeOptions) -> ChangeResult:
    """Take the links for these hosts away; only links of ours are removed."""

    def edit(papers: ProjectFiles) -> ProjectFiles:
        find_agents(name for name in names if name not in papers.agents)
        agents = [agent for agent in papers.agents if agent not in names]
        return (
            papers.with_manifest_text(set_member(papers.editable_manifest, ("agents",), agents))
            if agents != [*papers.agents]
            else papers
        )

    return change(scope, context, without_skill_changes(options), edit)


def without_skill_changes(options: ChangeOptions) -> ChangeOptions:
    """Give options under which no skill is meant: one that somebody edited is in nobody's way."""
    return options.replace(install=options.install.replace(selected=(), inexact=True))
