"""The one gate every file of a skill passes on its way in.

What comes out is a `Tree`: safe paths, no collisions, no links (a link inside the skill has become a copy of its
target), a `SKILL.md` at the top, within the limits. Nothing here touches a disk, so nothing hostile has acted yet.
"""

from collections.abc import Iterable, Iterator, Mapping

from skillpm.core.file_tree import FileTree, Limits, SourceEntry, TreeFile
from skillpm.core.names import MAX_PATH_DEPTH, collision_key, find_skill_file, path_problem
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError


def refusal_error(name: str, reason: str) -> RefusedError:
    """Give the error for a skill in which something is not as it may be."""
    return RefusedError(f"skill {sanitize(name)}: {reason}", hint="tell its author; nothing was installed")


def check_path(path: str, name: str) -> None:
    """Raise `RefusedError` for a path that is not safe on every system."""
    if fault := path_problem(path):
        raise refusal_error(name, f"the path '{sanitize(path)}' {fault}")


MAX_LINK_HOPS = 40
MAX_TARGET_LENGTH = 4096


class LinkResolver:
    """Where links end: followed through the planned tree, lexically, never through the disk; each link once."""

    def __init__(self, entries: Mapping[str, SourceEntry], name: str) -> None:
        self.entries = entries
        self.name = name
        self.targets: dict[str, tuple[list[str], int]] = {}
        self.entries_by_folder: dict[str, list[SourceEntry]] = {}

    def copy_targets(self, entry: SourceEntry, path: str, ancestors: tuple[str, ...] = ()) -> Iterator[TreeFile]:
        """Give the files a link becomes at a path, be it in a folder that is itself a copy."""
        text = _read_target(entry, self.name)
        target = "/".join(self.resolve(entry)[0])
        if target in self.entries:
            yield self._copy(path, self.entries[target], text)
            return
        inside = self._entries_below(target)
        if not inside:
            raise _bad_link_error(self.name, entry, "points at nothing")
        if target in ancestors:
            raise _bad_link_error(self.name, entry, "goes in a circle")
        for item in inside:
            place = path + item.path[len(target) :]
            if item.kind == "file":
                yield self._copy(place, item, text)
            else:
                check_path(place, self.name)
                yield from self.copy_targets(item, place, (*ancestors, target))

    def resolve(self, entry: SourceEntry, hops: int = 0) -> tuple[list[str], int]:
        """Give the parts of the path a link ends at, and how many links are on the way."""
        if entry.path not in self.targets:
            self.targets[entry.path] = self._follow(entry, hops)
        return self.targets[entry.path]

    def _follow(self, entry: SourceEntry, hops: int) -> tuple[list[str], int]:
        taken = 0
        done = entry.path.split("/")[:-1]
        text = _read_target(entry, self.name)
        if text.startswith("/"):
            raise _bad_link_error(self.name, entry, "leaves the skill")
        for part in text.split("/"):
            if part == "..":
                if not done:
                    raise _bad_link_error(self.name, entry, "leaves the skill")
                done = done[:-1]
            elif part not in {"", "."}:
                done, further = self._step(entry, [*done, part], hops + taken)
                taken += further
        if not done:
            raise _bad_link_error(self.name, entry, "points at the skill itself")
        if taken > MAX_LINK_HOPS:
            raise _bad_link_error(self.name, entry, "goes over too many links")
        return done, taken

    def _step(self, entry: SourceEntry, parts: list[str], hops: int) -> tuple[list[str], int]:
        """Give where one step of a link leads: to where another link ends, when one stands there."""
        if len(parts) > MAX_PATH_DEPTH:
            raise _bad_link_error(self.name, entry, "points at nothing")
        there = self.entries.get("/".join(parts))
        if there is None or there.kind == "file":
            return parts, 0
        if hops >= MAX_LINK_HOPS:
            raise _bad_link_error(self.name, entry, "goes in a circle")
        end, further = self.resolve(there, hops + 1)
        return end, further + 1

    def _entries_below(self, folder: str) -> list[SourceEntry]:
        if not self.entries_by_folder:
            for path, entry in self.entries.items():
                parts = path.split("/")
                for depth in range(1, len(parts)):
                    self.entries_by_folder.setdefault("/".join(parts[:depth]), []).append(entry)
        return self.entries_by_folder.get(folder, [])

    def _copy(self, path: str, entry: SourceEntry, link: str) -> TreeFile:
        check_path(path, self.name)
        return entry.as_file(path, link=link)


