"""Scan a folder of flat skill files (`x.md` and `<category>/x.md`), which may be hostile.

Links are never followed, and only regular files below the size limit are opened.
"""

import os
import stat
from collections.abc import Iterator

from skillpm.core.file_tree import Limits
from skillpm.core.names import SKILL_FILE, collision_key, path_problem
from skillpm.core.values import Value
from skillpm.errors import ConflictError, RefusedError
from skillpm.files import BINARY, NOFOLLOW, OS_ERROR_REASONS
from skillpm.formats.legacy_registry import IgnoredEntry
from skillpm.skillmd.frontmatter import MAX_FILE_SIZE

SKIPPED_FOLDERS = frozenset(["node_modules"])
SKIPPED_FILES = frozenset(["skills.json", "skills.lock"])
NONBLOCK = getattr(os, "O_NONBLOCK", 0)


class FlatFile(Value):
    """A Markdown file that may become a skill."""

    # Relative, with `/`.
    path: str
    data: bytes
    mode: int

    @property
    def category(self) -> str:
        """The folder that contains it; empty at the top."""
        return self.path.rpartition("/")[0]

    @property
    def stem(self) -> str:
        """Its file name without the extension."""
        return self.path.rpartition("/")[2][: -len(".md")]


class FlatFolder(Value):
    """The result of a scan."""

    files: tuple[FlatFile, ...]
    ignored: tuple[IgnoredEntry, ...]
    # The names at the top, folded as on a case-insensitive file system.
    used_names: frozenset[str]
    # The names of folders, or links to folders, that are skills already.
    skills: tuple[str, ...]


def scan_flat_files(directory: str, limits: Limits) -> FlatFolder:
    """Read the flat files of a folder.

    Raises `ConflictError` if the folder is itself a skill, `RefusedError` if it exceeds the limits, and `OSError` if it
    cannot be listed.
    """
    scanner = _FlatFileScanner(directory, limits)
    skills = []
    entries = _list_visible(directory)
    if _is_skill(directory):
        hint = "pass the folder that contains the skills; a skill's own folder is never split up"
        raise ConflictError(f"{directory} is itself a skill", where=directory, hint=hint)
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if (is_folder or entry.is_symlink()) and _is_skill(entry.path):
            skills.append(entry.name)  # a link to a skill is one, too
        elif is_folder and entry.name not in SKIPPED_FOLDERS:
            scanner.scan_category(entry)
        elif not is_folder and entry.name not in SKIPPED_FILES:
            scanner.add_file(entry, entry.name)
    return FlatFolder(
        files=tuple(scanner.files),
        ignored=tuple(scanner.ignored),
        used_names=frozenset(collision_key(entry.name) for entry in entries),
        skills=tuple(skills),
    )


class _FlatFileScanner:
    """Collects the files of a scan and enforces the limits."""

    def __init__(self, directory: str, limits: Limits) -> None:
        self.limits = limits
        self.files: list[FlatFile] = []
        self.ignored: list[IgnoredEntry] = []
        self.total_size = 0
        self.is_writable = os.access(directory, os.W_OK | os.X_OK)

    def scan_category(self, folder: os.DirEntry[str]) -> None:
        """Scan a category folder. A folder without Markdown files is not one."""
        try:
            entries = _list_visible(folder.path)
        except OSError as error:
            self.ignored.append(IgnoredEntry(path=f"{folder.name}/", reason=_describe_error(error)))
            return
        if not any(_is_markdown(entry.name) for entry in entries):
            self.ignored.extend(self._find_nested_skills(folder.name, entries))
            return
        was_writable, self.is_writable = self.is_writable, os.access(folder.path, os.W_OK | os.X_OK)
        for entry in entries:
            path = f"{folder.name}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                is_skill = _is_skill(entry.path)
                reason = "already a skill; move its folder up" if is_skill else "a folder in a category folder"
                self.ignored.append(IgnoredEntry(path=f"{path}/", reason=reason))
            else:
                self.add_file(entry, path)
        self.is_writable = was_writable

    def add_file(self, entry: os.DirEntry[str], path: str) -> None:
        """Add one file, or record why it is ignored."""
        reason = self._rejection_reason(entry, path)
        if not reason:
            try:
                data, mode = _read_file(entry.path)
            except OSError as error:
                reason = _describe_error(error)
            else:
                self._check_limits(len(data))
                self.files.append(FlatFile(path=path, data=data, mode=mode))
        if reason:
            self.ignored.append(IgnoredEntry(path=path, reason=reason))

    def _rejection_reason(self, entry: os.DirEntry[str], path: str) -> str:
        if not _is_markdown(entry.name):
            return "not a Markdown file"
        if entry.is_symlink():
            return "a link; links are not followed"
        if not entry.is_file(follow_symlinks=False):
            return "not a regular file"
        if fault := path_problem(path):
            return f"its path {fault}"
        if not self.is_writable:
            return "its folder is not writable"
        size = entry.stat(follow_symlinks=False).st_size
        return f"over {MAX_FILE_SIZE} bytes" if size > MAX_FILE_SIZE else ""

    def _check_limits(self, size: int) -> None:
        self.total_size += size
        if len(self.files) >= self.limits.files:
            what, setting = f"more than {self.limits.files} flat files", "FILES"
        elif self.total_size > self.limits.skill:
            what, setting = f"flat files of more than {self.limits.skill} bytes together", "SKILL"
        else:
            return
        raise RefusedError(
            f"found {what}; nothing was changed", hint=f"if this is intended, raise SKILLPM_MAX_{setting}"
        )

    def _find_nested_skills(self, folder: str, entries: list[os.DirEntry[str]]) -> Iterator[IgnoredEntry]:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and _is_skill(entry.path):
                yield IgnoredEntry(path=f"{folder}/{entry.name}/", reason="already a skill; move its folder up")


def _list_visible(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)


def _is_skill(folder: str) -> bool:
    """Return whether a folder contains a SKILL.md in any capitalization: such a folder is never split up."""
    try:
        return any(name.upper() == SKILL_FILE.upper() for name in os.listdir(folder))
    except OSError:
        return False


def _is_markdown(name: str) -> bool:
    return name[-3:].lower() == ".md" and len(name) > len(".md")


def _read_file(path: str) -> tuple[bytes, int]:
    """Return the bytes and mode of a file. Raises `OSError` if it is not a regular file below the limit any more."""
    descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY)
    with open(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        data = file.read(MAX_FILE_SIZE + 1) if stat.S_ISREG(state.st_mode) else b""
        if not stat.S_ISREG(state.st_mode) or len(data) > MAX_FILE_SIZE:
            raise OSError(0, "it changed while it was being read", path)
        return data, state.st_mode


def _describe_error(error: OSError) -> str:
    return f"cannot be read: {OS_ERROR_REASONS.get(error.errno or 0, error.strerror or str(error))}"
