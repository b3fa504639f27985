"""The skills of a plugin, in a local folder or in a repository."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice

from skillpm.core.json_text.decoder import parse_json
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import sanitize
from skillpm.errors import ConflictError, NotFoundError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.files import is_below, read_text
from skillpm.foreign_formats.base import ImportedSkill, Plugin
from skillpm.foreign_formats.claude_marketplace import read_skill_folders
from skillpm.installer.disk.skill_file import is_skill_folder
from skillpm.kinds.git import GitSource
from skillpm.kinds.local import PathSource

PLUGIN_FILES = (os.path.join(".claude-plugin", "plugin.json"), "plugin.json")
MAX_DEPTH, MAX_FOLDERS = 4, 2_000


def find_plugin_skills(plugin: Plugin, folder: str, fetchers: FetcherDispatcher) -> list[ImportedSkill]:
    """Return the skills that a plugin lists, else all in its `skills` folder. `folder` is that of the marketplace.

    Raises `NotFoundError` if there are none.
    """
    if plugin.source is None:
        skills = _find_local_skills(plugin, folder)
    else:
        skills = _find_remote_skills(plugin, plugin.source, fetchers)
    if not skills:
        raise NotFoundError("it contains no skills")
    return skills


def _find_remote_skills(plugin: Plugin, repository: GitSource, fetchers: FetcherDispatcher) -> list[ImportedSkill]:
    sources = [skill.source for skill in fetchers.list_available_skills(repository, "")]
    by_path = {source.path: source for source in sources if isinstance(source, GitSource)}
    folders = [_join_repository_path(plugin.folder, part) for part in plugin.skills or ["skills"]]
    return [
        ImportedSkill(name=SkillName(name), source=source)
        for path, source in by_path.items()
        if any(path == place or path.startswith(f"{place}/") for place in folders)
        and is_skill_name(name := os.path.basename(path))
    ]


def _find_local_skills(plugin: Plugin, folder: str) -> list[ImportedSkill]:
    root = os.path.join(folder, plugin.folder)
    named = plugin.skills if plugin.skills is not None else ("skills", *_read_skill_paths(root))
    skills: dict[str, ImportedSkill] = {}
    for part in named:
        for place in _find_skills(os.path.normpath(os.path.join(root, part))):
            name = os.path.basename(place)
            if not is_below(os.path.realpath(place), os.path.realpath(folder)):
                raise ConflictError(
                    f"{sanitize(os.path.relpath(place, folder))} is a link that points outside {folder}"
                )
            if is_skill_name(name):
                skills.setdefault(place, ImportedSkill(name=SkillName(name), source=PathSource(path=place)))
    return [skills[place] for place in sorted(skills)]


def _read_skill_paths(root: str) -> Iterable[str]:
    """Return the folders that `plugin.json` lists in addition to `skills`."""
    for file in PLUGIN_FILES:
        path = os.path.join(root, file)
        text = read_text(path) if os.path.isfile(path) else None
        skills = None if text is None else parse_json(text, path).get("skills")
        if skills is not None and skills.value is not None:
            return read_skill_folders(skills)
    return ()


def _find_skills(folder: str) -> Iterator[str]:
    """Yield a folder that is a skill, else the skills in it."""
    if is_skill_folder(folder):
        yield folder
    elif os.path.isdir(folder):
        inside = (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
        yield from (place for place in inside if is_skill_folder(place))


def find_named_folder(name: SkillName, folder: str) -> str:
    """Return the folder of a skill below a folder of skills: some tools record the latter instead of the former."""
    if is_skill_folder(folder):
        return folder
    for place, inner, _ in islice(os.walk(folder), MAX_FOLDERS):
        depth = place.removeprefix(folder).count(os.sep)
        inner[:] = [] if depth >= MAX_DEPTH else sorted({*inner} - {".git", "node_modules", ".agent-skills"})
        if os.path.basename(place) == name and is_skill_folder(place):
            return place
    return folder


def _join_repository_path(folder: str, part: str) -> str:
    """Join two paths in a repository, where `.` is its root."""
    return part if folder == "." else folder if part == "." else f"{folder}/{part}"
