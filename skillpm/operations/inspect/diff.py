"""`diff`: show local edits to an installed skill, or what an update would change."""

import difflib
import os
from collections.abc import Container, Mapping
from typing import Literal, NamedTuple

from skillpm.core.limits import MAX_DIFF_LINES
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.dispatcher import fetch_content
from skillpm.files import translate_os_errors
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.actions import version_label
from skillpm.installer.disk_state import HAS_EXECUTABLE_BITS, MAX_READ_SIZE, walk_files
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_fetchers import make_fetchers
from skillpm.operations.context.scope_permissions import load_rules, refuse_denied
from skillpm.operations.inspect.show import find_skill, refuse_escaping_link
from skillpm.operations.pipeline.index_policy import refuse_unconfigured
from skillpm.operations.pipeline.local_skills import link_targets
from skillpm.operations.pipeline.source_policy import check_sources
from skillpm.operations.pipeline.upgrade import UpgradeOptions, resolve_upgrade


class DiffFile(NamedTuple):
    """One file of a state of a skill."""

    data: bytes
    is_executable: bool = False
    is_special: bool = False  # a pipe, an unreadable folder or a file over all limits: there is nothing to compare


class FileDiff(Value):
    """The difference of one file; `diff` is a unified diff, empty for binary files and beyond `MAX_DIFF_LINES`."""

    path: str
    change: Literal["added", "removed", "modified"]
    diff: str


class SkillDiff(Value):
    """The difference between two states of a skill."""

    name: str
    old_label: str
    new_label: str
    files: tuple[FileDiff, ...]


def diff_edits(scope: Scope, context: Context, name: str) -> SkillDiff:
    """Compare a skill on disk with what was installed. Raises `NotAllowedError` for a denied name."""
    refuse_denied(load_rules(scope, context.settings), name)
    installed = load_receipt(scope.layout).skills.get(SkillName(name))
    locked = read_project_files(scope, context).lockfile.skills.get(SkillName(name))
    if installed is None and locked is None:
        find_skill(scope, context, name)
    refuse_escaping_link(scope, name)
    skill = locked
    if installed is not None:
        if installed.digest is None:
            expected, actual = link_targets(scope, context.settings, SkillName(name), installed.pin)
            change = FileDiff(path=".", change="modified", diff=f"-link to {expected}\n+link to {actual}")
            changes = () if actual == expected else (change,)
            return SkillDiff(name=name, old_label="link", new_label="link", files=changes)
        skill = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    if skill is None:
        raise NotFoundError(
            f"`{name}` was not installed by skillpm, so there is nothing to compare it with",
            hint=f"run `{scope.command('show', name)}` to inspect it",
        )
    before = _read_stored_files(scope, context, name, skill)
    files = _compare_files(before, _read_disk_files(scope.layout.skill_path(name), before))
    return SkillDiff(name=name, old_label=version_label(skill), new_label="on disk", files=files)


def diff_update(scope: Scope, context: Context, name: str) -> SkillDiff:
    """Compare the installed state, or the locked one if none is installed, with what `update` would install.

    Writes only to the store. Raises `NotAllowedError` for a denied name.
    """
    refuse_denied(load_rules(scope, context.settings), name)
    files = read_project_files(scope, context)
    skill_name = SkillName(name)
    locked = files.lockfile.skills.get(skill_name)
    if locked is None:
        find_skill(scope, context, name)
        raise NotFoundError(f"`{name}` is not in the lockfile", hint="only locked skills can be updated")
    updated = resolve_upgrade(
        scope, files, make_fetchers(scope, context), (skill_name,), UpgradeOptions(allows_failures=False)
    )
    newest = updated.lockfile.skills.get(skill_name, locked)
    installed = load_receipt(scope.layout).skills.get(skill_name)
    old = locked
    if installed is not None and installed.digest is not None:
        # After a `git pull` the lockfile may be newer than what is installed.
        old = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    before, after = _read_stored_files(scope, context, name, old), _read_stored_files(scope, context, name, newest)
    return SkillDiff(
        name=name, old_label=version_label(old), new_label=version_label(newest), files=_compare_files(before, after)
    )


