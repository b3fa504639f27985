"""Find existing skills in the folders of agent hosts; those with the locked content can be adopted."""

import os
import stat
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from skillpm.adopt.pins import PinnedImport
from skillpm.agent_hosts.known_agents import Agent, agent_folder, is_present, load_agents
from skillpm.core.limits import Limits
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.foreign_formats.content_hashes import HashedFile
from skillpm.foreign_formats.gh import is_from_gh
from skillpm.installer.disk.disk_state import digest_folder, walk_files
from skillpm.installer.disk.skill_file import read_skill_file
from skillpm.installer.links.state import is_link
from skillpm.scope.project import Project, Session
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill

MAX_FILE_SIZE = Limits().file
DIFFERS_FROM_LOCKED = "differs from the locked version"


class ExistingSkill(Value):
    """A skill in a folder of a host."""

    name: SkillName
    folder: str  # as in the agent table: `.claude/skills`
    difference: str = ""  # from the locked version; empty if there is none

    @property
    def path(self) -> str:
        """Its path for messages."""
        return f"{self.folder}/{self.name}"


class Adoption(Value):
    """The existing skills in folders of hosts."""

    adoptable: tuple[ExistingSkill, ...] = ()  # in folders in which all skills match what is locked
    identical: tuple[ExistingSkill, ...] = ()  # match as well, but others in their folder do not
    different: tuple[ExistingSkill, ...] = ()
    links: tuple[ExistingSkill, ...] = ()  # of other tools
    agents: tuple[str, ...] = ()  # to be linked, one for each folder of `adoptable`
    # Agent -> the skills that it gets and did not have before: it is in `agents` already, or no host had them.
    new_for: Mapping[str, tuple[SkillName, ...]] = EMPTY_MAPPING
    # Agent that is to be linked -> the skills that stay hidden from it: only other hosts had them.
    hidden_from: Mapping[str, tuple[SkillName, ...]] = EMPTY_MAPPING


def read_existing_files(project: Project, name: SkillName) -> list[list[HashedFile]]:
    """Return the files of each folder of this name in the folders of hosts."""
    paths = project.scope.link_folders(project.settings)
    candidates = (os.path.join(paths.path(folder), name) for folder in _find_agent_folders(project))
    return [_read_files(path) for path in candidates if os.path.isdir(path) and not os.path.islink(path)]


def find_existing_skills(
    project: Project,
    imports: Mapping[SkillName, PinnedImport],
    *,
    linked_agents: Sequence[str],
    preferred_agents: Sequence[str],
) -> Adoption:
    """Compare the skills in the folders of hosts with what is locked.

    A host is linked only if all skills in its folder match: then linking replaces no content. `linked_agents` are in
    `agents` already.
    """
    paths = project.scope.link_folders(project.settings)
    adoption, folders = Adoption(), dict[str, str]()
    had: dict[str, set[SkillName]] = {}
    for folder, readers in _find_agent_folders(project).items():
        same, different, links = [], [], []
        is_source = False
        for name, item in imports.items():
            path = os.path.join(paths.path(folder), name)
            try:
                state = os.lstat(path)
            except OSError:
                continue
            existing = ExistingSkill(name=name, folder=folder)
            had.setdefault(folder, set()).add(name)
            if is_link(path, state):
                links.append(existing)
            elif _is_source(path, project, item):
                is_source = True
            elif stat.S_ISDIR(state.st_mode) and digest_folder(path) == item.locked.digest:
                same.append(existing)
            else:
                different.append(existing.replace(difference=_describe_difference(path, project.session, item)))
        if same and not (different or links or is_source):
            agent = _choose_agent(readers, project, [*linked_agents, *preferred_agents])
            folders[agent] = folder
            adoption = adoption.replace(adoptable=(*adoption.adoptable, *same), agents=(*adoption.agents, agent))
        else:
            adoption = adoption.replace(
                identical=(*adoption.identical, *same),
                different=(*adoption.different, *different),
                links=(*adoption.links, *links),
            )
    agents = load_agents()
    for agent in linked_agents:
        own_folder = agent_folder(agents[agent], project.scope.kind, project.settings) if agent in agents else None
        folders.setdefault(agent, own_folder or "")
    return _compare_visibility(adoption, {*imports}, folders, had, linked_agents)


