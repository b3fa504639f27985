"""`validate`: judge skills as their author has them on disk, every finding at once; mend what can be, if asked."""

import os
import stat
from collections.abc import Iterator, Sequence

from skillpm.core.file_tree import Limits
from skillpm.core.names import SKILL_FILE, SKILL_FILES
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import FileError, NotFoundError, RefusedError
from skillpm.fetchers.local import read_skill_folder
from skillpm.files import is_below, told, write_document
from skillpm.installer.disk_state import walk_files
from skillpm.installer.skill_file import is_skill_folder, read_skill_file
from skillpm.operations.context.runtime import Tools
from skillpm.skillmd.autofix import fix
from skillpm.skillmd.findings import Finding
from skillpm.skillmd.validation import Verdict, judge

# What is installed is somebody else's work: it is judged, and mended, only where it is named outright.
NEVER_ENTERED = frozenset([".git", "node_modules", ".skillpm", ".agent-skills"])
DEEPEST = 6


class Judged(Value):
    """One skill on disk and the verdict on it; `lines` is its text, for showing where a finding stands.

    `fixed` are the repairs that were made before, each with the line where it was needed.
    """

    path: str
    name: str
    verdict: Verdict
    lines: tuple[str, ...]
    fixed: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, by line."""
        return self.verdict.findings


def validate(tools: Tools, paths: Sequence[str], *, mend: bool = False) -> list[Judged]:
    """Judge the skills at these paths: a SKILL.md, a skill's folder, or a folder of many. `mend`: repair them first.

    Raises `NotFoundError` for a path that is or holds no skill, `RefusedError` for one to mend that a link leads away
    from where it was named. All are looked at before the first is written.
    """
    base = tools.settings.working_directory
    found: list[str] = []
    for path in paths or (".",):
        folders = list(skill_folders(os.path.join(base, path)))
        if not folders:
            raise _no_skill(path, os.path.join(base, path))
        found.extend(folders)
    files = [_skill_file(folder) for folder in found]
    limits = tools.settings.limits
    if not mend:
        return [_judged(file, base, limits) for file in files]
    for file in files:
        _check_place(file, base)
    judged = []
    for file in files:
        path, fixes = _mended(file, fsync=tools.settings.fsync)
        judged.append(_judged(path, base, limits, fixes))
    return judged


def _no_skill(path: str, whole: str) -> NotFoundError:
    hint = "name a skill's folder, or a folder of skills"
    if not os.path.lexists(whole):
        return NotFoundError(f"{show(path)} is not there", hint=hint)
    if os.path.isdir(whole):
        return NotFoundError(f"{show(path)} holds no SKILL.md", hint=hint)
    if path.endswith(".md"):
        hint = "a skill is a folder with a SKILL.md: `skillpm migrate DIR` makes skills of the flat files in a folder"
    return NotFoundError(f"{show(path)} is a file, and no SKILL.md", hint=hint)


def skill_folders(path: str) -> Iterator[str]:
    """Give the folders of skills at or below a path; a skill inside a skill is a part of that one."""
    if os.path.basename(path) in SKILL_FILES and os.path.isfile(path):
        yield os.path.dirname(path)
        return
    todo = [(path, 0)]
    while todo:
        folder, depth = todo.pop()
        if is_skill_folder(folder):
            yield folder
        elif depth < DEEPEST and os.path.isdir(folder):
            with told("look for skills", folder), os.scandir(folder) as entries:
                below = [e for e in entries if e.is_dir(follow_symlinks=False) and e.name not in NEVER_ENTERED]
            todo.extend((entry.path, depth + 1) for entry in sorted(below, key=lambda e: e.name, reverse=True))


def _skill_file(folder: str) -> str:
    name = next(name for name in SKILL_FILES if os.path.isfile(os.path.join(folder, name)))
    return os.path.join(folder, name)


def _judged(path: str, base: str, limits: Limits, fixed: tuple[Finding, ...] = ()) -> Judged:
    folder = os.path.dirname(path)
    name = os.path.basename(os.path.realpath(folder))
    with told("read a skill", path):
        data = read_skill_file(folder)
    files, refusal = _files(folder, name, limits)
    return Judged(
        path=os.path.relpath(path, base),
        name=name,
        verdict=judge(data, name, files, refusal=refusal),
        lines=tuple(data.decode("utf-8", "replace").splitlines()),
        fixed=fixed,
    )


def _files(folder: str, name: str, limits: Limits) -> tuple[list[str], str]:
    """Give the files that would be installed; where the gate refuses them, all that lie there, and its reason."""
    try:
        return [file.path for file in read_skill_folder(folder, name, limits).files], ""
    except (RefusedError, FileError) as error:
        with told("look at a skill's files", folder):
            there = [path for path, _ in walk_files(folder)]
        return [path for path in there if ".git" not in path.split("/")], error.message


def _check_place(path: str, base: str) -> None:
    """Refuse to write through a link that leads out of the skill, or out of here: what it points at was not named."""
    folder = os.path.dirname(os.path.normpath(path))
    place = base if is_below(folder, base) else os.path.dirname(folder)
    if not (
        is_below(os.path.realpath(folder), os.path.realpath(place))
        and is_below(os.path.realpath(path), os.path.realpath(folder))
    ):
        raise RefusedError(
            f"{show(os.path.relpath(path, base))} is reached by a link that leads elsewhere; nothing was changed",
            hint=f"name the place itself: {show(os.path.realpath(path))}",
        )


def _mended(path: str, *, fsync: bool) -> tuple[str, tuple[Finding, ...]]:
    """Write one file anew, whole or not at all, if it can be mended; give its path then, and the repairs."""
    folder = os.path.dirname(path)
    with told("mend a skill", path):
        fixed = fix(read_skill_file(folder), os.path.basename(os.path.realpath(folder)))
        fixes = list(fixed.fixes)
        if fixes:
            # A link that leads elsewhere was refused: the one that stays within leads to the file that is meant.
            write_document(path, fixed.data, fsync=fsync, mode=stat.S_IMODE(os.stat(path).st_mode), follow=True)
        if os.path.basename(path) != SKILL_FILE:
            old, path = path, os.path.join(folder, SKILL_FILE)
            os.rename(old, path)
            fixes.append(Finding(code="file-name", level="warning", message=f"the file is called {SKILL_FILE} now"))
    return path, tuple(sorted(fixes, key=lambda item: (item.line, item.code)))
