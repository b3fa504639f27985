"""What to do next: no agent host reads our skills directory by itself, so say which hosts are here and how to link."""

from skillpm.documents.lockfile import Lockfile
from skillpm.operations.paperwork import Paperwork
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.serving.hosts import agent_folder, all_agents, is_present


def next_step(scope: Scope, tools: Tools, papers: Paperwork, lockfile: Lockfile) -> str:
    """Give the advice for a scope without linked agents; empty where there is nothing to say."""
    if papers.agents or papers.manifest.agents is not None or not lockfile.skills:
        return ""
    found = [
        agent.id
        for agent in all_agents().values()
        if agent_folder(agent, scope.kind, tools.settings) and is_present(agent, scope.root, tools.settings)
    ]
    flag = " -g" if scope.kind == "user" else ""
    if not found:
        return f"no agent host was found here; `skillpm link{flag} AGENT` shows them to one (`skillpm agents --all`)"
    few = " ".join(found[:4])
    return f"no agent reads {scope.layout.directory} by itself; found {', '.join(found)}: `skillpm link{flag} {few}`"
