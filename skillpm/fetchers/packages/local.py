"""Fetch skills from local folders."""

import os
import stat
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress

from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.core.limits import Limits
from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import list_some
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.errors import DigestMismatch, FileError, NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.common.base import FetchedSkill, too_large_error
from skillpm.fetchers.common.gitignore import GitIgnore
from skillpm.fetchers.common.local_paths import LocalPaths
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.fetchers.common.regular_file import read_regular_file
from skillpm.files import is_below, translate_os_errors
from skillpm.formats.lockfile import LockedSkill
from skillpm.kinds.local import PathPin, PathSource
from skillpm.store import Store

EXCLUDED_NAMES = frozenset([".git", ".agent-skills", "__pycache__", ".DS_Store"])


class PathFetcher:
    """The fetcher for local folders."""

    def __init__(
        self, paths: LocalPaths, limits: Limits, store: Store, reporter: Reporter, scope_flag: str = ""
    ) -> None:
        self.paths = paths
        self.limits = limits
        self.store = store
        self.reporter = reporter
        self.scope_flag = scope_flag

    def resolve_folder(self, path: str) -> str:
        """Return the absolute path of a folder in the manifest."""
        return os.path.realpath(self.paths.expand(path))

    def pin(self, sources: Mapping[SkillName, PathSource]) -> dict[SkillName, FetchedSkill]:
        """Read the folders as they are now, and add their content to the store, except for live links."""
        skills = {}
        for name, source in sources.items():
            tree = self.read_folder(name, source.path, is_live_link=source.link)
            pin = PathPin(path=source.path, link=source.link)
            skill = read_metadata(self._exclude_own_manifest(tree, source.path), pin, name)
            if not source.link:
                self.store.add(tree, pin.store_variant(), replace=True)
            skills[name] = skill.replace(digest=None) if source.link else skill
        return skills

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Read the folders again. Raises `DigestMismatch` for changed content; nothing can be missing offline."""
        for name, skill in locked.items():
            if isinstance(skill.pin, PathPin) and not skill.pin.link and skill.digest is not None:
                tree = self.read_folder(name, skill.pin.path)
                if tree.digest != skill.digest:
                    shown, actual = shorten_distinct_digests(skill.digest, tree.digest)
                    raise DigestMismatch(name, locked=shown, actual=actual, origin=skill.pin.path)
                self.store.add(tree, skill.pin.store_variant(), replace=True)
        return []

    def _exclude_own_manifest(self, tree: FileTree, path: str) -> FileTree:
        """Omit the manifest if a project links itself as a skill: its requirements are not the skill's dependencies."""
        if self.resolve_folder(path) != os.path.realpath(self.paths.base):
            return tree
        return FileTree(files=tuple(file for file in tree.files if file.path != "skills.json"))

    def find_absence(self, source: PathSource) -> str:
        """Return that the folder of a source is missing; empty if it is there."""
        return "" if os.path.isdir(self.resolve_folder(source.path)) else f"its folder {source.path} is missing"

    def read_folder(self, name: str, path: str, *, is_live_link: bool = False) -> FileTree:
        """Read and check a folder. One that contains the project is refused: it would change with every sync."""
        folder = self.paths.check(path, name)
        if not is_live_link and is_below(os.path.realpath(self.paths.base), folder):
            raise RefusedError(
                f"skill {sanitize(name)}: {sanitize(path)} contains the project that would install it",
                hint="move the skill to a folder of its own",
            )
        self._check_folder(name, path, folder)
        return read_skill_folder(folder, name, self.limits, display_path=path)

    def check_live_link(self, name: str, path: str) -> None:
        """Raise `NotFoundError` unless the folder of a live link, whose files are not read, is there and is a skill."""
        folder = self.paths.check(path, name)
        self._check_folder(name, path, folder)
        _check_skill_file(folder, path)

    def _check_folder(self, name: str, path: str, folder: str) -> None:
        if not os.path.isdir(folder):
            raise NotFoundError(
                f"`{sanitize(name)}`: its folder {sanitize(path)} does not exist",
                where=folder,
                hint=f"restore it, or remove the skill with `skillpm uninstall{self.scope_flag} {shell_word(name)}`",
                skills=[name],
            )


def _check_skill_file(folder: str, display_path: str) -> None:
    if not any(os.path.lexists(os.path.join(folder, file)) for file in SKILL_FILES):
        raise NotFoundError(
            f"{sanitize(display_path or folder)} has no SKILL.md", hint=_missing_skill_hint(folder, display_path)
        )


def read_skill_folder(folder: str, name: str, limits: Limits, *, display_path: str = "") -> FileTree:
    """Read a local folder as a skill. Raises `NotFoundError` if it is not one, `RefusedError` if a check fails."""
    shown = sanitize(display_path or folder)
    if not os.path.isdir(folder):
        raise NotFoundError(f"there is no folder {shown}", hint="a SPEC without a leading ./ means owner/repo")
    _check_skill_file(folder, display_path)
    with translate_os_errors("read a skill's folder", folder):
        return check_tree(scan_entries(folder, limits, name, GitIgnore(folder)), name=name, limits=limits)


def would_be_included(folder: str, path: str) -> bool:
    """Return whether a file, which need not exist yet, would be one of a local skill's files."""
    file_path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    root = os.path.realpath(folder)
    if not is_below(file_path, root):
        return False
    ignored = GitIgnore(folder)
    *folders, file = os.path.relpath(file_path, root).split(os.sep)
    prefix = ""
    for name in folders:
        ignored.load_folder(prefix)
        if name in EXCLUDED_NAMES or ignored.ignores(prefix + name, is_folder=True):
            return False
        prefix += name + "/"
    ignored.load_folder(prefix)
    return not ignored.ignores(prefix + file, is_folder=False)


def scan_entries(
    folder: str,
    limits: Limits,
    name: str,
    ignored: GitIgnore | None = None,
    *,
    excluded: Container[str] = EXCLUDED_NAMES,
) -> Iterator[SourceEntry]:
    """Yield the files and links below a folder, without following a link, except those that git ignores.

    Raises `RefusedError` for a special file, or content over a limit.
    """
    total = 0
    prefixes = [""]
    while prefixes:
        prefix = prefixes.pop()
        with os.scandir(os.path.join(folder, prefix)) as listing:
            items = sorted(listing, key=lambda item: item.name)
        if ignored is not None:
            ignored.load_folder(prefix)
        for item in items:
            path = prefix + item.name
            is_folder = item.is_dir(follow_symlinks=False)
            if item.name in excluded or (ignored is not None and ignored.ignores(path, is_folder=is_folder)):
                continue
            if is_folder:
                prefixes.append(path + "/")
            elif item.is_symlink():
                yield SourceEntry(
                    path=path, kind="link", data=os.readlink(item.path).encode("utf-8", "surrogateescape")
                )
            else:
                file = _read_entry(item, path, name, limits)
                total += len(file.data)
                if total > limits.skill:
                    raise too_large_error(name, f"all files together are over {limits.skill} bytes", "SKILL")
                yield file


def _read_entry(item: os.DirEntry[str], path: str, name: str, limits: Limits) -> SourceEntry:
    """Read one file. Its size is checked before and after: it may grow meanwhile, and special files report 0."""
    status = item.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        raise RefusedError(f"skill {sanitize(name)}: '{sanitize(path)}' is not a regular file")
    if status.st_size > limits.file:
        raise too_large_error(name, f"'{sanitize(path)}' is over {limits.file} bytes", "FILE")
    try:
        data = read_regular_file(item.path, limits.file)
    except OSError as error:
        raise FileError(f"cannot read: {error.strerror}", where=item.path) from error
    if data is None:
        raise RefusedError(f"skill {sanitize(name)}: '{sanitize(path)}' is not a regular file")
    if len(data) > limits.file:
        raise too_large_error(name, f"'{sanitize(path)}' is over {limits.file} bytes", "FILE")
    return SourceEntry(path=path, data=data, executable=bool(status.st_mode & 0o100))


def _find_skills_folder(folder: str) -> str:
    """Return the first folder in a folder that contains skills; empty if there is none."""
    with os.scandir(folder) as listing:
        names = sorted(item.name for item in listing if item.name[:1] != "." and item.is_dir(follow_symlinks=False))
    for name in names:
        with suppress(OSError), os.scandir(os.path.join(folder, name)) as listing:
            if any(os.path.isfile(os.path.join(item.path, file)) for item in listing for file in SKILL_FILES):
                return name
    return ""


def _missing_skill_hint(folder: str, display_path: str = "") -> str:
    """Return what to do about a folder that is not a skill: it may be an index, or contain skills or flat files."""
    if os.path.isfile(os.path.join(folder, "index.json")) and os.path.isdir(os.path.join(folder, "skills")):
        return (
            f"it is an index: `skillpm config set indexes.NAME.url {shell_word(folder)}`, then `skillpm install SKILL`"
        )
    with os.scandir(folder) as listing:
        names = sorted(
            item.name
            for item in listing
            if item.name[:1] != "." and any(os.path.isfile(os.path.join(item.path, file)) for file in SKILL_FILES)
        )
    if not names and (below := _find_skills_folder(folder)):
        command = f"skillpm install {shell_word(os.path.join(display_path or folder, below))} --all"
        return f"its folder {sanitize(below)} contains skills; to install all of them: {command}"
    if not names and any(name.lower().endswith(".md") for name in os.listdir(folder)):
        command = f"skillpm migrate {shell_word(display_path or folder)} --dry-run"
        return f"its flat files can become skills: run `{command}`, then install them from there"
    if not names:
        return "a skill is a folder that contains a SKILL.md"
    listed = list_some([os.path.join(folder, name) for name in names], 5, 200)
    command = f"skillpm install {shell_word(display_path or folder)} --all"
    return f"it contains folders that have one: {listed}; to install all of them: {command}"
