"""The one gate every file of a skill passes on its way in.

What comes out is a `Tree`: safe paths, no collisions, no links (a link inside the skill has become a copy of its
target), a `SKILL.md` at the top, within the limits. Nothing here touches a disk, so nothing hostile has acted yet.
"""

from collections.abc import Iterable, Iterator, Mapping

from skillpm.core.file_tree import Entry, Limits, Tree, TreeFile
from skillpm.core.names import DEEPEST_PATH, collision_key, path_fault, skill_file
from skillpm.core.text import show
from skillpm.errors import RefusedError


def refused(name: str, why: str) -> RefusedError:
    """Give the error for a skill in which something is not as it may be."""
    return RefusedError(f"skill {show(name)}: {why}", hint="tell its author; nothing was installed")


def check_path(path: str, name: str) -> None:
    """Raise `RefusedError` for a path that is not safe on every system."""
    if fault := path_fault(path):
        raise refused(name, f"the path '{show(path)}' {fault}")


MOST_HOPS = 40
LONGEST_TARGET = 4096


class Links:
    """Where links end: followed through the planned tree, lexically, never through the disk; each link once."""

    def __init__(self, found: Mapping[str, Entry], name: str) -> None:
        self.found = found
        self.name = name
        self.ends: dict[str, tuple[list[str], int]] = {}
        self.folders: dict[str, list[Entry]] = {}

    def copies(self, entry: Entry, path: str, within: tuple[str, ...] = ()) -> Iterator[TreeFile]:
        """Give the files a link becomes at a path, be it in a folder that is itself a copy."""
        text = _target_text(entry, self.name)
        target = "/".join(self.end(entry)[0])
        if target in self.found:
            yield self._copy(path, self.found[target], text)
            return
        inside = self._inside(target)
        if not inside:
            raise _leaves(self.name, entry, "points at nothing")
        if target in within:
            raise _leaves(self.name, entry, "goes in a circle")
        for item in inside:
            place = path + item.path[len(target) :]
            if item.kind == "file":
                yield self._copy(place, item, text)
            else:
                check_path(place, self.name)
                yield from self.copies(item, place, (*within, target))

    def end(self, entry: Entry, hops: int = 0) -> tuple[list[str], int]:
        """Give the parts of the path a link ends at, and how many links are on the way."""
        if entry.path not in self.ends:
            self.ends[entry.path] = self._follow(entry, hops)
        return self.ends[entry.path]

    def _follow(self, entry: Entry, hops: int) -> tuple[list[str], int]:
        taken = 0
        done = entry.path.split("/")[:-1]
        text = _target_text(entry, self.name)
        if text.startswith("/"):
            raise _leaves(self.name, entry, "leaves the skill")
        for part in text.split("/"):
            if part == "..":
                if not done:
                    raise _leaves(self.name, entry, "leaves the skill")
                done = done[:-1]
            elif part not in {"", "."}:
                done, further = self._step(entry, [*done, part], hops + taken)
                taken += further
        if not done:
            raise _leaves(self.name, entry, "points at the skill itself")
        if taken > MOST_HOPS:
            raise _leaves(self.name, entry, "goes over too many links")
        return done, taken

    def _step(self, entry: Entry, here: list[str], hops: int) -> tuple[list[str], int]:
        """Give where one step of a link leads: to where another link ends, when one stands there."""
        if len(here) > DEEPEST_PATH:
            raise _leaves(self.name, entry, "points at nothing")
        there = self.found.get("/".join(here))
        if there is None or there.kind == "file":
            return here, 0
        if hops >= MOST_HOPS:
            raise _leaves(self.name, entry, "goes in a circle")
        end, further = self.end(there, hops + 1)
        return end, further + 1

    def _inside(self, folder: str) -> list[Entry]:
        if not self.folders:
            for path, entry in self.found.items():
                parts = path.split("/")
                for depth in range(1, len(parts)):
                    self.folders.setdefault("/".join(parts[:depth]), []).append(entry)
        return self.folders.get(folder, [])

    def _copy(self, path: str, entry: Entry, link: str) -> TreeFile:
        check_path(path, self.name)
        return entry.as_file(path, link=link)


def _target_text(entry: Entry, name: str) -> str:
    try:
        text = entry.data.decode()
    except UnicodeDecodeError:
        raise _leaves(name, entry, "has a target that is not UTF-8") from None
    if not text or len(entry.data) > LONGEST_TARGET or "\0" in text or "\n" in text or "\\" in text:
        raise _leaves(name, entry, "has no sensible target")
    return text


def _leaves(name: str, entry: Entry, how: str) -> RefusedError:
    target = show(entry.data.decode("utf-8", "replace"), 80)
    return refused(name, f"link '{show(entry.path)}' -> '{target}' {how}")


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
