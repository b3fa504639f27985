"""Which of several skills of one name in a repository is taken: many repositories have a copy for each agent host.

Only the repository, the manifest and the lockfile decide, so that every machine locks the same path (ADR 58).
"""

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from skillpm.fetchers.common.base import AvailableSkill
from skillpm.fetchers.common.gate import OPEN, Gate
from skillpm.kinds.git import GitSource

# After the folders of agents, in this order.
PREFERRED_FOLDERS = ("skills", ".agents/skills", ".claude/skills")


class CopyRule:
    """The rule of a command, which commands, listings and the resolver share."""

    def __init__(self, gate: Gate = OPEN) -> None:
        self._gate = gate
        # URL and name -> the locked path, which stays until a person changes it.
        self.locked: dict[tuple[str, str], str] = {}

    @cached_property
    def agent_folders(self) -> Collection[str]:
        """The folders of the manifest's agents."""
        return self._gate.find_agent_folders()

    def choose(self, url: str, name: str, paths: Iterable[str]) -> str:
        """Return the path of the skill that has a name.

        That is the locked one; else of those whose folder has the name, the one in the folder of an agent that the
        manifest names, if only one such folder has a copy; else the first by folder, depth and path. Only paths
        decide: the content must not, or breaking one skill would give its name to another.
        """
        paths = sorted(paths)
        if (locked := self.locked.get((url, name))) in paths:
            return str(locked)
        paths = [path for path in paths if posixpath.basename(path) == name] or paths
        with_copy = [folder for folder in {*self.agent_folders} if any(_is_in(path, folder) for path in paths)]
        if len(with_copy) == 1:
            paths = [path for path in paths if _is_in(path, with_copy[0])]
        return min(paths, key=_rank)

    def choose_each(self, available: Sequence[AvailableSkill]) -> list[AvailableSkill]:
        """Return one skill for each name, each with the folders of the others whose content differs.

        A name is given before it is known what can be loaded: a broken skill keeps the name that it is locked under.
        """
        names = {(url, path): name for (url, name), path in self.locked.items()}
        groups: dict[tuple[str, str], dict[str, AvailableSkill]] = {}
        chosen = [skill for skill in available if not isinstance(skill.source, GitSource)]
        for skill in available:
            if not isinstance(skill.source, GitSource):
                continue
            url, path = skill.source.url, skill.source.path
            name = (skill.problem and names.get((url, path))) or skill.install_name or skill.name
            groups.setdefault((url, name), {})[path] = skill.replace(name=name)
        for (url, name), by_path in groups.items():
            path = self.choose(url, name, by_path)
            others = differing(path, {path: skill.content for path, skill in by_path.items()})
            chosen.append(by_path[path].replace(others=(*by_path[path].others, *others)))
        return chosen


def _rank(path: str) -> tuple[int, bool, int, str]:
    number = next((n for n, folder in enumerate(PREFERRED_FOLDERS) if _is_in(path, folder)), len(PREFERRED_FOLDERS))
    is_hidden = "/." in f"/{path}"  # a copy for some host, often without the files beside SKILL.md
    return number, is_hidden and number == len(PREFERRED_FOLDERS), path.count("/"), path


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def differing(chosen: str, content: Mapping[str, str]) -> Sequence[str]:
    """Return the paths whose content is not that of the chosen one; `content` is what identifies it, by path."""
    return [path for path in sorted(content) if content[path] != content[chosen]]
