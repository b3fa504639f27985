"""Where the skills lie in a folder: five layouts, each a walk that gives the files that may be skills.

Links are followed as the root says. No folder is entered twice, whatever leads to it, so a circle of links ends.
"""

import errno
import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from skillpm.agent_hosts.registry_layout import list_registered_skills
from skillpm.agent_hosts.roots import SearchRoot
from skillpm.files import OS_ERROR_REASONS, is_below
from skillpm.formats.host_profile import Layout

SKILL_FILE, LOWERCASE_SKILL_FILE = "SKILL.md", "skill.md"
SKIPPED_FOLDERS = frozenset([".git", "node_modules"])
NON_SKILL_STEMS = frozenset(["readme", "changelog", "license", "contributing", "skill"])
MAX_FOLDERS = 100_000
WarnAt = Callable[[str, str], None]
"""Told of a path and what is wrong there."""


class CandidateFile(NamedTuple):
    """A file that may be a skill. `name` is what it is called when it gives itself no name.

    `is_loose`: a file among others, which is no skill without frontmatter. `known`: what a registry says of it.
    """

    path: str
    name: str
    is_flat: bool = False
    registered: tuple[str, str] | None = None


def find_candidates(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """Give what may be skills in a folder, by path. What cannot be read is remarked, and the walk goes on."""
    return WALKERS[root.profile_root.layout](root, warn)


def _walk_dir(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """`*/SKILL.md`."""
    for entry in _list_entries(root.path, warn):
        if _is_searchable(entry, root, warn):
            yield CandidateFile(f"{entry.path}/{SKILL_FILE}", entry.name)


class _Folder(NamedTuple):
    """A folder to look into, and whether it lies inside a skill."""

    is_link: bool
    path: str
    in_skill: bool


def _walk_tree(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """`**/SKILL.md`: level by level, so that a folder is met on its shortest way."""
    found: list[CandidateFile] = []
    seen: set[tuple[int, int]] = set()
    level = [_Folder(is_link=False, path=root.path, in_skill=False)]
    for _ in range(root.profile_root.depth + 1):
        below: list[_Folder] = []
        # What really lies there before what a link leads to: a skill is known by the path it lies at.
        for folder in sorted(level):
            path = folder.path
            if _is_first_visit(path, seen, warn):
                entries = _list_entries(path, warn)
                is_skill = any(entry.name in {SKILL_FILE, LOWERCASE_SKILL_FILE} for entry in entries)
                if is_skill:
                    found.append(CandidateFile(f"{path}/{SKILL_FILE}", os.path.basename(path)))
                if not is_skill or root.profile_root.nested:
                    # Inside a skill, a link that leads nowhere is the skill's own business.
                    inside = is_skill or folder.in_skill
                    told = _ignore_warning if inside else warn
                    below += [_Folder(e.is_symlink(), e.path, inside) for e in entries if _is_searchable(e, root, told)]
        if len(seen) + len(below) > MAX_FOLDERS:
            warn(root.path, f"there are over {MAX_FOLDERS} folders below; the deeper ones were not searched")
            break
        level = below
    else:
        if deeper := [folder.path for folder in level if not folder.in_skill]:
            warn(min(deeper), f"folders deeper than {root.profile_root.depth} levels are not searched")
    yield from sorted(found, key=lambda candidate: candidate.path.split("/"))


def _walk_flat(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """`*.md` with frontmatter."""
    return _list_flat_files(root.path, root, warn)


def _walk_category(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """`<category>/<skill>.md` with frontmatter; a folder with a SKILL.md is a skill, and no category."""
    for entry in _list_entries(root.path, warn):
        if _is_searchable(entry, root, warn) and not os.path.lexists(f"{entry.path}/{SKILL_FILE}"):
            yield from _list_flat_files(entry.path, root, warn)


def _walk_registry(root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    """What a `skills.json` lists, as far as it is true."""
    for entry in list_registered_skills(root.path, warn):
        yield CandidateFile(entry.path, entry.name, registered=(entry.name, entry.description))


def _list_flat_files(folder: str, root: SearchRoot, warn: WarnAt) -> Iterator[CandidateFile]:
    for entry in _list_entries(folder, warn):
        stem, end = os.path.splitext(entry.name)
        if end.lower() == ".md" and stem.lower() not in NON_SKILL_STEMS and not _is_hidden(entry.name, root):
            yield CandidateFile(entry.path, stem, is_flat=True)


WALKERS: dict[Layout, Callable[[SearchRoot, WarnAt], Iterator[CandidateFile]]] = {
    "dir": _walk_dir,
    "tree": _walk_tree,
    "flat": _walk_flat,
    "category": _walk_category,
    "registry": _walk_registry,
}


def _list_entries(folder: str, warn: WarnAt) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        warn(folder, f"the folder cannot be read: {describe_error(error)}")
        return []


def _is_searchable(entry: os.DirEntry[str], root: SearchRoot, warn: WarnAt) -> bool:
    """Tell whether an entry is a folder that this root looks into."""
    if entry.name in SKIPPED_FOLDERS or _is_hidden(entry.name, root):
        return False
    try:
        if not entry.is_symlink():
            return entry.is_dir()
        if root.profile_root.links == "none":
            return False
        if not os.path.exists(entry.path):
            warn(entry.path, "the link leads nowhere")
            return False
        return entry.is_dir() and not is_escaping_link(entry.path, root, warn)
    except OSError as error:
        warn(entry.path, f"cannot be looked at: {describe_error(error)}")
        return False


def _ignore_warning(path: str, message: str) -> None:
    """Let a remark go by."""


def is_escaping_link(path: str, root: SearchRoot, warn: WarnAt) -> bool:
    """Tell whether a link leads out of a root that its links must not leave, and remark it."""
    if root.profile_root.links != "inside" or is_below(os.path.realpath(path), os.path.realpath(root.path)):
        return False
    warn(path, "the link leads out of its folder, so it is not followed")
    return True


def _is_hidden(name: str, root: SearchRoot) -> bool:
    return name.startswith(".") and not root.profile_root.hidden


def _is_first_visit(path: str, seen: set[tuple[int, int]], warn: WarnAt) -> bool:
    """Tell whether a folder is met for the first time."""
    try:
        state = os.stat(path)
    except OSError as error:
        warn(path, f"the folder cannot be read: {describe_error(error)}")
        return False
    identity = (state.st_dev, state.st_ino)
    is_new = identity not in seen
    seen.add(identity)
    return is_new


def describe_error(error: OSError) -> str:
    """Give what the file system said, in words."""
    if error.errno == errno.ELOOP:
        return "its links lead in a circle"
    return OS_ERROR_REASONS.get(error.errno or 0, error.strerror or "it cannot be read")