def _compare_visibility(
    adoption: Adoption,
    imports: AbstractSet[SkillName],
    folders: Mapping[str, str],
    had: Mapping[str, AbstractSet[SkillName]],
    linked_agents: Sequence[str],
) -> Adoption:
    """Add which skills each agent gets, and which stay hidden from it; `had` has the skills of each folder before."""
    new_for, hidden_from = dict[str, tuple[SkillName, ...]](), dict[str, tuple[SkillName, ...]]()
    for agent, folder in folders.items():
        lacking = imports - had.get(folder, set())
        hidden = set[SkillName]() if agent in linked_agents else lacking & set[SkillName]().union(*had.values())
        if hidden:
            hidden_from[agent] = tuple(sorted(hidden))
        if lacking - hidden:
            new_for[agent] = tuple(sorted(lacking - hidden))
    return adoption.replace(new_for=new_for, hidden_from=hidden_from)


def _is_source(folder: str, project: Project, item: PinnedImport) -> bool:
    path = item.source.local_path
    if not path:
        return False
    path = project.settings.home + path[1:] if path.startswith("~") else path
    return os.path.realpath(os.path.join(project.scope.root, path)) == os.path.realpath(folder)


def _describe_difference(folder: str, session: Session, item: PinnedImport) -> str:
    """Describe how a folder differs from what is locked, in detail where the difference is not an edit."""
    digest = item.locked.digest
    tree = None if digest is None else session.store.read(digest, item.locked.pin.store_variant())
    existing = {file.path: file.data for file in _read_files(folder)} if os.path.isdir(folder) else {}
    if tree is None or not existing:
        return DIFFERS_FROM_LOCKED
    locked = {file.path: file.data for file in tree.files}
    changed = [path for path, data in existing.items() if locked.get(path) != data]
    missing = sorted(locked.keys() - existing.keys())
    if not changed and missing:
        return f"lacks {', '.join(missing[:3])}{' and more' if missing[3:] else ''} of the locked version"
    if changed == [tree.skill_file] and not missing and is_from_gh(_read_metadata(folder)):
        return "has lines that gh added to its SKILL.md"
    return DIFFERS_FROM_LOCKED


def _read_metadata(folder: str) -> Mapping[str, Any]:
    try:
        return read_skill(read_skill_file(folder)).metadata
    except (NotLoadable, OSError):
        return {}


def _find_agent_folders(project: Project) -> dict[str, list[Agent]]:
    """Return the folders in which hosts look for skills, each with its hosts."""
    hosts: dict[str, list[Agent]] = {}
    for agent in load_agents().values():
        folder = agent_folder(agent, project.scope.kind, project.settings)
        if folder is not None:
            hosts.setdefault(folder, []).append(agent)
    return dict(sorted(hosts.items()))


def _choose_agent(agents: Sequence[Agent], project: Project, preferred_agents: Sequence[str]) -> str:
    """Choose one of the hosts of a folder: preferably a given one, then `universal`, then one installed here."""
    by_rank = sorted(
        agents,
        key=lambda agent: (
            agent.id not in preferred_agents,
            agent.id != "universal",
            not is_present(agent, project.scope.root, project.settings),
        ),
    )
    return by_rank[0].id


def _read_files(folder: str) -> list[HashedFile]:
    files = []
    for path, entry in walk_files(folder):
        state = entry.stat(follow_symlinks=False)
        if entry.is_symlink():
            files.append(HashedFile(path=path, data=os.fsencode(os.readlink(entry.path)), is_link=True))
        elif stat.S_ISREG(state.st_mode) and state.st_size <= MAX_FILE_SIZE:
            with open(entry.path, "rb") as file:
                files.append(
                    HashedFile(path=path, data=file.read(MAX_FILE_SIZE), executable=bool(state.st_mode & 0o100))
                )
    return files
