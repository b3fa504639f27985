"""Where the skills lie in a folder: five layouts, each a walk that gives the files that may be skills.

Links are followed as the root says. No folder is entered twice, whatever leads to it, so a circle of links ends.
"""

import errno
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from skillpm.agent_hosts.registry_layout import listed
from skillpm.agent_hosts.roots import Place
from skillpm.files import REASONS, is_below
from skillpm.formats.host_profile import Layout

SKILL_FILE, LOWER = "SKILL.md", "skill.md"
NEVER_ENTERED = frozenset([".git", "node_modules"])
NO_SKILLS = frozenset(["readme", "changelog", "license", "contributing", "skill"])
MOST_FOLDERS = 100_000
Remark = Callable[[str, str], None]
"""Told of a path and what is wrong there."""


class Candidate(NamedTuple):
    """A file that may be a skill. `name` is what it is called when it gives itself no name.

    `is_loose`: a file among others, which is no skill without frontmatter. `known`: what a registry says of it.
    """

    path: str
    name: str
    is_loose: bool = False
    known: tuple[str, str] | None = None


def candidates(place: Place, remark: Remark) -> Iterator[Candidate]:
    """Give what may be skills in a folder, by path. What cannot be read is remarked, and the walk goes on."""
    return WALKS[place.root.layout](place, remark)


def _dir(place: Place, remark: Remark) -> Iterator[Candidate]:
    """`*/SKILL.md`."""
    for entry in _entries(place.path, remark):
        if _is_open(entry, place, remark):
            yield Candidate(f"{entry.path}/{SKILL_FILE}", entry.name)


class _Folder(NamedTuple):
    """A folder to look into, and whether it lies inside a skill."""

    is_link: bool
    path: str
    in_skill: bool


def _tree(place: Place, remark: Remark) -> Iterator[Candidate]:
    """`**/SKILL.md`: level by level, so that a folder is met on its shortest way."""
    found: list[Candidate] = []
    seen: set[tuple[int, int]] = set()
    level = [_Folder(is_link=False, path=place.path, in_skill=False)]
    for _ in range(place.root.depth + 1):
        below: list[_Folder] = []
        # What really lies there before what a link leads to: a skill is known by the path it lies at.
        for folder in sorted(level):
            path = folder.path
            if _is_new(path, seen, remark):
                entries = _entries(path, remark)
                is_skill = any(entry.name in {SKILL_FILE, LOWER} for entry in entries)
                if is_skill:
                    found.append(Candidate(f"{path}/{SKILL_FILE}", os.path.basename(path)))
                if not is_skill or place.root.nested:
                    # Inside a skill, a link that leads nowhere is the skill's own business.
                    inside = is_skill or folder.in_skill
                    told = _unheard if inside else remark
                    below += [_Folder(e.is_symlink(), e.path, inside) for e in entries if _is_open(e, place, told)]
        if len(seen) + len(below) > MOST_FOLDERS:
            remark(place.path, f"there are over {MOST_FOLDERS} folders below; the deeper ones were not searched")
            break
        level = below
    else:
        if deeper := [folder.path for folder in level if not folder.in_skill]:
            remark(min(deeper), f"folders deeper than {place.root.depth} levels are not searched")
    yield from sorted(found, key=lambda candidate: candidate.path.split("/"))


def _flat(place: Place, remark: Remark) -> Iterator[Candidate]:
    """`*.md` with frontmatter."""
    return _loose_files(place.path, place, remark)


def _category(place: Place, remark: Remark) -> Iterator[Candidate]:
    """`<category>/<skill>.md` with frontmatter; a folder with a SKILL.md is a skill, and no category."""
    for entry in _entries(place.path, remark):
        if _is_open(entry, place, remark) and not os.path.lexists(f"{entry.path}/{SKILL_FILE}"):
            yield from _loose_files(entry.path, place, remark)


def _registry(place: Place, remark: Remark) -> Iterator[Candidate]:
    """What a `skills.json` lists, as far as it is true."""
    for entry in listed(place.path, remark):
        yield Candidate(entry.path, entry.name, known=(entry.name, entry.description))


def _loose_files(folder: str, place: Place, remark: Remark) -> Iterator[Candidate]:
    for entry in _entries(folder, remark):
        stem, end = os.path.splitext(entry.name)
        if end.lower() == ".md" and stem.lower() not in NO_SKILLS and not _is_hidden(entry.name, place):
            yield Candidate(entry.path, stem, is_loose=True)


WALKS: dict[Layout, Callable[[Place, Remark], Iterator[Candidate]]] = {
    "dir": _dir,
    "tree": _tree,
    "flat": _flat,
    "category": _category,
    "registry": _registry,
}


def _entries(folder: str, remark: Remark) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        remark(folder, f"the folder cannot be read: {reason(error)}")
        return []


def _is_open(entry: os.DirEntry[str], place: Place, remark: Remark) -> bool:
    """Tell whether an entry is a folder that this root looks into."""
    if entry.name in NEVER_ENTERED or _is_hidden(entry.name, place):
        return False
    try:
        if not entry.is_symlink():
            return entry.is_dir()
        if place.root.links == "none":
            return False
        if not os.path.exists(entry.path):
            remark(entry.path, "the link leads nowhere")
            return False
        return entry.is_dir() and not leads_out(entry.path, place, remark)
    except OSError as error:
        remark(entry.path, f"cannot be looked at: {reason(error)}")
        return False


def _unheard(path: str, message: str) -> None:
    """Let a remark go by."""


def leads_out(path: str, place: Place, remark: Remark) -> bool:
    """Tell whether a link leads out of a root that its links must not leave, and remark it."""
    if place.root.links != "inside" or is_below(os.path.realpath(path), os.path.realpath(place.path)):
        return False
    remark(path, "the link leads out of its folder, so it is not followed")
    return True


def _is_hidden(name: str, place: Place) -> bool:
    return name.startswith(".") and not place.root.hidden


def _is_new(path: str, seen: set[tuple[int, int]], remark: Remark) -> bool:
    """Tell whether a folder is met for the first time."""
    try:
        state = os.stat(path)
    except OSError as error:
        remark(path, f"the folder cannot be read: {reason(error)}")
        return False
    identity = (state.st_dev, state.st_ino)
    is_new = identity not in seen
    seen.add(identity)
    return is_new


def reason(error: OSError) -> str:
    """Give what the file system said, in words."""
    if error.errno == errno.ELOOP:
        return "its links lead in a circle"
    return REASONS.get(error.errno or 0, error.strerror or "it cannot be read")