def _read_target(entry: SourceEntry, name: str) -> str:
    try:
        text = entry.data.decode()
    except UnicodeDecodeError:
        raise _bad_link_error(name, entry, "has a target that is not UTF-8") from None
    if not text or len(entry.data) > MAX_TARGET_LENGTH or "\0" in text or "\n" in text or "\\" in text:
        raise _bad_link_error(name, entry, "has no sensible target")
    return text


def _bad_link_error(name: str, entry: SourceEntry, problem: str) -> RefusedError:
    target = sanitize(entry.data.decode("utf-8", "replace"), 80)
    return refusal_error(name, f"link '{sanitize(entry.path)}' -> '{target}' {problem}")


def check_tree(entries: Iterable[SourceEntry], *, name: str, limits: Limits) -> FileTree:
    """Pass a skill's entries through the gate.

    Raises `RefusedError` naming the skill and the offending path.
    """
    found: dict[str, SourceEntry] = {}
    for entry in entries:
        check_path(entry.path, name)
        if entry.path in found:
            raise refusal_error(name, f"'{sanitize(entry.path)}' is there twice")
        found[entry.path] = entry
        if len(found) > limits.files:
            raise _too_large_error(name, f"more than {limits.files} files", "FILES")
    files = _check_limits(_resolve_links(found, name), name, limits)
    _check_collisions(files, name)
    if find_skill_file({file.path for file in files}) is None:
        raise refusal_error(name, "it has no SKILL.md at its top")
    return FileTree(files=tuple(sorted(files, key=lambda file: file.path.encode())))


def _check_limits(files: Iterable[TreeFile], name: str, limits: Limits) -> list[TreeFile]:
    """Give the files, counted as they come: a few links to a big folder would be a million files."""
    kept: list[TreeFile] = []
    size = 0
    for file in files:
        kept.append(file)
        size += len(file.data)
        if len(kept) > limits.files:
            raise _too_large_error(name, f"more than {limits.files} files", "FILES")
        if len(file.data) > limits.file:
            raise _too_large_error(name, f"'{sanitize(file.path)}' is over {limits.file} bytes", "FILE")
        if size > limits.skill:
            raise _too_large_error(name, f"all files together are over {limits.skill} bytes", "SKILL")
    return kept


def _resolve_links(entries: Mapping[str, SourceEntry], name: str) -> Iterator[TreeFile]:
    """Give what the entries become on disk: themselves, or for links copies of the files or folders they point at."""
    links = LinkResolver(entries, name)
    for entry in entries.values():
        if entry.kind == "file":
            yield entry.as_file(entry.path)
        else:
            yield from links.copy_targets(entry, entry.path)


def _check_collisions(files: list[TreeFile], name: str) -> None:
    """Refuse two names that one file system would take for one, and a file where a folder must be."""
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    for file in files:
        if (other := seen.setdefault(collision_key(file.path), file.path)) is not file.path:
            raise refusal_error(name, f"'{sanitize(other)}' and '{sanitize(file.path)}' are one name on some systems")
        parts = file.path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            other = folders.setdefault(collision_key(folder), folder)
            if other != folder:
                raise refusal_error(
                    name, f"the folders '{sanitize(other)}' and '{sanitize(folder)}' are one on some systems"
                )
    for key, folder in folders.items():
        if key in seen:
            raise refusal_error(name, f"'{sanitize(folder)}' is a file and a folder")


def _too_large_error(name: str, problem: str, setting: str) -> RefusedError:
    return RefusedError(f"skill {sanitize(name)}: {problem}", hint=f"if you trust it, raise SKILLPM_MAX_{setting}")
