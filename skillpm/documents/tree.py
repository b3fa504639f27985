"""A skill's files as they will be installed, and the one gate every file passes on its way in.

Git trees, archives and local folders are turned into `Entry` values and go through `checked_tree`; what comes out
is a `Tree`: safe paths, no collisions, no links (a link inside the skill has become a copy of its target), a
`SKILL.md` at the top, within the limits. Nothing here touches a disk, so nothing hostile has acted yet.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from skillpm.documents.digest import Digest, content_hash, digest_of
from skillpm.documents.names import collision_key, path_fault
from skillpm.documents.text import show
from skillpm.errors import RefusedError
from skillpm.values import Value

MOST_HOPS = 40
LONGEST_TARGET = 4096


class Limits(Value):
    """How big a skill may be; every one can be raised by an environment variable `SKILLPM_MAX_<NAME>`."""

    file: int = 25_000_000
    skill: int = 100_000_000
    files: int = 5_000
    download: int = 100_000_000


class Entry(Value):
    """Something found in a source, not yet checked: path with `/`, and bytes (of a link: its target)."""

    path: str
    kind: Literal["file", "link"] = "file"
    data: bytes = b""
    executable: bool = False


class TreeFile(Value):
    """A file that may be installed; `link` is where it pointed when it was a link in the source."""

    path: str
    data: bytes
    executable: bool = False
    link: str = ""
    content: str = ""


class Tree(Value):
    """All files of a skill, sorted by path as bytes."""

    files: tuple[TreeFile, ...]

    @property
    def digest(self) -> Digest:
        """The digest of the whole content."""
        return digest_of((file.path, file.content) for file in self.files)

    def read(self, path: str) -> bytes | None:
        """Give the bytes of one file, if it is there."""
        return next((file.data for file in self.files if file.path == path), None)


def checked_tree(entries: Iterable[Entry], *, name: str, limits: Limits) -> Tree:
    """Pass a skill's entries through the gate.

    Raises `RefusedError` naming the skill and the offending path.
    """
    found: dict[str, Entry] = {}
    for entry in entries:
        if fault := path_fault(entry.path):
            raise _refused(name, f"the path '{show(entry.path)}' {fault}")
        if entry.path in found:
            raise _refused(name, f"'{show(entry.path)}' is there twice")
        found[entry.path] = entry
        if len(found) > limits.files:
            raise _too_big(name, f"more than {limits.files} files", "FILES")
    files = [file for entry in found.values() for file in _installed(entry, found, name)]
    _check_sizes(files, name, limits)
    _check_collisions(files, name)
    if not any(file.path == "SKILL.md" for file in files):
        raise _refused(name, "it has no SKILL.md at its top")
    return Tree(files=tuple(sorted(files, key=lambda file: file.path.encode())))


def _installed(entry: Entry, found: Mapping[str, Entry], name: str) -> Iterable[TreeFile]:
    """Give what one entry becomes on disk: itself, or for a link a copy of the file or folder it points at."""
    if entry.kind == "file":
        yield _file(entry.path, entry)
        return
    target = _resolve(entry, found, name)
    if target in found:
        yield _file(entry.path, found[target], link=_target_text(entry, name))
        return
    inside = [item for path, item in found.items() if path.startswith(target + "/")]
    if not inside or entry.path.startswith(target + "/"):
        raise _leaves(name, entry, "points at nothing")
    for item in inside:
        if item.kind == "file":
            yield _file(entry.path + item.path[len(target) :], item, link=_target_text(entry, name))


def _file(path: str, entry: Entry, link: str = "") -> TreeFile:
    return TreeFile(
        path=path,
        data=entry.data,
        executable=entry.executable,
        link=link,
        content=content_hash(entry.data),
    )


def _target_text(entry: Entry, name: str) -> str:
    try:
        text = entry.data.decode()
    except UnicodeDecodeError:
        raise _leaves(name, entry, "has a target that is not UTF-8") from None
    if not text or len(entry.data) > LONGEST_TARGET or "\0" in text or "\n" in text or "\\" in text:
        raise _leaves(name, entry, "has no sensible target")
    return text


def _resolve(entry: Entry, found: Mapping[str, Entry], name: str) -> str:
    """Follow a link through the planned tree, lexically: never through the disk. Gives the path it ends at."""
    hops = 0
    done = entry.path.split("/")[:-1]
    todo = _target_text(entry, name).split("/")
    if todo[0] == "":
        raise _leaves(name, entry, "leaves the skill")
    while todo:
        part = todo.pop(0)
        if part == "..":
            if not done:
                raise _leaves(name, entry, "leaves the skill")
            done.pop()
        elif part not in {"", "."}:
            done.append(part)
            step = found.get("/".join(done))
            if step is not None and step.kind == "link":
                hops += 1
                target = _target_text(step, name).split("/")
                if hops > MOST_HOPS or target[0] == "":
                    raise _leaves(name, entry, "leaves the skill or goes in a circle")
                done.pop()
                todo = target + todo
    if not done:
        raise _leaves(name, entry, "points at the skill itself")
    return "/".join(done)


def _check_sizes(files: list[TreeFile], name: str, limits: Limits) -> None:
    if len(files) > limits.files:
        raise _too_big(name, f"more than {limits.files} files", "FILES")
    for file in files:
        if len(file.data) > limits.file:
            raise _too_big(name, f"'{show(file.path)}' is over {limits.file} bytes", "FILE")
        if fault := path_fault(file.path):
            raise _refused(name, f"the path '{show(file.path)}' {fault}")
    if sum(len(file.data) for file in files) > limits.skill:
        raise _too_big(name, f"all files together are over {limits.skill} bytes", "SKILL")


def _check_collisions(files: list[TreeFile], name: str) -> None:
    """Refuse two names that one file system would take for one, and a file where a folder must be."""
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    for file in files:
        if (other := seen.setdefault(collision_key(file.path), file.path)) is not file.path:
            raise _refused(name, f"'{show(other)}' and '{show(file.path)}' are one name on some systems")
        parts = file.path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            other = folders.setdefault(collision_key(folder), folder)
            if other != folder:
                raise _refused(name, f"the folders '{show(other)}' and '{show(folder)}' are one on some systems")
    for key, folder in folders.items():
        if key in seen:
            raise _refused(name, f"'{show(folder)}' is a file and a folder")


def _refused(name: str, why: str) -> RefusedError:
    return RefusedError(f"skill {show(name)}: {why}", hint="tell its author; nothing was installed")


def _leaves(name: str, entry: Entry, how: str) -> RefusedError:
    target = show(entry.data.decode("utf-8", "replace"), 80)
    return _refused(name, f"link '{show(entry.path)}' -> '{target}' {how}")


def _too_big(name: str, what: str, setting: str) -> RefusedError:
    return RefusedError(f"skill {show(name)}: {what}", hint=f"if you trust it, raise SKILLPM_MAX_{setting}")
