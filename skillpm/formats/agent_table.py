"""The table of agent hosts and their skills folders (profiles/agents.json)."""

from skillpm.core.decoder import JsonNode, parse_json
from skillpm.core.values import Value


class Agent(Value):
    """One agent host. Folders are templates: with `~` or `$XDG`, or relative to the root of a project."""

    id: str
    project_dir: str | None
    user_dir: str | None
    # Environment variable that moves the host's home folder.
    home_env: str
    # Paths whose existence shows that the host is installed.
    presence: tuple[str, ...]


def read_agents(text: str, file: str) -> tuple[Agent, ...]:
    """Parse the table of hosts."""
    return tuple(_read_agent(node) for node in parse_json(text, file).require("agents").elements())


def _read_agent(node: JsonNode) -> Agent:
    project_dir, user_dir = node.require("projectDir"), node.require("userDir")
    return Agent(
        id=node.require("id").text(),
        project_dir=None if project_dir.value is None else project_dir.text(),
        user_dir=None if user_dir.value is None else user_dir.text(),
        home_env=node.text_or("homeEnv"),
        presence=node.require("presence").texts(),
    )