def _read_stored_files(scope: Scope, context: Context, name: str, skill: LockedSkill) -> dict[str, DiffFile]:
    """Read a state of a skill from the store; fetch it if it is missing there."""
    if skill.digest is None:
        return {}
    fetchers = make_fetchers(scope, context)
    if not context.store.has(skill.digest, variant_of(skill.pin)):
        # A lockfile may come from a stranger: it must not make skillpm contact a server that the manifest and the
        # user's configuration do not name.
        files = read_project_files(scope, context)
        lockfile = files.lockfile.replace(skills={**files.lockfile.skills, SkillName(name): skill})
        if files.lockfile.skills.get(SkillName(name)) == skill:
            check_sources(scope, files, files.lockfile)
        refuse_unconfigured(scope, files, lockfile, {SkillName(name)}, context.settings)
        fetchers = fetchers.with_locked(files.lockfile.skills)
        fetchers.name_sources([*files.requirements.values(), *files.overrides.values()])
    tree = fetch_content(fetchers, SkillName(name), skill, skill.digest)
    return {file.path: DiffFile(file.data, is_executable=file.executable) for file in tree.files}


def _read_disk_files(folder: str, known_paths: Container[str]) -> dict[str, DiffFile]:
    """Read the files in a folder; caches and other litter only if they came with the skill (`known_paths`)."""
    files: dict[str, DiffFile] = {}
    if not os.path.isdir(folder):
        return files
    for path, entry in walk_files(os.path.realpath(folder), known_paths):
        if entry.is_symlink():
            files[path] = DiffFile(b"-> " + os.fsencode(os.readlink(entry.path)) + b"\n")
        elif entry.is_file() and entry.stat().st_size <= MAX_READ_SIZE:
            with translate_os_errors("read a skill's file", entry.path), open(entry.path, "rb") as file:
                files[path] = DiffFile(file.read(), is_executable=bool(entry.stat().st_mode & 0o100))
        else:
            files[path] = DiffFile(b"", is_special=True)
    return files


def _compare_files(before: Mapping[str, DiffFile], after: Mapping[str, DiffFile]) -> tuple[FileDiff, ...]:
    diffs = []
    lines_left = MAX_DIFF_LINES
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if not _is_same(old, new):
            change: Literal["added", "removed", "modified"] = "modified"
            if old is None or new is None:
                change = "added" if old is None else "removed"
            lines = sum(file.data.count(b"\n") for file in (old, new) if file is not None)
            diff = _unified_diff(path, old, new) if lines <= lines_left else ""
            lines_left -= lines if diff else 0
            diffs.append(FileDiff(path=path, change=change, diff=diff))
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
    shown = sanitize(path, len(path) * 6)  # a newline in a file name must not look like a line of the diff
    names = ("/dev/null" if old is None else f"a/{shown}", "/dev/null" if new is None else f"b/{shown}")
    lines = list(difflib.unified_diff(before, after, *names, lineterm=""))
    if old is not None and new is not None and old.is_executable != new.is_executable and HAS_EXECUTABLE_BITS:
        # As in the output of `git diff`.
        modes = [
            f"{word} mode {'100755' if file.is_executable else '100644'}" for word, file in (("old", old), ("new", new))
        ]
        lines = [f"--- {names[0]}", f"+++ {names[1]}", *modes, *lines[2:]]
    return "\n".join(lines)


def _split_lines(text: str) -> list[str]:
    """Split text as git does: a carriage return is part of its line, and a missing final newline is marked.

    Otherwise a file whose line endings an editor changed would have a diff without visible differences.
    """
    *lines, rest = text.split("\n")
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines
