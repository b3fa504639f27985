"""`diff`: a person's edits against what was installed, or what an update would bring."""

import difflib
import os
from collections.abc import Container, Mapping
from typing import Literal, NamedTuple

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.content import fetch_content
from skillpm.files import translate_os_errors
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.actions import version_label
from skillpm.installer.disk_state import HAS_EXECUTABLE_BITS, walk_files
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.show import find_skill, refuse_escaping_link
from skillpm.operations.install.index_policy import refuse_unconfigured
from skillpm.operations.install.live_links import link_targets
from skillpm.operations.install.lock_resolution import LockPolicy, make_fetchers, resolve_lockfile
from skillpm.operations.install.source_policy import check_sources


class DiffFile(NamedTuple):
    """One file of a state: its bytes, and whether it can be executed. A pipe, or a folder that nobody may look into, is
    `special`: nothing can be read of it.
    """

    data: bytes
    is_executable: bool = False
    is_special: bool = False


class FileDiff(Value):
    """How one file differs; `diff` is unified text, empty for files that are no text."""

    path: str
    change: Literal["added", "removed", "modified"]
    diff: str


class SkillDiff(Value):
    """How a skill differs between two states."""

    name: str
    old_label: str
    new_label: str
    files: tuple[FileDiff, ...]


def diff_edits(scope: Scope, context: Context, name: str) -> SkillDiff:
    """Show what a person changed since the skill was installed."""
    installed = load_receipt(scope.layout).skills.get(SkillName(name))
    locked = read_project_files(scope, context).lockfile.skills.get(SkillName(name))
    if installed is None and locked is None:
        find_skill(scope, context, name)
    refuse_escaping_link(scope, name)
    place = scope.layout.skill_path(name)
    if installed is None:
        if locked is None:
            raise NotFoundError(
                f"`{name}` was not installed by skillpm, so there is nothing to compare it with",
                hint=f"`skillpm show {name}` shows what it is",
            )
        before = _read_stored_files(scope, context, name, locked)
        return SkillDiff(
            name=name,
            old_label=version_label(locked),
            new_label="on disk",
            files=_compare_files(before, _read_disk_files(place, before)),
        )
    if installed.digest is None:
        target, leads_to = link_targets(scope, context.settings, SkillName(name), installed.pin)
        led = FileDiff(path=".", change="modified", diff=f"-link to {target}\n+link to {leads_to}")
        return SkillDiff(name=name, old_label="link", new_label="link", files=() if leads_to == target else (led,))
    skill = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    before = _read_stored_files(scope, context, name, skill)
    return SkillDiff(
        name=name,
        old_label=version_label(installed),
        new_label="on disk",
        files=_compare_files(before, _read_disk_files(place, before)),
    )


def diff_update(scope: Scope, context: Context, name: str) -> SkillDiff:
    """Show what `update` would bring: the newest against what is installed, else what is locked. The store is filled,
    nothing else.
    """
    papers = read_project_files(scope, context)
    skill_name = SkillName(name)
    locked = papers.lockfile.skills.get(skill_name)
    if locked is None:
        find_skill(scope, context, name)
        raise NotFoundError(f"`{name}` is not in the lockfile", hint="only locked skills can be updated")
    updated = resolve_lockfile(scope, papers, make_fetchers(scope, context), LockPolicy(), (skill_name,))
    newest = updated.skills.get(skill_name, locked)
    installed = load_receipt(scope.layout).skills.get(skill_name)
    old = locked
    if installed is not None and installed.digest is not None:
        # After a `git pull` the lockfile is ahead of what lies here.
        old = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    before, after = _read_stored_files(scope, context, name, old), _read_stored_files(scope, context, name, newest)
    return SkillDiff(
        name=name, old_label=version_label(old), new_label=version_label(newest), files=_compare_files(before, after)
    )


def _read_stored_files(scope: Scope, context: Context, name: str, skill: LockedSkill) -> dict[str, DiffFile]:
    """Give a state of a skill from the store, fetched where the store lacks it."""
    if skill.digest is None:
        return {}
    if not context.store.has(skill.digest, variant_of(skill.pin)):
        # A lockfile, which may be a stranger's, names no place to ask that nobody else does.
        papers = read_project_files(scope, context)
        there = papers.lockfile.replace(skills={**papers.lockfile.skills, SkillName(name): skill})
        if papers.lockfile.skills.get(SkillName(name)) == skill:
            check_sources(scope, papers, papers.lockfile)
        refuse_unconfigured(scope, papers, there, {SkillName(name)}, context.settings)
    tree = fetch_content(make_fetchers(scope, context), SkillName(name), skill, skill.digest)
    return {file.path: DiffFile(file.data, is_executable=file.executable) for file in tree.files}


def _read_disk_files(folder: str, known_paths: Container[str]) -> dict[str, DiffFile]:
    """Give what lies in a folder, of rubbish only what is `known`, since it came with the skill."""
    files: dict[str, DiffFile] = {}
    if not os.path.isdir(folder):
        return files
    for path, entry in walk_files(os.path.realpath(folder), known_paths):
        if entry.is_symlink():
            files[path] = DiffFile(b"-> " + os.fsencode(os.readlink(entry.path)) + b"\n")
        elif entry.is_file():
            with translate_os_errors("read what lies there", entry.path), open(entry.path, "rb") as file:
                files[path] = DiffFile(file.read(), is_executable=bool(entry.stat().st_mode & 0o100))
        else:
            files[path] = DiffFile(b"", is_special=True)
    return files


def _compare_files(before: Mapping[str, DiffFile], after: Mapping[str, DiffFile]) -> tuple[FileDiff, ...]:
    diffs = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if not _is_same(old, new):
            change: Literal["added", "removed", "modified"] = "modified"
            if old is None or new is None:
                change = "added" if old is None else "removed"
            diffs.append(FileDiff(path=path, change=change, diff=_unified_diff(path, old, new)))
    return tuple(diffs)


def _is_same(old: DiffFile | None, new: DiffFile | None) -> bool:
    if old is None or new is None or new.is_special:
        return False
    return old.data == new.data and (old.is_executable == new.is_executable or not HAS_EXECUTABLE_BITS)


def _unified_diff(path: str, old: DiffFile | None, new: DiffFile | None) -> str:
    if new is not None and new.is_special:
        return ""
    try:
        before, after = ([] if file is None else _split_lines(file.data.decode()) for file in (old, new))
    except UnicodeDecodeError:
        return ""
    said = sanitize(path, len(path) * 6)  # a line end in a name must not look like a line of the diff
    names = ("/dev/null" if old is None else f"a/{said}", "/dev/null" if new is None else f"b/{said}")
    lines = list(difflib.unified_diff(before, after, *names, lineterm=""))
    if old is not None and new is not None and old.is_executable != new.is_executable and HAS_EXECUTABLE_BITS:
        # In the words of git.
        modes = [
            f"{word} mode {'100755' if file.is_executable else '100644'}" for word, file in (("old", old), ("new", new))
        ]
        lines = [f"--- {names[0]}", f"+++ {names[1]}", *modes, *lines[2:]]
    return "\n".join(lines)


def _split_lines(text: str) -> list[str]:
    """Give a text's lines as git does: a carriage return is a part of its line, and a last line without an end says so.
    Else a file that an editor gave other line ends would differ in nothing that can be seen.
    """
    *lines, rest = text.split("\n")
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines
