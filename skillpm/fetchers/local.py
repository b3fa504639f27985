"""Skills from folders of this machine: the user's own, and those that ship with the tool."""

import os
import shlex
import stat
from collections.abc import Iterator, Mapping

from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.file_tree import FileTree, Limits, SourceEntry
from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.errors import DigestMismatch, FileError, NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.base import FetchedSkill, variant_of
from skillpm.fetchers.gitignore import GitIgnore
from skillpm.fetchers.metadata import read_metadata
from skillpm.fetchers.regular_file import read_regular_file
from skillpm.files import is_below, translate_os_errors
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import PathPin
from skillpm.requirements.source import PathSource
from skillpm.store import Store

EXCLUDED_NAMES = frozenset([".git", ".agent-skills", "__pycache__", ".DS_Store"])


class PathFetcher:
    """The fetcher for local folders; relative ones start at `base`, the manifest's folder."""

    def __init__(self, base: str, home: str, limits: Limits, store: Store, reporter: Reporter) -> None:
        self.base = base
        self.home = home
        self.limits = limits
        self.store = store
        self.reporter = reporter

    def resolve_folder(self, path: str) -> str:
        """Give the absolute folder a written path means."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return os.path.realpath(os.path.join(self.base, path))

    def pin(self, sources: Mapping[SkillName, PathSource]) -> dict[SkillName, FetchedSkill]:
        """Read the folders as they are now, and keep their content; a live link is only looked at."""
        found = {}
        for name, source in sources.items():
            tree = self.read_folder(name, source.path, is_live_link=source.link)
            pin = PathPin(path=source.path, link=source.link)
            seen = read_metadata(self._exclude_own_manifest(tree, source.path), pin, name)
            if not source.link:
                self.store.add(tree, variant_of(pin), replace=True)
            found[name] = seen.replace(digest=None) if source.link else seen
        return found

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Read the folders again; content other than the locked one is an error. Nothing can be missing."""
        for name, skill in locked.items():
            if isinstance(skill.pin, PathPin) and not skill.pin.link and skill.digest is not None:
                tree = self.read_folder(name, skill.pin.path)
                if tree.digest != skill.digest:
                    says, there = shorten_distinct_digests(skill.digest, tree.digest)
                    raise DigestMismatch(name, locked=says, actual=there, origin=skill.pin.path)
                self.store.add(tree, variant_of(skill.pin), replace=True)
        return []

    def _exclude_own_manifest(self, tree: FileTree, path: str) -> FileTree:
        """Leave out the manifest of the project that is linked into itself: what it asks for, it asks for itself."""
        if self.resolve_folder(path) != os.path.realpath(self.base):
            return tree
        return FileTree(files=tuple(file for file in tree.files if file.path != "skills.json"))

    def read_folder(self, name: str, path: str, *, is_live_link: bool = False) -> FileTree:
        """Give a folder's tree through the gate. One that holds the project would change with each of its syncs."""
        folder = self.resolve_folder(path)
        if not is_live_link and is_below(os.path.realpath(self.base), folder):
            raise RefusedError(
                f"skill {sanitize(name)}: {sanitize(path)} holds the project that would install it",
                hint="put the skill into a folder of its own",
            )
        if not os.path.isdir(folder):
            raise NotFoundError(
                f"`{sanitize(name)}`: its folder {sanitize(path)} is not there",
                where=folder,
                hint=f"bring it back, or take the skill out with `skillpm uninstall {sanitize(name)}`",
            )
        return read_skill_folder(folder, name, self.limits, display_path=path)


def read_skill_folder(folder: str, name: str, limits: Limits, *, display_path: str = "") -> FileTree:
    """Read a local folder as a skill. Raises `NotFoundError` where there is none, `RefusedError` at the gate."""
    shown = sanitize(display_path or folder)
    if not os.path.isdir(folder):
        raise NotFoundError(f"there is no folder {shown}", hint="a SPEC without ./ in front means owner/repo")
    if not any(os.path.lexists(os.path.join(folder, file)) for file in SKILL_FILES):
        raise NotFoundError(f"{shown} has no SKILL.md", hint=_missing_skill_hint(folder, display_path))
    with translate_os_errors("read a skill's folder", folder):
        return check_tree(_scan_entries(folder, limits, name), name=name, limits=limits)


