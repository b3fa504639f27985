"""The table of known agent hosts: which of them are on this machine, and where each reads skills."""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.suggestions import did_you_mean, suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, UsageError
from skillpm.files import is_below
from skillpm.settings import Settings


class Agent(Value):
    """One agent host. Folders are templates: with `~` or `$XDG`, or relative to the root of a project."""

    id: str
    project_dir: str | None
    user_dir: str | None
    # Environment variable that moves the host's home folder.
    home_env: str
    # Paths whose existence shows that the host is installed.
    presence: tuple[str, ...]
    # It finds no skills behind links, so it gets copies.
    needs_copies: bool = False
    # What other tools call it, or the product that it is a part of.
    other_names: tuple[str, ...] = ()


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
        needs_copies=node.text_or("links") == "none",
        other_names=() if (names := node.get("otherNames")) is None else names.texts(),
    )


def expand_template(template: str, settings: Settings, *, home: str = "", env: str = "") -> str:
    """Return the path of a template; empty if it uses a variable that is not set.

    If the variable `env` is set, it replaces the folder `home` (also a template) in the path.
    """
    relocated = settings.environ.get(env, "") if env and home else ""
    if relocated and is_below(template, home):
        return relocated + template[len(home) :]
    if template == "~" or template.startswith("~/"):
        return settings.home + template[1:]
    if not template.startswith("$"):
        return template
    name, _, rest = template[1:].partition("/")
    base = _resolve_prefix(name, settings)
    return os.path.join(base, rest) if base and rest else base


def abbreviate_home(path: str, settings: Settings) -> str:
    """Return a path with `~` for the home folder."""
    return "~" + path[len(settings.home) :] if is_below(path, settings.home) else path


def _resolve_prefix(name: str, settings: Settings) -> str:
    match name:
        case "XDG":
            return settings.environ.get("XDG_CONFIG_HOME") or os.path.join(settings.home, ".config")
        case "SKILLS_HOME":
            return settings.skills_home
        case "BUNDLED":
            from skillpm.fetchers.bundled_paths import bundled_folder  # noqa: PLC0415  (one host has such a folder)

            return bundled_folder()
        case _:
            return settings.environ.get(name, "")


AGENTS_FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "profiles", "agents.json")
SHARED_FOLDER = ".agents"  # read by two dozen hosts, so its existence does not indicate any of them


@cache  # asked for several times by a command, and parsing takes 4 ms
def load_agents() -> Mapping[str, Agent]:
    """Return all known hosts by ID."""
    with open(AGENTS_FILE, encoding="utf-8") as file:
        return {agent.id: agent for agent in read_agents(file.read(), AGENTS_FILE)}


def find_agents(names: Iterable[str], *, where: str = "") -> list[Agent]:
    """Return the hosts with these IDs.

    For an unknown ID raises `NotFoundError` if it comes from the document `where`, and `UsageError` if it was typed.
    """
    known = load_agents()
    agents = []
    for name in names:
        if name not in known:
            hint = did_you_mean([agent.id for agent in known.values() if name in agent.other_names])
            hint = hint or suggestion_hint(name, known, "run `skillpm agents --all` to list them")
            separate = [part for part in name.replace(",", " ").split() if part in known]
            if len(separate) > 1:
                hint = f"separate several hosts with spaces: {' '.join(separate)}"
            error_type = NotFoundError if where else UsageError
            raise error_type(f"unknown agent `{sanitize(name)}`", where=where, hint=hint)
        agents.append(known[name])
    return agents


def agent_folder(agent: Agent, kind: Literal["project", "user"], settings: Settings) -> str | None:
    """Return the folder where a host reads skills in a scope, as a receipt names it; None if it reads none there."""
    if kind == "project":
        return agent.project_dir
    return None if agent.user_dir is None else abbreviate_home(_expand_path(agent.user_dir, agent, settings), settings)


def project_folders(names: Iterable[str]) -> list[str]:
    """Return the folders in a project of those of these hosts that are known, and have one."""
    known = load_agents() if names else {}
    return [agent.project_dir for name in names if (agent := known.get(name)) and agent.project_dir]


def require_agent_folder(agent: Agent, kind: Literal["project", "user"], settings: Settings) -> str:
    """Return that folder. Raises `UsageError` if the host reads no skills in this scope."""
    folder = agent_folder(agent, kind, settings)
    if folder is None:
        option = "with `-g`" if kind == "project" else "in a project"
        raise UsageError(f"{agent.id} reads no skills in {kind} scope", hint=f"link it {option}")
    return folder


def is_present(agent: Agent, root: str, settings: Settings) -> bool:
    """Return whether a host seems to be installed here, or used in the project at `root`: one of its folders exists."""
    if root != settings.home and is_used_in(agent, root):
        return True
    for marker in agent.presence:
        path = os.path.join(root, marker[2:]) if marker.startswith("./") else _expand_path(marker, agent, settings)
        if os.path.exists(path):
            return True
    return False


def is_used_in(agent: Agent, root: str) -> bool:
    """Return whether the project at `root` has a folder of a host, which it shares with no other host."""
    folder = _dedicated_folder(agent)
    return folder != "" and os.path.isdir(os.path.join(root, folder))


def _dedicated_folder(agent: Agent) -> str:
    """Return the top folder of a host in a project (`.claude`) if no other host shares it, else an empty string."""
    top = (agent.project_dir or "").partition("/")[0]
    return top if top.startswith(".") and top != SHARED_FOLDER else ""


def _expand_path(template: str, agent: Agent, settings: Settings) -> str:
    """Expand a path template, taking into account the variable that relocates the host's home folder."""
    home = agent.presence[0] if agent.presence else ""
    return expand_template(template, settings, home=home, env=agent.home_env)
