"""Links inside a skill: each becomes a copy of what it ends at, or the skill is refused.

They are followed through the planned tree and never through a disk.
"""

from collections.abc import Iterator, Mapping

from skillpm.documents.names import DEEPEST_PATH
from skillpm.documents.refusing import check_path, refused
from skillpm.documents.text import show
from skillpm.documents.tree import Entry, TreeFile
from skillpm.errors import RefusedError

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
