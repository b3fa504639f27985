"""`validate`: judge skills as their author has them on disk, every finding at once; mend what can be, if asked."""

import os
import stat
from collections.abc import Iterator, Sequence

from skillpm.core.file_tree import Limits
from skillpm.core.names import SKILL_FILE, SKILL_FILES
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import FileError, NotFoundError, RefusedError
from skillpm.fetchers.local import read_skill_folder
from skillpm.files import is_below, translate_os_errors, write_document
from skillpm.installer.disk_state import walk_files
from skillpm.installer.skill_file import is_skill_folder, read_skill_file
from skillpm.operations.context.runtime import Context
from skillpm.skillmd.autofix import fix
from skillpm.skillmd.findings import Finding
from skillpm.skillmd.validation import ValidationReport, validate_skill

# What is installed is somebody else's work: it is judged, and mended, only where it is named outright.
SKIPPED_FOLDERS = frozenset([".git", "node_modules", ".skillpm", ".agent-skills"])
MAX_DEPTH = 6


class ValidatedSkill(Value):
    """One skill on disk and the verdict on it; `lines` is its text, for showing where a finding stands.

    `fixed` are the repairs that were made before, each with the line where it was needed.
    """

    path: str
    name: str
    report: ValidationReport
    lines: tuple[str, ...]
    fixes: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, by line."""
        return self.report.findings


def validate(context: Context, paths: Sequence[str], *, repair: bool = False) -> list[ValidatedSkill]:
    """Judge the skills at these paths: a SKILL.md, a skill's folder, or a folder of many. `mend`: repair them first.

    Raises `NotFoundError` for a path that is or holds no skill, `RefusedError` for one to mend that a link leads away
    from where it was named. All are looked at before the first is written.
    """
    base = context.settings.working_directory
    found: list[str] = []
    for path in paths or (".",):
        folders = list(find_skill_folders(os.path.join(base, path)))
        if not folders:
            raise _no_skill_error(path, os.path.join(base, path))
        found.extend(folders)
    files = [_find_skill_file(folder) for folder in found]
    limits = context.settings.limits
    if not repair:
        return [_validate_file(file, base, limits) for file in files]
    for file in files:
        _check_repair_target(file, base)
    judged = []
    for file in files:
        path, fixes = _repair_file(file, fsync=context.settings.fsync)
        judged.append(_validate_file(path, base, limits, fixes))
    return judged


def _no_skill_error(path: str, absolute_path: str) -> NotFoundError:
    hint = "name a skill's folder, or a folder of skills"
    if not os.path.lexists(absolute_path):
        return NotFoundError(f"{sanitize(path)} is not there", hint=hint)
    if os.path.isdir(absolute_path):
        return NotFoundError(f"{sanitize(path)} holds no SKILL.md", hint=hint)
    if path.endswith(".md"):
        hint = "a skill is a folder with a SKILL.md: `skillpm migrate DIR` makes skills of the flat files in a folder"
    return NotFoundError(f"{sanitize(path)} is a file, and no SKILL.md", hint=hint)


def find_skill_folders(path: str) -> Iterator[str]:
    """Give the folders of skills at or below a path; a skill inside a skill is a part of that one."""
    if os.path.basename(path) in SKILL_FILES and os.path.isfile(path):
        yield os.path.dirname(path)
        return
    todo = [(path, 0)]
    while todo:
        folder, depth = todo.pop()
        if is_skill_folder(folder):
            yield folder
        elif depth < MAX_DEPTH and os.path.isdir(folder):
            with translate_os_errors("look for skills", folder), os.scandir(folder) as entries:
                below = [e for e in entries if e.is_dir(follow_symlinks=False) and e.name not in SKIPPED_FOLDERS]
            todo.extend((entry.path, depth + 1) for entry in sorted(below, key=lambda e: e.name, reverse=True))


def _find_skill_file(folder: str) -> str:
    name = next(name for name in SKILL_FILES if os.path.isfile(os.path.join(folder, name)))
    return os.path.join(folder, name)


def _validate_file(path: str, base: str, limits: Limits, fixes: tuple[Finding, ...] = ()) -> ValidatedSkill:
    folder = os.path.dirname(path)
    name = os.path.basename(os.path.realpath(folder))
    with translate_os_errors("read a skill", path):
        data = read_skill_file(folder)
    files, refusal = _list_skill_files(folder, name, limits)
    return ValidatedSkill(
        path=os.path.relpath(path, base),
        name=name,
        report=validate_skill(data, name, files, install_problem=refusal),
        lines=tuple(data.decode("utf-8", "replace").splitlines()),
        fixes=fixes,
    )


def _list_skill_files(folder: str, name: str, limits: Limits) -> tuple[list[str], str]:
    """Give the files that would be installed; where the gate refuses them, all that lie there, and its reason."""
    try:
        return [file.path for file in read_skill_folder(folder, name, limits).files], ""
    except (RefusedError, FileError) as error:
        with translate_os_errors("look at a skill's files", folder):
            there = [path for path, _ in walk_files(folder)]
        return [path for path in there if ".git" not in path.split("/")], error.message


def _check_repair_target(path: str, base: str) -> None:
    """Refuse to write through a link that leads out of the skill, or out of here: what it points at was not named."""
    folder = os.path.dirname(os.path.normpath(path))
    place = base if is_below(folder, base) else os.path.dirname(folder)
    if not (
        is_below(os.path.realpath(folder), os.path.realpath(place))
        and is_below(os.path.realpath(path), os.path.realpath(folder))
    ):
        raise RefusedError(
            f"{sanitize(os.path.relpath(path, base))} is reached by a link that leads elsewhere; nothing was changed",
            hint=f"name the place itself: {sanitize(os.path.realpath(path))}",
        )


def _repair_file(path: str, *, fsync: bool) -> tuple[str, tuple[Finding, ...]]:
    """Write one file anew, whole or not at all, if it can be mended; give its path then, and the repairs."""
    folder = os.path.dirname(path)
    with translate_os_errors("mend a skill", path):
        fixed = fix(read_skill_file(folder), os.path.basename(os.path.realpath(folder)))
        fixes = list(fixed.fixes)
        if fixes:
            # A link that leads elsewhere was refused: the one that stays within leads to the file that is meant.
            write_document(path, fixed.data, fsync=fsync, mode=stat.S_IMODE(os.stat(path).st_mode), follow_links=True)
        if os.path.basename(path) != SKILL_FILE:
            old, path = path, os.path.join(folder, SKILL_FILE)
            os.rename(old, path)
            fixes.append(Finding(code="file-name", level="warning", message=f"the file is called {SKILL_FILE} now"))
    return path, tuple(sorted(fixes, key=lambda item: (item.line, item.code)))