def would_be_included(folder: str, path: str) -> bool:
    """Tell whether a file at this place, which need not be there yet, would be one of a local skill's files."""
    place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    whole = os.path.realpath(folder)
    if not is_below(place, whole):
        return False
    ignored = GitIgnore(folder)
    *folders, file = os.path.relpath(place, whole).split(os.sep)
    prefix = ""
    for name in folders:
        ignored.load_folder(prefix)
        if name in EXCLUDED_NAMES or ignored.ignores(prefix + name, is_folder=True):
            return False
        prefix += name + "/"
    ignored.load_folder(prefix)
    return not ignored.ignores(prefix + file, is_folder=False)


def _scan_entries(folder: str, limits: Limits, name: str) -> Iterator[SourceEntry]:
    ignored = GitIgnore(folder)
    total = 0
    todo = [""]
    while todo:
        prefix = todo.pop()
        with os.scandir(os.path.join(folder, prefix)) as found:
            inside = sorted(found, key=lambda item: item.name)
        ignored.load_folder(prefix)
        for item in inside:
            path = prefix + item.name
            is_folder = item.is_dir(follow_symlinks=False)
            if item.name in EXCLUDED_NAMES or ignored.ignores(path, is_folder=is_folder):
                continue
            if is_folder:
                todo.append(path + "/")
            elif item.is_symlink():
                yield SourceEntry(
                    path=path, kind="link", data=os.readlink(item.path).encode("utf-8", "surrogateescape")
                )
            else:
                file = _read_entry(item, path, name, limits)
                total += len(file.data)
                if total > limits.skill:
                    raise _too_large_error(name, f"all files together are over {limits.skill} bytes", "SKILL")
                yield file


def _read_entry(item: os.DirEntry[str], path: str, name: str, limits: Limits) -> SourceEntry:
    """Read one file. What it says of its size is only a first look: it may grow, or lie."""
    state = item.stat(follow_symlinks=False)
    if not stat.S_ISREG(state.st_mode):
        raise RefusedError(f"skill {sanitize(name)}: '{sanitize(path)}' is no regular file")
    if state.st_size > limits.file:
        raise _too_large_error(name, f"'{sanitize(path)}' is over {limits.file} bytes", "FILE")
    try:
        data = read_regular_file(item.path, limits.file)
    except OSError as error:
        raise FileError(f"cannot read: {error.strerror}", where=item.path) from error
    if data is None:
        raise RefusedError(f"skill {sanitize(name)}: '{sanitize(path)}' is no regular file")
    if len(data) > limits.file:
        raise _too_large_error(name, f"'{sanitize(path)}' is over {limits.file} bytes", "FILE")
    return SourceEntry(path=path, data=data, executable=bool(state.st_mode & 0o100))


def _too_large_error(name: str, what: str, setting: str) -> RefusedError:
    return RefusedError(f"skill {sanitize(name)}: {what}", hint=f"if you trust it, raise SKILLPM_MAX_{setting}")


def _missing_skill_hint(folder: str, display_path: str = "") -> str:
    """Say which skills a folder holds, when somebody names the folder of several, or that it is an index."""
    if os.path.isfile(os.path.join(folder, "index.json")) and os.path.isdir(os.path.join(folder, "skills")):
        return f"it is an index: `skillpm config set indexes.NAME.url {sanitize(folder)}`, then `skillpm install SKILL`"
    with os.scandir(folder) as found:
        names = sorted(
            item.name
            for item in found
            if item.name[:1] != "." and any(os.path.isfile(os.path.join(item.path, file)) for file in SKILL_FILES)
        )
    if not names and any(name.lower().endswith(".md") for name in os.listdir(folder)):
        home = "~/" if display_path.startswith("~/") else ""  # in quotes a shell does not know it
        flat = home + shlex.quote(sanitize((display_path or folder).removeprefix(home)))
        return f"its flat files can become skills: `skillpm migrate {flat} --dry-run`, then install them from there"
    if not names:
        return "a skill is a folder with a SKILL.md in it"
    some = list_some([os.path.join(folder, name) for name in names], 5, 200)
    every = f"skillpm install {sanitize(display_path or folder)} --all"
    return f"it holds folders that have one: {some}; to install all of them: {every}"
