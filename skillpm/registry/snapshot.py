"""What a skills directory holds at one moment, read from its registry and from what lies there."""

import os
import time
from collections.abc import Mapping

from skillpm.core.names import SKILL_FILE
from skillpm.core.values import NOTHING, Value
from skillpm.errors import DocumentError
from skillpm.files import is_below
from skillpm.formats.registry import UNMERGED, RegistryEntry, is_unmerged, read_registry
from skillpm.installer.consistent_view import View
from skillpm.installer.escaping_links import LEADS_OUT, linked_folders, those_leading_out
from skillpm.installer.layout import Layout
from skillpm.installer.skill_file import skill_file_in
from skillpm.installer.stat_cache import Stamp, stamp_of
from skillpm.registry.build_state import Problem
from skillpm.registry.builder import folders_in
from skillpm.registry.card import Card

WHILE = 50_000_000  # ns; the longest tick of a clock that stamps files is 20 ms


class Shelf(Value):
    """What a registry held at one moment: cards by name, and what could not be read.

    `watched`: folders that the registry does not know, with the stamp of their SKILL.md: one may be put there or be
    written on without the directory changing. `is_settled`: nothing had changed for a while when it was read; two
    changes within one tick of a file system's clock look like one. `is_old`: another tool, or a person, wrote the
    registry.
    """

    cards: Mapping[str, Card]
    watched: Mapping[str, Stamp] = NOTHING
    is_settled: bool = True
    problems: tuple[Problem, ...] = ()
    stamp: tuple[Stamp, ...] = ()
    is_old: bool = False


def is_current(shelf: Shelf, directory: str) -> bool:
    """Tell whether a directory is as it was when it was read, by two `stat` and one for each folder that is watched."""
    watched = shelf.watched.items()
    return (
        shelf.is_settled
        and shelf.stamp == stamps_of(directory)
        and all(_stamp_of(_file(directory, name)) == was for name, was in watched)
    )


def _file(directory: str, name: str) -> str:
    folder = f"{directory}/{name}"
    return f"{folder}/{skill_file_in(folder)}"


def is_recent(stamp: Stamp) -> bool:
    """Tell whether a file changed so short a time ago that it may change again and look the same."""
    return bool(stamp) and int(stamp.split()[2]) > time.time_ns() - WHILE


def stamps_of(directory: str) -> tuple[Stamp, ...]:
    """Give what changes with every change of a skills directory: folders that come or go, a registry written anew."""
    return tuple(_stamp_of(path) for path in (directory, os.path.join(directory, "skills.json")))


def _stamp_of(path: str) -> Stamp:
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return ""


def read_shelf(layout: Layout, seen: View, stamp: tuple[Stamp, ...]) -> Shelf:
    """Read a skills directory as a reader sees it; `stamp` is how it was just before."""
    text = seen.document("registry", layout.registry)
    entries, disabled, is_old = _entries(layout, text)
    folders = {*folders_in(layout.directory)} - {*seen.going}
    coming = entries.keys() if seen.is_pending else set()
    outside = those_leading_out(layout, folders - entries.keys() | linked_folders(layout) | coming)
    cards = {
        name: Card(entry, layout.directory)
        for name, entry in entries.items()
        if name not in outside
        and (
            (name in folders if entry["filePath"] == f"{name}/{SKILL_FILE}" else _is_inside(layout, entry))
            or (seen.is_pending and os.path.exists(seen.skill(name)))
        )
    }
    problems = [Problem(path="skills.json", message=UNMERGED)] if is_old and is_unmerged(text or "") else []
    problems += [Problem(path=f"{name}/{SKILL_FILE}", message=LEADS_OUT) for name in sorted(outside - {*disabled})]
    watched: dict[str, Stamp] = {}
    told = {card.entry["filePath"].partition("/")[0] for card in cards.values()}
    for name in sorted(folders - told - {*disabled}):
        watched[name] = _stamp_of(_file(layout.directory, name))
        if name in outside or not os.path.lexists(_file(layout.directory, name)):
            continue  # a folder of something else, or of a skill that is being written
        from skillpm.registry.skill_loader import entry_of_folder  # noqa: PLC0415

        found = entry_of_folder(layout.directory, name)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            cards[name] = Card(found, layout.directory)
    return Shelf(
        cards={name: cards[name] for name in sorted(cards)},
        watched=watched,
        is_settled=not any(map(is_recent, (*stamp, *watched.values()))),
        problems=tuple(problems),
        stamp=stamp,
        is_old=is_old,
    )


def _entries(layout: Layout, text: str | None) -> tuple[Mapping[str, RegistryEntry], tuple[str, ...], bool]:
    if text is None:
        return {}, (), False
    try:
        return (*read_registry(text, layout.registry), False)
    except DocumentError:
        from skillpm.registry.foreign_registry import read_old_registry  # noqa: PLC0415  (rare)

        return read_old_registry(text), (), True


def _is_inside(layout: Layout, entry: RegistryEntry) -> bool:
    """Tell whether the file of an entry is there, and really in the directory: a link may lead out of it."""
    path = os.path.realpath(os.path.join(layout.directory, entry["filePath"]))
    return is_below(path, os.path.realpath(layout.directory)) and os.path.isfile(path)
