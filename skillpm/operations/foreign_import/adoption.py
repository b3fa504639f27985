"""What lies in the folders of agent hosts already: whose content agrees with what is locked can be taken over."""

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Any

from skillpm.agent_hosts.known_agents import agent_folder, is_present, load_agents
from skillpm.core.names import SkillName
from skillpm.core.values import Value
from skillpm.fetchers.base import variant_of
from skillpm.foreign_formats.content_hashes import HashedFile
from skillpm.foreign_formats.gh import is_from_gh
from skillpm.formats.agent_table import Agent
from skillpm.installer.disk_state import digest_folder, walk_files
from skillpm.installer.links.state import is_link
from skillpm.installer.skill_file import read_skill_file
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.foreign_import.pins import PinnedImport
from skillpm.requirements.source import PathSource
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

MAX_FILE_SIZE = 25_000_000
DIFFERS_FROM_LOCKED = "is not what is locked"


class ExistingSkill(Value):
    """A skill in a host's folder. `why` says what it is, where it is not what is locked."""

    name: SkillName
    folder: str
    difference: str = ""

    @property
    def path(self) -> str:
        """Where it lies, as it is shown."""
        return f"{self.folder}/{self.name}"


class Adoption(Value):
    """What was found in hosts' folders. `adopted` is what agrees in those of the hosts to be linked, `agents`; `kept`
    agrees too, but lies beside what does not; `other` is something else, `links` are of other tools.
    """

    adoptable: tuple[ExistingSkill, ...] = ()
    identical: tuple[ExistingSkill, ...] = ()
    different: tuple[ExistingSkill, ...] = ()
    links: tuple[ExistingSkill, ...] = ()
    agents: tuple[str, ...] = ()


def read_existing_files(scope: Scope, context: Context, name: SkillName) -> list[list[HashedFile]]:
    """Give the files of every folder of this name that a host reads."""
    paths = scope.link_folders(context.settings)
    places = (os.path.join(paths.path(folder), name) for folder in _find_agent_folders(scope, context))
    return [_read_files(place) for place in places if os.path.isdir(place) and not os.path.islink(place)]


def find_existing_skills(
    scope: Scope, context: Context, imports: Mapping[SkillName, PinnedImport], preferred_agents: Sequence[str]
) -> Adoption:
    """Compare what lies in hosts' folders with what is locked.

    A host is to be linked where all that lies in its folder agrees: then what lies there is what would be put there.
    """
    paths = scope.link_folders(context.settings)
    found = Adoption()
    for folder, readers in _find_agent_folders(scope, context).items():
        same, different, links = [], [], []
        is_source = False
        for name, item in imports.items():
            place = os.path.join(paths.path(folder), name)
            try:
                state = os.lstat(place)
            except OSError:
                continue
            lies = ExistingSkill(name=name, folder=folder)
            if is_link(place, state):
                links.append(lies)
            elif _is_source(place, scope, context, item):
                is_source = True
            elif stat.S_ISDIR(state.st_mode) and digest_folder(place) == item.locked.digest:
                same.append(lies)
            else:
                different.append(lies.replace(difference=_describe_difference(place, context, item)))
        if same and not (different or links or is_source):
            agent = _choose_agent(readers, scope, context, preferred_agents)
            found = found.replace(adoptable=(*found.adoptable, *same), agents=(*found.agents, agent))
        else:
            found = found.replace(
                identical=(*found.identical, *same),
                different=(*found.different, *different),
                links=(*found.links, *links),
            )
    return found


def _is_source(place: str, scope: Scope, context: Context, item: PinnedImport) -> bool:
    if not isinstance(item.source, PathSource):
        return False
    path = context.settings.home + item.source.path[1:] if item.source.path.startswith("~") else item.source.path
    return os.path.realpath(os.path.join(scope.root, path)) == os.path.realpath(place)


def _describe_difference(place: str, context: Context, item: PinnedImport) -> str:
    """Say how what lies somewhere differs from what is locked, where that says that nobody edited it."""
    digest = item.locked.digest
    tree = None if digest is None else context.store.read(digest, variant_of(item.locked.pin))
    lying = {file.path: file.data for file in _read_files(place)} if os.path.isdir(place) else {}
    if tree is None or not lying:
        return DIFFERS_FROM_LOCKED
    locked = {file.path: file.data for file in tree.files}
    changed = [path for path, data in lying.items() if locked.get(path) != data]
    lacking = sorted(locked.keys() - lying.keys())
    if not changed and lacking:
        return f"lacks {', '.join(lacking[:3])}{' and more' if lacking[3:] else ''} of what is locked"
    if changed == [tree.skill_file] and not lacking and is_from_gh(_read_metadata(place)):
        return "has lines that gh wrote into its SKILL.md"
    return DIFFERS_FROM_LOCKED


def _read_metadata(folder: str) -> Mapping[str, Any]:
    try:
        return read_skill(read_skill_file(folder)).metadata
    except (NotLoadable, OSError):
        return {}


def _find_agent_folders(scope: Scope, context: Context) -> dict[str, list[Agent]]:
    """Give the folders hosts read skills in, each with those that read it."""
    found: dict[str, list[Agent]] = {}
    for agent in load_agents().values():
        folder = agent_folder(agent, scope.kind, context.settings)
        if folder is not None:
            found.setdefault(folder, []).append(agent)
    return dict(sorted(found.items()))


def _choose_agent(agents: Sequence[Agent], scope: Scope, context: Context, preferred_agents: Sequence[str]) -> str:
    """Choose one of the hosts that read a folder: one that was named, one that stands for all, one that is here."""
    by_rank = sorted(
        agents,
        key=lambda agent: (
            agent.id not in preferred_agents,
            agent.id != "universal",
            not is_present(agent, scope.root, context.settings),
        ),
    )
    return by_rank[0].id


def _read_files(folder: str) -> list[HashedFile]:
    found = []
    for path, entry in walk_files(folder):
        state = entry.stat(follow_symlinks=False)
        if entry.is_symlink():
            found.append(HashedFile(path=path, data=os.fsencode(os.readlink(entry.path)), is_link=True))
        elif stat.S_ISREG(state.st_mode) and state.st_size <= MAX_FILE_SIZE:
            with open(entry.path, "rb") as file:
                found.append(
                    HashedFile(path=path, data=file.read(MAX_FILE_SIZE), executable=bool(state.st_mode & 0o100))
                )
    return found
