"""What lies in the folders of agent hosts already: whose content agrees with what is locked can be taken over."""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.agent_hosts.known_agents import agent_folder, all_agents, is_present
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.fetchers.base import variant_of
from skillpm.foreign_formats.content_hashes import File
from skillpm.foreign_formats.gh import is_from_gh
from skillpm.formats.agent_table import Agent
from skillpm.installer.disk_state import digest_of_folder, walk_files
from skillpm.installer.links.state import is_link
from skillpm.installer.skill_file import read_skill_file
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.foreign_import.pins import Exact
from skillpm.requirements.source import PathSource
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

LARGEST = 25_000_000
NOT_LOCKED = "is not what is locked"


class Lies(Value):
    """A skill in a host's folder. `why` says what it is, where it is not what is locked."""

    name: SkillName
    folder: str
    why: str = ""

    @property
    def path(self) -> str:
        """Where it lies, as it is shown."""
        return f"{self.folder}/{self.name}"


class Lying(Value):
    """What was found in hosts' folders. `adopted` is what agrees in those of the hosts to be linked, `agents`; `kept`
    agrees too, but lies beside what does not; `other` is something else, `links` are of other tools.
    """

    adopted: tuple[Lies, ...] = ()
    kept: tuple[Lies, ...] = ()
    other: tuple[Lies, ...] = ()
    links: tuple[Lies, ...] = ()
    agents: tuple[str, ...] = ()


def files_lying(scope: Scope, tools: Tools, name: SkillName) -> list[list[File]]:
    """Give the files of every folder of this name that a host reads."""
    paths = scope.link_folders(tools.settings)
    places = (os.path.join(paths.path(folder), name) for folder in _folders(scope, tools))
    return [_files(place) for place in places if os.path.isdir(place) and not os.path.islink(place)]


def look_in_hosts(scope: Scope, tools: Tools, exact: Mapping[SkillName, Exact], preferred: Sequence[str]) -> Lying:
    """Compare what lies in hosts' folders with what is locked.

    A host is to be linked where all that lies in its folder agrees: then what lies there is what would be put there.
    """
    paths = scope.link_folders(tools.settings)
    found = Lying()
    for folder, readers in _folders(scope, tools).items():
        same, different, links = [], [], []
        is_source = False
        for name, item in exact.items():
            place = os.path.join(paths.path(folder), name)
            try:
                state = os.lstat(place)
            except OSError:
                continue
            lies = Lies(name=name, folder=folder)
            if is_link(place, state):
                links.append(lies)
            elif _is_source(place, scope, tools, item):
                is_source = True
            elif stat.S_ISDIR(state.st_mode) and digest_of_folder(place) == item.locked.digest:
                same.append(lies)
            else:
                different.append(lies.but(why=_difference(place, tools, item)))
        if same and not (different or links or is_source):
            agent = _reader(readers, scope, tools, preferred)
            found = found.but(adopted=(*found.adopted, *same), agents=(*found.agents, agent))
        else:
            found = found.but(kept=(*found.kept, *same), other=(*found.other, *different), links=(*found.links, *links))
    return found


def _is_source(place: str, scope: Scope, tools: Tools, item: Exact) -> bool:
    if not isinstance(item.source, PathSource):
        return False
    path = tools.settings.home + item.source.path[1:] if item.source.path.startswith("~") else item.source.path
    return os.path.realpath(os.path.join(scope.root, path)) == os.path.realpath(place)


def _difference(place: str, tools: Tools, item: Exact) -> str:
    """Say how what lies somewhere differs from what is locked, where that says that nobody edited it."""
    digest = item.locked.digest
    tree = None if digest is None else tools.store.read(digest, variant_of(item.locked.pin))
    lying = {file.path: file.data for file in _files(place)} if os.path.isdir(place) else {}
    if tree is None or not lying:
        return NOT_LOCKED
    locked = {file.path: file.data for file in tree.files}
    changed = [path for path, data in lying.items() if locked.get(path) != data]
    lacking = sorted(locked.keys() - lying.keys())
    if not changed and lacking:
        return f"lacks {', '.join(lacking[:3])}{' and more' if lacking[3:] else ''} of what is locked"
    if changed == [tree.skill_file] and not lacking and is_from_gh(_metadata(place)):
        return "has lines that gh wrote into its SKILL.md"
    return NOT_LOCKED


def _metadata(folder: str) -> Mapping[str, Any]:
    try:
        return read_skill(read_skill_file(folder)).metadata
    except (NotLoadable, OSError):
        return {}


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
