"""`diff`: a person's edits against what was installed, or what an update would bring."""

import difflib
import os
from collections.abc import Container, Mapping
from typing import Literal, NamedTuple

from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import NotFoundError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.content import content_of
from skillpm.files import told
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.actions import label
from skillpm.installer.disk_state import HAS_MODES, walk_files
from skillpm.installer.layout import load_receipt
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.show import find_listed, refuse_outside
from skillpm.operations.install.index_policy import refuse_unnamed
from skillpm.operations.install.live_links import ends_of
from skillpm.operations.install.lock_resolution import Strictness, make_fetchers, relocked
from skillpm.operations.install.source_policy import check_places


class File(NamedTuple):
    """One file of a state: its bytes, and whether it can be executed. A pipe, or a folder that nobody may look into, is
    `special`: nothing can be read of it.
    """

    data: bytes
    executable: bool = False
    special: bool = False


class FileDiff(Value):
    """How one file differs; `diff` is unified text, empty for files that are no text."""

    path: str
    change: Literal["added", "removed", "modified"]
    diff: str


class Diff(Value):
    """How a skill differs between two states."""

    name: str
    was: str
    becomes: str
    files: tuple[FileDiff, ...]


def diff_edits(scope: Scope, tools: Tools, name: str) -> Diff:
    """Show what a person changed since the skill was installed."""
    installed = load_receipt(scope.layout).skills.get(SkillName(name))
    locked = read_paperwork(scope, tools).lockfile.skills.get(SkillName(name))
    if installed is None and locked is None:
        find_listed(scope, tools, name)
    refuse_outside(scope, name)
    place = scope.layout.skill(name)
    if installed is None:
        if locked is None:
            raise NotFoundError(
                f"`{name}` was not installed by skillpm, so there is nothing to compare it with",
                hint=f"`skillpm show {name}` shows what it is",
            )
        before = _stored(scope, tools, name, locked)
        return Diff(name=name, was=label(locked), becomes="on disk", files=_compared(before, _on_disk(place, before)))
    if installed.digest is None:
        target, leads_to = ends_of(scope, tools.settings, SkillName(name), installed.pin)
        led = FileDiff(path=".", change="modified", diff=f"-link to {target}\n+link to {leads_to}")
        return Diff(name=name, was="link", becomes="link", files=() if leads_to == target else (led,))
    skill = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    before = _stored(scope, tools, name, skill)
    return Diff(name=name, was=label(installed), becomes="on disk", files=_compared(before, _on_disk(place, before)))


def diff_update(scope: Scope, tools: Tools, name: str) -> Diff:
    """Show what `update` would bring: the newest against what is installed, else what is locked. The store is filled,
    nothing else.
    """
    papers = read_paperwork(scope, tools)
    skill_name = SkillName(name)
    locked = papers.lockfile.skills.get(skill_name)
    if locked is None:
        find_listed(scope, tools, name)
        raise NotFoundError(f"`{name}` is not in the lockfile", hint="only locked skills can be updated")
    updated = relocked(scope, papers, make_fetchers(scope, tools), Strictness(), (skill_name,))
    newest = updated.skills.get(skill_name, locked)
    installed = load_receipt(scope.layout).skills.get(skill_name)
    old = locked
    if installed is not None and installed.digest is not None:
        # After a `git pull` the lockfile is ahead of what lies here.
        old = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
    before, after = _stored(scope, tools, name, old), _stored(scope, tools, name, newest)
    return Diff(name=name, was=label(old), becomes=label(newest), files=_compared(before, after))


def _stored(scope: Scope, tools: Tools, name: str, skill: LockedSkill) -> dict[str, File]:
    """Give a state of a skill from the store, fetched where the store lacks it."""
    if skill.digest is None:
        return {}
    if not tools.store.has(skill.digest, variant_of(skill.pin)):
        # A lockfile, which may be a stranger's, names no place to ask that nobody else does.
        papers = read_paperwork(scope, tools)
        there = papers.lockfile.but(skills={**papers.lockfile.skills, SkillName(name): skill})
        if papers.lockfile.skills.get(SkillName(name)) == skill:
            check_places(scope, papers, papers.lockfile)
        refuse_unnamed(scope, papers, there, {SkillName(name)}, tools.settings)
    tree = content_of(make_fetchers(scope, tools), SkillName(name), skill, skill.digest)
    return {file.path: File(file.data, executable=file.executable) for file in tree.files}


def _on_disk(folder: str, known: Container[str]) -> dict[str, File]:
    """Give what lies in a folder, of rubbish only what is `known`, since it came with the skill."""
    files: dict[str, File] = {}
    if not os.path.isdir(folder):
        return files
    for path, entry in walk_files(os.path.realpath(folder), known):
        if entry.is_symlink():
            files[path] = File(b"-> " + os.fsencode(os.readlink(entry.path)) + b"\n")
        elif entry.is_file():
            with told("read what lies there", entry.path), open(entry.path, "rb") as file:
                files[path] = File(file.read(), executable=bool(entry.stat().st_mode & 0o100))
        else:
            files[path] = File(b"", special=True)
    return files


def _compared(before: Mapping[str, File], after: Mapping[str, File]) -> tuple[FileDiff, ...]:
    diffs = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if not _is_same(old, new):
            change: Literal["added", "removed", "modified"] = "modified"
            if old is None or new is None:
                change = "added" if old is None else "removed"
            diffs.append(FileDiff(path=path, change=change, diff=_unified(path, old, new)))
    return tuple(diffs)


def _is_same(old: File | None, new: File | None) -> bool:
    if old is None or new is None or new.special:
        return False
    return old.data == new.data and (old.executable == new.executable or not HAS_MODES)


def _unified(path: str, old: File | None, new: File | None) -> str:
    if new is not None and new.special:
        return ""
    try:
        before, after = ([] if file is None else _lines(file.data.decode()) for file in (old, new))
    except UnicodeDecodeError:
        return ""
    said = show(path, len(path) * 6)  # a line end in a name must not look like a line of the diff
    names = ("/dev/null" if old is None else f"a/{said}", "/dev/null" if new is None else f"b/{said}")
    lines = list(difflib.unified_diff(before, after, *names, lineterm=""))
    if old is not None and new is not None and old.executable != new.executable and HAS_MODES:
        # In the words of git.
        modes = [
            f"{word} mode {'100755' if file.executable else '100644'}" for word, file in (("old", old), ("new", new))
        ]
        lines = [f"--- {names[0]}", f"+++ {names[1]}", *modes, *lines[2:]]
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """Give a text's lines as git does: a carriage return is a part of its line, and a last line without an end says so.
    Else a file that an editor gave other line ends would differ in nothing that can be seen.
    """
    *lines, rest = text.split("\n")
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines
