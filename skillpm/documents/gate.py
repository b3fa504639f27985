"""The one gate every file of a skill passes on its way in.

What comes out is a `Tree`: safe paths, no collisions, no links (a link inside the skill has become a copy of its
target), a `SKILL.md` at the top, within the limits. Nothing here touches a disk, so nothing hostile has acted yet.
"""

from collections.abc import Iterable, Iterator, Mapping

from skillpm.documents.names import collision_key, skill_file
from skillpm.documents.refusing import check_path, refused
from skillpm.documents.text import show
from skillpm.documents.tree import Entry, Limits, Tree, TreeFile
from skillpm.documents.tree_links import Links
from skillpm.errors import RefusedError


def checked_tree(entries: Iterable[Entry], *, name: str, limits: Limits) -> Tree:
    """Pass a skill's entries through the gate.

    Raises `RefusedError` naming the skill and the offending path.
    """
    found: dict[str, Entry] = {}
    for entry in entries:
        check_path(entry.path, name)
        if entry.path in found:
            raise refused(name, f"'{show(entry.path)}' is there twice")
        found[entry.path] = entry
        if len(found) > limits.files:
            raise _too_big(name, f"more than {limits.files} files", "FILES")
    files = _within_limits(_installed(found, name), name, limits)
    _check_collisions(files, name)
    if skill_file({file.path for file in files}) is None:
        raise refused(name, "it has no SKILL.md at its top")
    return Tree(files=tuple(sorted(files, key=lambda file: file.path.encode())))


def _within_limits(files: Iterable[TreeFile], name: str, limits: Limits) -> list[TreeFile]:
    """Give the files, counted as they come: a few links to a big folder would be a million files."""
    kept: list[TreeFile] = []
    size = 0
    for file in files:
        kept.append(file)
        size += len(file.data)
        if len(kept) > limits.files:
            raise _too_big(name, f"more than {limits.files} files", "FILES")
        if len(file.data) > limits.file:
            raise _too_big(name, f"'{show(file.path)}' is over {limits.file} bytes", "FILE")
        if size > limits.skill:
            raise _too_big(name, f"all files together are over {limits.skill} bytes", "SKILL")
    return kept


def _installed(found: Mapping[str, Entry], name: str) -> Iterator[TreeFile]:
    """Give what the entries become on disk: themselves, or for links copies of the files or folders they point at."""
    links = Links(found, name)
    for entry in found.values():
        if entry.kind == "file":
            yield entry.as_file(entry.path)
        else:
            yield from links.copies(entry, entry.path)


def _check_collisions(files: list[TreeFile], name: str) -> None:
    """Refuse two names that one file system would take for one, and a file where a folder must be."""
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    for file in files:
        if (other := seen.setdefault(collision_key(file.path), file.path)) is not file.path:
            raise refused(name, f"'{show(other)}' and '{show(file.path)}' are one name on some systems")
        parts = file.path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            other = folders.setdefault(collision_key(folder), folder)
            if other != folder:
                raise refused(name, f"the folders '{show(other)}' and '{show(folder)}' are one on some systems")
    for key, folder in folders.items():
        if key in seen:
            raise refused(name, f"'{show(folder)}' is a file and a folder")


def _too_big(name: str, what: str, setting: str) -> RefusedError:
    return RefusedError(f"skill {show(name)}: {what}", hint=f"if you trust it, raise SKILLPM_MAX_{setting}")
