"""What to do next: no agent host reads our skills directory by itself, so say which hosts are here and how to link.

Said once, after the first installation into a scope: whoever does not link then has read it.
"""

from skillpm.agent_hosts.known_agents import agent_folder, is_present, load_agents
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.receipt import Receipt
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope

MAX_AGENTS_NAMED = 4


def suggest_next_step(scope: Scope, context: Context, files: ProjectFiles, lockfile: Lockfile, before: Receipt) -> str:
    """Give the advice for a scope without linked agents; empty where there is nothing to say.

    `before` is the receipt as it was: where something was installed already, this was said before.
    """
    if files.agents or files.manifest.agents is not None or not lockfile.skills or before.skills:
        return ""
    found = find_present_agents(scope, context)
    flag = " -g" if scope.kind == "user" else ""
    if not found:
        return f"`skillpm link{flag} AGENT` shows them to your agent; `skillpm agents --all` lists the agents it knows"
    others = f" (also here: {', '.join(found[MAX_AGENTS_NAMED:])})" if len(found) > MAX_AGENTS_NAMED else ""
    named = " ".join(found[:MAX_AGENTS_NAMED])
    return f"`skillpm link{flag} {named}` shows them to {'that agent' if len(found) == 1 else 'these agents'}{others}"


def find_present_agents(scope: Scope, context: Context) -> list[str]:
    """Give the hosts that are on this machine or in this project, and read skills in this scope."""
    return [
        agent.id
        for agent in load_agents().values()
        if agent_folder(agent, scope.kind, context.settings) and is_present(agent, scope.root, context.settings)
    ]
