"""The agent hosts that are on this machine, and the suggestion to link them."""

from skillpm.agent_hosts.known_agents import agent_folder, is_present, load_agents
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.receipt import Receipt
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles

MAX_AGENTS_NAMED = 4


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
