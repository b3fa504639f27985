"""A snapshot of a skills directory, read from its registry and its folders.

Whether a snapshot is still current costs two `stat` calls: of the directory, whose mtime changes when a folder is added
or removed, and of the registry, which is replaced on every change. Only folders that the registry does not list need
one more each, since their SKILL.md can appear or change without the directory changing.
"""

import os
from collections.abc import Mapping

from skillpm.core.names import SKILL_FILE
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError
from skillpm.files import is_below
from skillpm.formats.registry import RegistryEntry, read_registry
from skillpm.installer.consistent_view import ReadView
from skillpm.installer.disk.layout import Layout
from skillpm.installer.disk.skill_file import find_skill_file
from skillpm.installer.disk.stat_cache import FileStat, is_recent, read_file_stat
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, find_escaping_links, list_linked_folders
from skillpm.registry.build_state import RegistryProblem
from skillpm.registry.builder import list_folders
from skillpm.registry.card import Card
from skillpm.registry.unmanaged_skills import read_unmanaged_skills


class RegistrySnapshot(Value):
    """The skills of a directory at one moment."""

    # Sorted by name.
    cards: Mapping[str, Card]
    # Folders that the registry does not list -> the stat of their SKILL.md, empty if there is none.
    unregistered_folders: Mapping[str, FileStat] = EMPTY_MAPPING
    # Nothing had changed for a while when it was read. Otherwise it is read again at the next access, because another
    # change within the same clock tick would go unnoticed.
    is_stable: bool = True
    problems: tuple[RegistryProblem, ...] = ()
    # Disabled skill -> the skills directory whose registry says so.
    disabled: Mapping[str, str] = EMPTY_MAPPING
    # As `read_directory_stats` returned them just before.
    file_stats: tuple[FileStat, ...] = ()
    # Another tool or a person wrote the registry.
    is_foreign: bool = False


def is_current(snapshot: RegistrySnapshot, directory: str) -> bool:
    """Return whether the directory is still as it was when the snapshot was taken."""
    unregistered = snapshot.unregistered_folders.items()
    return (
        snapshot.is_stable
        and snapshot.file_stats == read_directory_stats(directory)
        and all(read_file_stat(_skill_file_path(directory, name)) == file_stat for name, file_stat in unregistered)
    )


def _skill_file_path(directory: str, name: str) -> str:
    folder = f"{directory}/{name}"
    return f"{folder}/{find_skill_file(folder)}"


def read_directory_stats(directory: str) -> tuple[FileStat, ...]:
    """Return the stats of the directory and its registry: at least one differs after every change."""
    return tuple(read_file_stat(path) for path in (directory, os.path.join(directory, "skills.json")))


def read_snapshot(layout: Layout, read_view: ReadView, file_stats: tuple[FileStat, ...]) -> RegistrySnapshot:
    """Read a skills directory through a reader's view; `file_stats` were read just before."""
    text = read_view.read_document("registry", layout.registry)
    entries, disabled, is_foreign, problem = _read_entries(layout, text)
    folders = {*list_folders(layout.directory)} - {*read_view.pending_removals}
    # During a change any listed skill may be read through a staged link, so all of them are checked.
    pending = entries.keys() if read_view.is_pending else set()
    escaping = find_escaping_links(layout, folders - entries.keys() | list_linked_folders(layout) | pending)
    cards = {
        name: Card(entry, layout.directory)
        for name, entry in entries.items()
        if name not in escaping
        and (
            (name in folders if entry["filePath"] == f"{name}/{SKILL_FILE}" else _is_inside(layout, entry))
            or (read_view.is_pending and os.path.exists(read_view.skill_path(name)))
        )
    }
    problems = [RegistryProblem(path="skills.json", message=problem)] if problem else []
    problems += [
        RegistryProblem(path=f"{name}/{SKILL_FILE}", message=ESCAPING_LINK_MESSAGE)
        for name in sorted(escaping - {*disabled})
    ]
    unregistered: dict[str, FileStat] = {}
    listed = {card.entry["filePath"].partition("/")[0] for card in cards.values()}
    for name in sorted(folders - listed - {*disabled}):
        unregistered[name] = read_file_stat(_skill_file_path(layout.directory, name))
        if name in escaping or not os.path.lexists(_skill_file_path(layout.directory, name)):
            continue  # not a skill, or one that is being written
        skill_file = read_unmanaged_skills({name: layout.skill_path(name)})[name]
        if skill_file.entry is not None:
            cards[name] = Card(skill_file.entry, layout.directory)
        elif skill_file.reason:
            problems.append(RegistryProblem(path=f"{name}/{skill_file.file}", message=skill_file.reason))
    return RegistrySnapshot(
        cards={name: cards[name] for name in sorted(cards)},
        unregistered_folders=unregistered,
        is_stable=not any(map(is_recent, (*file_stats, *unregistered.values()))),
        problems=tuple(problems),
        disabled=dict.fromkeys(disabled, layout.directory),
        file_stats=file_stats,
        is_foreign=is_foreign,
    )


def _read_entries(layout: Layout, text: str | None) -> tuple[Mapping[str, RegistryEntry], tuple[str, ...], bool, str]:
    """Return the entries, the disabled names, whether another tool wrote the registry, and why it cannot be read."""
    if text is None:
        return {}, (), False, ""
    try:
        return (*read_registry(text, layout.registry), False, "")
    except DocumentError:
        from skillpm.registry.foreign_registry import read_foreign_registry  # noqa: PLC0415  (rare)

        entries, problem = read_foreign_registry(text)
        return entries, (), True, problem


def _is_inside(layout: Layout, entry: RegistryEntry) -> bool:
    """Return whether the file of an entry exists and is inside the directory, links resolved."""
    path = os.path.realpath(os.path.join(layout.directory, entry["filePath"]))
    return is_below(path, os.path.realpath(layout.directory)) and os.path.isfile(path)
