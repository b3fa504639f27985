"""What a skills directory holds at one moment, read from its registry and from what lies there."""

import os
import time
from collections.abc import Mapping

from skillpm.core.names import SKILL_FILE
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError
from skillpm.files import is_below
from skillpm.formats.registry import MERGE_CONFLICT_MESSAGE, RegistryEntry, has_conflict_markers, read_registry
from skillpm.installer.consistent_view import ReadView
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, find_escaping_links, list_linked_folders
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import find_skill_file
from skillpm.installer.stat_cache import FileStat, to_file_stat
from skillpm.registry.build_state import RegistryProblem
from skillpm.registry.builder import list_folders
from skillpm.registry.card import Card

RECENT_NS = 50_000_000  # ns; the longest tick of a clock that stamps files is 20 ms


class RegistrySnapshot(Value):
    """What a registry held at one moment: cards by name, and what could not be read.

    `watched`: folders that the registry does not know, with the stamp of their SKILL.md: one may be put there or be
    written on without the directory changing. `is_settled`: nothing had changed for a while when it was read; two
    changes within one tick of a file system's clock look like one. `is_old`: another tool, or a person, wrote the
    registry.
    """

    cards: Mapping[str, Card]
    unregistered_folders: Mapping[str, FileStat] = EMPTY_MAPPING
    is_stable: bool = True
    problems: tuple[RegistryProblem, ...] = ()
    file_stats: tuple[FileStat, ...] = ()
    is_foreign: bool = False


def is_current(snapshot: RegistrySnapshot, directory: str) -> bool:
    """Tell whether a directory is as it was when it was read, by two `stat` and one for each folder that is watched."""
    watched = snapshot.unregistered_folders.items()
    return (
        snapshot.is_stable
        and snapshot.file_stats == read_directory_stats(directory)
        and all(_read_file_stat(_skill_file_path(directory, name)) == was for name, was in watched)
    )


def _skill_file_path(directory: str, name: str) -> str:
    folder = f"{directory}/{name}"
    return f"{folder}/{find_skill_file(folder)}"


def is_recent(file_stat: FileStat) -> bool:
    """Tell whether a file changed so short a time ago that it may change again and look the same."""
    return bool(file_stat) and int(file_stat.split()[2]) > time.time_ns() - RECENT_NS


def read_directory_stats(directory: str) -> tuple[FileStat, ...]:
    """Give what changes with every change of a skills directory: folders that come or go, a registry written anew."""
    return tuple(_read_file_stat(path) for path in (directory, os.path.join(directory, "skills.json")))


def _read_file_stat(path: str) -> FileStat:
    try:
        return to_file_stat(os.stat(path))
    except OSError:
        return ""


def read_snapshot(layout: Layout, read_view: ReadView, file_stats: tuple[FileStat, ...]) -> RegistrySnapshot:
    """Read a skills directory as a reader sees it; `stamp` is how it was just before."""
    text = read_view.read_document("registry", layout.registry)
    entries, disabled, is_old = _read_entries(layout, text)
    folders = {*list_folders(layout.directory)} - {*read_view.pending_removals}
    coming = entries.keys() if read_view.is_pending else set()
    outside = find_escaping_links(layout, folders - entries.keys() | list_linked_folders(layout) | coming)
    cards = {
        name: Card(entry, layout.directory)
        for name, entry in entries.items()
        if name not in outside
        and (
            (name in folders if entry["filePath"] == f"{name}/{SKILL_FILE}" else _is_inside(layout, entry))
            or (read_view.is_pending and os.path.exists(read_view.skill_path(name)))
        )
    }
    problems = (
        [RegistryProblem(path="skills.json", message=MERGE_CONFLICT_MESSAGE)]
        if is_old and has_conflict_markers(text or "")
        else []
    )
    problems += [
        RegistryProblem(path=f"{name}/{SKILL_FILE}", message=ESCAPING_LINK_MESSAGE)
        for name in sorted(outside - {*disabled})
    ]
    watched: dict[str, FileStat] = {}
    told = {card.entry["filePath"].partition("/")[0] for card in cards.values()}
    for name in sorted(folders - told - {*disabled}):
        watched[name] = _read_file_stat(_skill_file_path(layout.directory, name))
        if name in outside or not os.path.lexists(_skill_file_path(layout.directory, name)):
            continue  # a folder of something else, or of a skill that is being written
        from skillpm.registry.skill_loader import read_folder_entry  # noqa: PLC0415

        found = read_folder_entry(layout.directory, name)
        if isinstance(found, RegistryProblem):
            problems.append(found)
        else:
            cards[name] = Card(found, layout.directory)
    return RegistrySnapshot(
        cards={name: cards[name] for name in sorted(cards)},
        unregistered_folders=watched,
        is_stable=not any(map(is_recent, (*file_stats, *watched.values()))),
        problems=tuple(problems),
        file_stats=file_stats,
        is_foreign=is_old,
    )


def _read_entries(layout: Layout, text: str | None) -> tuple[Mapping[str, RegistryEntry], tuple[str, ...], bool]:
    if text is None:
        return {}, (), False
    try:
        return (*read_registry(text, layout.registry), False)
    except DocumentError:
        from skillpm.registry.foreign_registry import read_foreign_registry  # noqa: PLC0415  (rare)

        return read_foreign_registry(text), (), True


def _is_inside(layout: Layout, entry: RegistryEntry) -> bool:
    """Tell whether the file of an entry is there, and really in the directory: a link may lead out of it."""
    path = os.path.realpath(os.path.join(layout.directory, entry["filePath"]))
    return is_below(path, os.path.realpath(layout.directory)) and os.path.isfile(path)
