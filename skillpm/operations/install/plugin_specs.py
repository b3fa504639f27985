"""The skills of a plugin: in a folder here, or in a repository elsewhere."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice

from skillpm.core.decoder import parse_json
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import show
from skillpm.errors import ConflictError, NotFoundError
from skillpm.fetchers.dispatcher import Fetchers
from skillpm.files import is_below, read_text
from skillpm.foreign_formats.base import Plugin, Taken
from skillpm.foreign_formats.claude_marketplace import skill_folders
from skillpm.installer.skill_file import is_skill_folder
from skillpm.requirements.source import GitSource, PathSource

PLUGIN_FILES = (os.path.join(".claude-plugin", "plugin.json"), "plugin.json")
DEEPEST, MOST = 4, 2_000


def of_plugin(plugin: Plugin, folder: str, fetchers: Fetchers) -> list[Taken]:
    """Give the skills of a plugin: those it names, else all below its `skills`. `folder` is the marketplace's.

    Raises `NotFoundError` where it holds none.
    """
    found = _elsewhere(plugin, fetchers) if plugin.source is not None else _here(plugin, folder)
    if not found:
        raise NotFoundError("it holds no skills")
    return found


def _elsewhere(plugin: Plugin, fetchers: Fetchers) -> list[Taken]:
    if plugin.source is None:
        return []
    offered = [offer.source for offer in fetchers.offers(plugin.source, "")]
    by_path = {source.path: source for source in offered if isinstance(source, GitSource)}
    named = [_joined(plugin.folder, part) for part in plugin.skills or ["skills"]]
    return [
        Taken(name=SkillName(name), source=source)
        for path, source in by_path.items()
        if any(path == place or path.startswith(f"{place}/") for place in named)
        and is_skill_name(name := os.path.basename(path))
    ]


def _here(plugin: Plugin, folder: str) -> list[Taken]:
    root = os.path.join(folder, plugin.folder)
    named = plugin.skills if plugin.skills is not None else ("skills", *_said_by_itself(root))
    found: dict[str, Taken] = {}
    for part in named:
        for place in _skills_at(os.path.normpath(os.path.join(root, part))):
            name = os.path.basename(place)
            if not is_below(os.path.realpath(place), os.path.realpath(folder)):
                raise ConflictError(f"{show(os.path.relpath(place, folder))} is a link that leads out of {folder}")
            if is_skill_name(name):
                found.setdefault(place, Taken(name=SkillName(name), source=PathSource(path=place)))
    return [found[place] for place in sorted(found)]


def _said_by_itself(root: str) -> Iterable[str]:
    """Give the folders that `plugin.json` names beside `skills`."""
    for file in PLUGIN_FILES:
        path = os.path.join(root, file)
        text = read_text(path) if os.path.isfile(path) else None
        skills = None if text is None else parse_json(text, path).get("skills")
        if skills is not None and skills.value is not None:
            return skill_folders(skills)
    return ()


def _skills_at(folder: str) -> Iterator[str]:
    """Give a folder that is a skill, else the skills in it."""
    if is_skill_folder(folder):
        yield folder
    elif os.path.isdir(folder):
        inside = (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
        yield from (place for place in inside if is_skill_folder(place))


def folder_called(name: SkillName, folder: str) -> str:
    """Find the skill of a name in a folder of skills, which some tools write down instead of the skill's own."""
    if is_skill_folder(folder):
        return folder
    for place, inner, _ in islice(os.walk(folder), MOST):
        depth = place.removeprefix(folder).count(os.sep)
        inner[:] = [] if depth >= DEEPEST else sorted({*inner} - {".git", "node_modules", ".agent-skills"})
        if os.path.basename(place) == name and is_skill_folder(place):
            return place
    return folder


def _joined(folder: str, part: str) -> str:
    """Join two paths in a repository, where `.` is its root."""
    return part if folder == "." else folder if part == "." else f"{folder}/{part}"
