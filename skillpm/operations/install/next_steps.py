"""What to do next: no agent host reads our skills directory by itself, so say which hosts are here and how to link.

Said once, after the first installation into a scope: whoever does not link then has read it.
"""

from skillpm.agent_hosts.known_agents import agent_folder, all_agents, is_present
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.receipt import Receipt
from skillpm.operations.context.project_files import Paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope

MOST_LINKED = 4


def next_step(scope: Scope, tools: Tools, papers: Paperwork, lockfile: Lockfile, before: Receipt) -> str:
    """Give the advice for a scope without linked agents; empty where there is nothing to say.

    `before` is the receipt as it was: where something was installed already, this was said before.
    """
    if papers.agents or papers.manifest.agents is not None or not lockfile.skills or before.skills:
        return ""
    found = agents_here(scope, tools)
    flag = " -g" if scope.kind == "user" else ""
    if not found:
        return f"`skillpm link{flag} AGENT` shows them to your agent; `skillpm agents --all` lists the agents it knows"
    others = f" (also here: {', '.join(found[MOST_LINKED:])})" if len(found) > MOST_LINKED else ""
    named = " ".join(found[:MOST_LINKED])
    return f"`skillpm link{flag} {named}` shows them to {'that agent' if len(found) == 1 else 'these agents'}{others}"


def agents_here(scope: Scope, tools: Tools) -> list[str]:
    """Give the hosts that are on this machine or in this project, and read skills in this scope."""
    return [
        agent.id
        for agent in all_agents().values()
        if agent_folder(agent, scope.kind, tools.settings) and is_present(agent, scope.root, tools.settings)
    ]
