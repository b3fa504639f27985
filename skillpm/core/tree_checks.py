"""Validation that every file of a skill passes before it is installed, from whatever source.

The result is a `FileTree`: safe paths, no collisions, no links (a link inside the skill becomes a copy of its
target), a `SKILL.md` at the top, within the limits. All of it happens in memory, so that a malicious skill is
rejected before anything of it is on disk.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from skillpm.core.file_tree import FileTree, SourceEntry, TreeFile
from skillpm.core.limits import Limits
from skillpm.core.names import MAX_PATH_DEPTH, collision_key, find_skill_file, path_problem
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING
from skillpm.errors import RefusedError


def refusal_error(name: str, reason: str) -> RefusedError:
    """Return the error for a skill that may not be installed."""
    hint = "report it to its author; nothing was installed"
    return RefusedError(f"skill {sanitize(name)}: {reason}", hint=hint, skills=[name])


def check_path(path: str, name: str) -> None:
    """Raise `RefusedError` for a path that is not safe on every system."""
    if problem := path_problem(path):
        raise refusal_error(name, f"the path '{sanitize(path)}' {problem}")


MAX_LINK_HOPS = 40  # as Linux
MAX_TARGET_LENGTH = 4096  # bytes: PATH_MAX of Linux


class LinkResolver:
    """Resolves the links of a skill within its entries, never through the file system. Each is resolved only once.

    `outside` has what links to elsewhere in the repository lead to, by the link's path: a file with an empty path, or
    the files of a folder.
    """

    def __init__(
        self,
        entries: Mapping[str, SourceEntry],
        name: str,
        outside: Mapping[str, Sequence[SourceEntry]] = EMPTY_MAPPING,
    ) -> None:
        self.entries = entries
        self.name = name
        self.outside = outside
        # By the link's path: the parts of the path it ends at, and how many links it passes through.
        self.targets: dict[str, tuple[list[str], int]] = {}
        # By folder: all entries below it, at any depth.
        self.entries_by_folder: dict[str, list[SourceEntry]] = {}

    def copy_targets(self, entry: SourceEntry, path: str, ancestors: tuple[str, ...] = ()) -> Iterator[TreeFile]:
        """Yield the files that replace a link at `path`, which may be inside a folder that is a copy itself.

        `ancestors` are the folders being copied already. A link to one of them would be copied without end.
        """
        text = read_target(entry, self.name)
        if entry.path in self.outside:
            for member in self.outside[entry.path]:
                yield self._copy(f"{path}/{member.path}" if member.path else path, member, text)
            return
        target = "/".join(self.resolve(entry)[0])
        if not target:
            raise bad_link_error(self.name, entry, "points to the skill itself")
        if target in self.entries:
            yield self._copy(path, self.entries[target], text)
            return
        members = self.entries_below(target)
        if not members:
            raise bad_link_error(self.name, entry, "points to a missing file")
        if target in ancestors:
            raise bad_link_error(self.name, entry, "is part of a cycle")
        for member in members:
            member_path = path + member.path[len(target) :]
            if member.kind == "file":
                yield self._copy(member_path, member, text)
            else:
                # A chain of links in links grows the path at each step: check before descending.
                check_path(member_path, self.name)
                yield from self.copy_targets(member, member_path, (*ancestors, target))

    def resolve(self, entry: SourceEntry, hops: int = 0) -> tuple[list[str], int]:
        """Return the parts of the path a link ends at (none: the skill), and how many links it passes through."""
        if entry.path not in self.targets:
            self.targets[entry.path] = self._follow(entry, hops)
        return self.targets[entry.path]

    def _follow(self, entry: SourceEntry, hops: int) -> tuple[list[str], int]:
        count = 0
        parts = entry.path.split("/")[:-1]
        text = read_target(entry, self.name)
        if text.startswith("/"):
            raise bad_link_error(self.name, entry, "points outside the skill")
        # Part by part, as the kernel does: after `link/..`, the parent is that of the link's target. Normalizing the
        # text first would resolve to another folder.
        for part in text.split("/"):
            if part == "..":
                if not parts:
                    raise bad_link_error(self.name, entry, "points outside the skill")
                parts = parts[:-1]
            elif part not in {"", "."}:
                parts, links = self._step(entry, [*parts, part], hops + count)
                count += links
        if count > MAX_LINK_HOPS:
            raise bad_link_error(self.name, entry, "passes through too many links")
        return parts, count

    def _step(self, entry: SourceEntry, parts: list[str], hops: int) -> tuple[list[str], int]:
        """Return the path after one step, and how many links it took: if a link is at `parts`, the path it ends at."""
        # No entry is deeper, so nothing can be there; and `parts` must not grow with every part of a long target.
        if len(parts) > MAX_PATH_DEPTH:
            raise bad_link_error(self.name, entry, "points to a missing file")
        link = self.entries.get("/".join(parts))
        if link is None or link.kind == "file":
            return parts, 0
        if link.path in self.outside:
            raise bad_link_error(self.name, entry, "passes through a link that leads out of the skill")
        if hops >= MAX_LINK_HOPS:
            raise bad_link_error(self.name, entry, "is part of a cycle")
        end, links = self.resolve(link, hops + 1)
        return end, links + 1

    def entries_below(self, folder: str) -> list[SourceEntry]:
        """Return all entries below a folder, at any depth."""
        if not self.entries_by_folder:
            for path, entry in self.entries.items():
                parts = path.split("/")
                for depth in range(1, len(parts)):
                    self.entries_by_folder.setdefault("/".join(parts[:depth]), []).append(entry)
        return self.entries_by_folder.get(folder, [])

    def _copy(self, path: str, entry: SourceEntry, link: str) -> TreeFile:
        check_path(path, self.name)
        return entry.as_file(path, link=link)


def read_target(entry: SourceEntry, name: str) -> str:
    """Return the target of a link as text. Raises `RefusedError`."""
    try:
        text = entry.data.decode()
    except UnicodeDecodeError:
        raise bad_link_error(name, entry, "has a target that is not UTF-8") from None
    # A backslash separates folders on Windows, and would pass the checks for `..` here as part of a name.
    if not text or len(entry.data) > MAX_TARGET_LENGTH or "\0" in text or "\n" in text or "\\" in text:
        raise bad_link_error(name, entry, "has an invalid target")
    return text


def bad_link_error(name: str, entry: SourceEntry, problem: str) -> RefusedError:
    """Return the error for a link that may not be installed."""
    target = sanitize(entry.data.decode("utf-8", "replace"), 80)
    return refusal_error(name, f"link '{sanitize(entry.path)}' -> '{target}' {problem}")


def check_tree(
    entries: Iterable[SourceEntry],
    *,
    name: str,
    limits: Limits,
    outside: Mapping[str, Sequence[SourceEntry]] = EMPTY_MAPPING,
) -> FileTree:
    """Return the validated tree of a skill's entries, with copies of what its links lead to.

    `outside` is that of `LinkResolver`. Without it, every link that leads out of the skill is refused.

    Raises `RefusedError` naming the skill and the offending path.
    """
    by_path: dict[str, SourceEntry] = {}
    for entry in entries:
        check_path(entry.path, name)
        # git and tar both can list a path twice. Which of the two is installed must not depend on their order.
        if entry.path in by_path:
            raise refusal_error(name, f"duplicate path '{sanitize(entry.path)}'")
        by_path[entry.path] = entry
        if len(by_path) > limits.files:
            raise _too_large_error(name, f"more than {limits.files} files", "FILES")
    files = _check_limits(_resolve_links(by_path, name, outside), name, limits)
    _check_collisions(files, name)
    if find_skill_file({file.path for file in files}) is None:
        raise refusal_error(name, "no SKILL.md at the top level")
    return FileTree(files=tuple(sorted(files, key=lambda file: file.path.encode())))


def _check_limits(files: Iterable[TreeFile], name: str, limits: Limits) -> list[TreeFile]:
    """Return the files, checked one by one as links are resolved: few links to a large folder make a million files."""
    checked: list[TreeFile] = []
    size = 0
    for file in files:
        checked.append(file)
        size += len(file.data)
        if len(checked) > limits.files:
            raise _too_large_error(name, f"more than {limits.files} files", "FILES")
        if len(file.data) > limits.file:
            raise _too_large_error(name, f"'{sanitize(file.path)}' is over {limits.file} bytes", "FILE")
        if size > limits.skill:
            raise _too_large_error(name, f"all files together are over {limits.skill} bytes", "SKILL")
    return checked


def _resolve_links(
    entries: Mapping[str, SourceEntry], name: str, outside: Mapping[str, Sequence[SourceEntry]]
) -> Iterator[TreeFile]:
    """Yield the files as they will be on disk: links become copies of the files or folders they point to."""
    links = LinkResolver(entries, name, outside)
    for entry in entries.values():
        if entry.kind == "file":
            yield entry.as_file(entry.path)
        else:
            yield from links.copy_targets(entry, entry.path)


def _check_collisions(files: list[TreeFile], name: str) -> None:
    """Reject two paths that are the same on some file system, and a file in the place of a folder.

    Otherwise one file would overwrite the other on macOS and Windows, and the digest would never match there.
    """
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    for file in files:
        if (other := seen.setdefault(collision_key(file.path), file.path)) is not file.path:
            raise refusal_error(name, f"'{sanitize(other)}' and '{sanitize(file.path)}' are the same on some systems")
        parts = file.path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            other = folders.setdefault(collision_key(folder), folder)
            if other != folder:
                raise refusal_error(
                    name, f"the folders '{sanitize(other)}' and '{sanitize(folder)}' are the same on some systems"
                )
    for key, folder in folders.items():
        if key in seen:
            raise refusal_error(name, f"'{sanitize(folder)}' is both a file and a folder")


def _too_large_error(name: str, problem: str, setting: str) -> RefusedError:
    hint = f"if you trust it, raise SKILLPM_MAX_{setting}"
    return RefusedError(f"skill {sanitize(name)}: {problem}", hint=hint, skills=[name])
