"""Scan a folder of flat skill files (`x.md`, `<category>/x.md`, and deeper ones that are listed), which may be hostile.

Links are never followed, and only regular files below the size limit are opened.
"""

import os
import stat
from collections.abc import Collection, Iterable

from skillpm.core.limits import Limits
from skillpm.core.names import SKILL_FILE, collision_key, path_problem
from skillpm.core.values import Value
from skillpm.errors import ConflictError, RefusedError
from skillpm.files import BINARY, NOFOLLOW, OS_ERROR_REASONS, read_text
from skillpm.formats.legacy_registry import IgnoredEntry, LegacyRegistry, is_generated, read_legacy_registry
from skillpm.installer.disk.backups import find_latest_registry_backup
from skillpm.installer.disk.layout import Layout
from skillpm.skillmd.frontmatter import MAX_FILE_SIZE

SKIPPED_FOLDERS = frozenset(["node_modules"])
HIDDEN_FILE = "hidden; rename it without the dot"
CLOSED_FOLDER = "listed in skills.json, but below a hidden folder, a link or a skill; move it to a category folder"
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
        """The folder at the top that contains it; empty at the top."""
        return self.path.partition("/")[0] if "/" in self.path else ""

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


def scan_flat_files(directory: str, limits: Limits, listed: Iterable[str] = ()) -> FlatFolder:
    """Read the flat files of a folder, and those in folders of category folders that a registry lists.

    Raises `ConflictError` if the folder is itself a skill, `RefusedError` if it exceeds the limits, and `OSError` if it
    cannot be listed.
    """
    scanner = _FlatFileScanner(limits, {path for path in listed if path.count("/") > 1})
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
    for path in sorted(scanner.listed):
        scanner.add_listed(directory, path)
    scanner.ignored += [IgnoredEntry(path=name, reason=HIDDEN_FILE) for name in _list_hidden_markdown(directory)]
    return FlatFolder(
        files=tuple(scanner.files),
        ignored=tuple(scanner.ignored),
        used_names=frozenset(collision_key(entry.name) for entry in entries),
        skills=tuple(skills),
    )


def load_legacy_registry(layout: Layout, text: str | None) -> LegacyRegistry:
    """Return the handwritten registry: the present one, else its latest backup."""
    if text is not None and not is_generated(text):
        return read_legacy_registry(text, layout.registry)
    backup_id = find_latest_registry_backup(layout)
    path = os.path.join(layout.backups, backup_id)
    backup = read_text(path) if backup_id else None
    if backup is None:
        return LegacyRegistry()
    try:
        return read_legacy_registry(backup, path).replace(is_past=True)
    except ConflictError:
        return LegacyRegistry()


class _FlatFileScanner:
    """Collects the files of a scan and enforces the limits."""

    def __init__(self, limits: Limits, listed: Collection[str]) -> None:
        self.limits = limits
        self.listed = listed
        self.files: list[FlatFile] = []
        self.ignored: list[IgnoredEntry] = []
        self.total_size = 0

    def scan_category(self, folder: os.DirEntry[str]) -> None:
        """Scan a category folder. A folder without Markdown files is not one."""
        try:
            entries = _list_visible(folder.path)
        except OSError as error:
            self.ignored.append(IgnoredEntry(path=f"{folder.name}/", reason=_describe_error(error)))
            return
        is_category = any(_is_markdown(entry.name) for entry in entries)
        for entry in entries:
            path = f"{folder.name}/{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and _is_skill(entry.path):
                self.ignored.append(IgnoredEntry(path=f"{path}/", reason="already a skill; move its folder up"))
            elif is_folder and is_category:
                if not any(each.startswith(f"{path}/") for each in self.listed):
                    self.ignored.append(IgnoredEntry(path=f"{path}/", reason="a folder inside a category folder"))
            elif is_category:
                self.add_file(entry, path)

    def add_listed(self, directory: str, path: str) -> None:
        """Add a listed file, or record why it is ignored; one that is missing is not recorded."""
        *folders, name = path.split("/")
        for folder in folders:
            directory = os.path.join(directory, folder)
            if folder.startswith(".") or os.path.islink(directory) or _is_skill(directory):
                self.ignored.append(IgnoredEntry(path=path, reason=CLOSED_FOLDER))
                return
        try:
            entries = _list_visible(directory)
        except OSError:
            return
        for entry in entries:
            if entry.name == name:
                self.add_file(entry, path)

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
        if not os.access(os.path.dirname(entry.path), os.W_OK | os.X_OK):
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


def _list_visible(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)


def _list_hidden_markdown(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.startswith(".") and _is_markdown(name[1:]))


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
