"""`agents`, `link`, `unlink`: which hosts are here, and showing installed skills to them."""

from collections.abc import Sequence

from skillpm.agent_hosts.known_agents import agent_folder, all_agents, chosen_agents, folder_needed, is_present
from skillpm.core.values import Value
from skillpm.formats.agent_table import Agent
from skillpm.formats.json_edit import set_member
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import Paperwork, read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.pipeline import Changed, Options, change


class KnownAgent(Value):
    """One host: where it reads skills, whether it is here, whether the scope's skills are linked for it.

    `shares` are the linked hosts that read the same folder: it sees the skills too, as long as these are linked.
    """

    id: str
    project_dir: str | None
    user_dir: str | None
    present: bool
    linked: bool
    shares: tuple[str, ...] = ()


def known_agents(scope: Scope, tools: Tools) -> list[KnownAgent]:
    """List all hosts, sorted by id."""
    papers = read_paperwork(scope, tools)
    folders = {folder for folder, links in load_receipt(scope.layout).links.items() if links}
    chosen = chosen_agents(papers.agents, where=papers.agents_written_in)
    linked: dict[str, list[str]] = {}
    for agent in chosen:
        folder = agent_folder(agent, scope.kind, tools.settings)
        if folder is not None and folder in folders:
            linked.setdefault(folder, []).append(agent.id)

    def by_folder(agent: Agent) -> list[str]:
        return linked.get(agent_folder(agent, scope.kind, tools.settings) or "", [])

    return [
        KnownAgent(
            id=agent.id,
            project_dir=agent.project_dir,
            user_dir=agent_folder(agent, "user", tools.settings),
            present=is_present(agent, scope.root, tools.settings),
            linked=agent.id in by_folder(agent),
            shares=tuple(sorted({*by_folder(agent)} - {agent.id})),
        )
        for agent in sorted(all_agents().values(), key=lambda agent: agent.id)
    ]


def link(scope: Scope, tools: Tools, names: Sequence[str], options: Options) -> Changed:
    """Show the installed skills to these hosts, now and after every later change."""
    for agent in chosen_agents(names):
        folder_needed(agent, scope.kind, tools.settings)

    def edit(papers: Paperwork) -> Paperwork:
        agents = list(dict.fromkeys([*papers.agents, *names]))
        return papers.edited(set_member(papers.text, ("agents",), agents)) if agents != [*papers.agents] else papers

    options = links_only(options)
    return change(scope, tools, options.but(wishes=options.wishes.but(linking=True)), edit)


def unlink(scope: Scope, tools: Tools, names: Sequence[str], options: Options) -> Changed:
    """Take the links for these hosts away; only links of ours are removed."""

    def edit(papers: Paperwork) -> Paperwork:
        chosen_agents(name for name in names if name not in papers.agents)
        agents = [agent for agent in papers.agents if agent not in names]
        return papers.edited(set_member(papers.text, ("agents",), agents)) if agents != [*papers.agents] else papers

    return change(scope, tools, links_only(options), edit)


def links_only(options: Options) -> Options:
    """Give options under which no skill is meant: one that somebody edited is in nobody's way."""
    return options.but(wishes=options.wishes.but(touched=(), inexact=True))
