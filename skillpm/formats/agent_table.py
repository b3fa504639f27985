"""Agent hosts: where each reads skills (profiles/agents.json), as values."""

from skillpm.core.decoder import JsonNode, parse_json
from skillpm.core.values import Value


class Agent(Value):
    """One agent host. Folders are templates: `~`, `$XDG` and, for a project, relative to its root."""

    id: str
    project_dir: str | None
    user_dir: str | None
    home_env: str
    presence: tuple[str, ...]


def read_agents(text: str, file: str) -> tuple[Agent, ...]:
    """Read the table of hosts."""
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
