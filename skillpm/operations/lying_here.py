"""What lies in the folders of agent hosts already: whose content agrees with what is locked can be taken over."""

import os
import stat
from collections.abc import Mapping, Sequence

from skillpm.documents.agents import Agent
from skillpm.documents.digest import Digest
from skillpm.documents.foreign_hash import File
from skillpm.documents.names import SkillName
from skillpm.installing.links import is_link
from skillpm.installing.survey import digest_of_folder, walk_files
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.serving.hosts import agent_folder, all_agents, is_present
from skillpm.values import Value

LARGEST = 25_000_000


class Lying(Value):
    """What was found in hosts' folders: what agrees, what is something else, the links, and the hosts to be linked."""

    agreeing: tuple[tuple[SkillName, str], ...] = ()
    other: tuple[tuple[SkillName, str], ...] = ()
    links: tuple[tuple[SkillName, str], ...] = ()
    agents: tuple[str, ...] = ()


def files_lying(scope: Scope, tools: Tools, name: SkillName) -> list[list[File]]:
    """Give the files of every folder of this name that a host reads."""
    paths = scope.link_folders(tools.settings)
    places = (os.path.join(paths.path(folder), name) for folder in _folders(scope, tools))
    return [_files(place) for place in places if os.path.isdir(place) and not os.path.islink(place)]


def look_in_hosts(
    scope: Scope, tools: Tools, locked: Mapping[SkillName, Digest | None], preferred: Sequence[str]
) -> Lying:
    """Compare what lies in hosts' folders with what is locked.

    A host is to be linked where all that lies in its folder agrees: then what lies there is what would be put there.
    """
    paths = scope.link_folders(tools.settings)
    agreeing, other, links, agents = [], [], [], []
    for folder, readers in _folders(scope, tools).items():
        same, different = [], []
        for name, digest in locked.items():
            place = os.path.join(paths.path(folder), name)
            try:
                state = os.lstat(place)
            except OSError:
                continue
            if is_link(place, state):
                links.append((name, f"{folder}/{name}"))
            elif stat.S_ISDIR(state.st_mode) and digest is not None and digest_of_folder(place) == digest:
                same.append((name, f"{folder}/{name}"))
            else:
                different.append((name, f"{folder}/{name}"))
        agreeing += same
        other += different
        if same and not different:
            agents.append(_reader(readers, scope, tools, preferred))
    return Lying(agreeing=tuple(agreeing), other=tuple(other), links=tuple(links), agents=tuple(agents))


def _folders(scope: Scope, tools: Tools) -> dict[str, list[Agent]]:
    """Give the folders hosts read skills in, each with those that read it."""
    found: dict[str, list[Agent]] = {}
    for agent in all_agents().values():
        folder = agent_folder(agent, scope.kind, tools.settings)
        if folder is not None:
            found.setdefault(folder, []).append(agent)
    return dict(sorted(found.items()))


def _reader(readers: Sequence[Agent], scope: Scope, tools: Tools, preferred: Sequence[str]) -> str:
    """Choose one of the hosts that read a folder: one that was named, one that stands for all, one that is here."""
    by_rank = sorted(
        readers,
        key=lambda agent: (
            agent.id not in preferred,
            agent.id != "universal",
            not is_present(agent, scope.root, tools.settings),
        ),
    )
    return by_rank[0].id


def _files(folder: str) -> list[File]:
    found = []
    for path, entry in walk_files(folder):
        state = entry.stat(follow_symlinks=False)
        if entry.is_symlink():
            found.append(File(path=path, data=os.fsencode(os.readlink(entry.path)), is_link=True))
        elif stat.S_ISREG(state.st_mode) and state.st_size <= LARGEST:
            with open(entry.path, "rb") as file:
                found.append(File(path=path, data=file.read(LARGEST), executable=bool(state.st_mode & 0o100)))
    return found
