"""`show`: one skill, whole: what it says, where it came from, its files and their state."""

import os
import shutil
from typing import Any

from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.system_requirements import SystemRequirements
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, FileError, NotFoundError
from skillpm.files import OS_ERROR_REASONS
from skillpm.formats.legacy_metadata import merge_requirements
from skillpm.formats.receipt import InstalledFile
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk_state import find_changes, walk_files
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, has_escaping_link
from skillpm.installer.skill_file import find_skill_file, read_skill_file
from skillpm.installer.stat_cache import read_stat_cache
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_permissions import load_rules, refuse_denied
from skillpm.operations.inspect.list import ListedSkill, list_skills
from skillpm.operations.inspect.yanked import find_index_warnings
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


class ShownFile(Value):
    """One file of a skill: as it was installed, and whether it still is."""

    path: str
    size: int
    digest: str
    is_executable: bool
    state: str


class SkillDetails(Value):
    """Everything there is to know of one skill."""

    listed: ListedSkill
    skill: Skill
    is_available: bool
    missing_programs: tuple[str, ...]
    dependencies: dict[str, Any]
    files: tuple[ShownFile, ...]
    findings: tuple[Finding, ...]
    index_warning: str = ""


def show_skill(scope: Scope, context: Context, name: str) -> SkillDetails:
    """Show one installed skill, a hand-made one too. Raises `NotFoundError` that names the nearest ones."""
    listed = find_skill(scope, context, name)
    refuse_escaping_link(scope, name)
    listed_name = SkillName(name)
    locked = read_project_files(scope, context).lockfile.skills.get(listed_name)

    def look(seen: ReadView) -> tuple[SkillDetails | None, bool]:
        folder = seen.skill_path(name)
        try:
            skill = read_skill(read_skill_file(folder))
        except FileNotFoundError:
            return None, False
        except OSError as error:
            reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or "")
            raise FileError(
                f"`{name}` cannot be read: {reason}", where=f"{folder}/{find_skill_file(folder)}"
            ) from error
        except NotLoadable as error:
            where = f"{folder}/{find_skill_file(folder)}:{error.finding.line}"
            raise DocumentError(f"`{name}` cannot be loaded: {error.finding.message}", where=where) from None
        inherited = seen.read_receipt().inherited.get(listed_name)
        if inherited is not None:
            skill = skill.replace(requires=merge_requirements(skill.requires, inherited.requires))
        missing = _find_missing_programs(skill.requires, context.settings.environ.get("PATH"))
        shown = SkillDetails(
            listed=listed,
            skill=skill,
            is_available=not missing,
            missing_programs=missing,
            dependencies={} if locked is None else dict(locked.dependencies),
            files=tuple(_list_files(seen, scope, name)),
            findings=skill.findings,
            index_warning=""
            if locked is None
            else find_index_warnings(scope, context, {listed_name: locked}).get(listed_name, ""),
        )
        return shown, all(file.state in {"ok", "unmanaged"} for file in shown.files)

    found = read_until_consistent(scope.layout, look)
    if found is None:
        raise _missing_skill_error(name, scope.layout.skill_path(name))
    return found


def _find_missing_programs(requires: SystemRequirements, path: str | None) -> tuple[str, ...]:
    """Give what is needed and not on PATH: each program, and the programs of which not even one is."""

    def lacks(program: str) -> bool:
        return shutil.which(program, path=path) is None

    missing = [program for program in requires.bins if lacks(program)]
    if requires.any_bins and all(lacks(program) for program in requires.any_bins):
        missing.append(f"any of {', '.join(requires.any_bins)}")
    return tuple(missing)


def _missing_skill_error(name: str, folder: str) -> NotFoundError:
    if os.path.islink(folder):
        hint = f"`skillpm uninstall {name}` takes the link away"
        return NotFoundError(f"the folder that `{name}` is linked from is gone", where=folder, hint=hint)
    if os.path.lexists(folder):
        hint = f"`skillpm diff {name}` shows what is missing; `skillpm sync --force` sets it aside and installs it anew"
        return NotFoundError(f"`{name}` has no SKILL.md any more", where=folder, hint=hint)
    return NotFoundError(f"the folder of `{name}` is gone", where=folder, hint="`skillpm sync` brings it back")


def refuse_escaping_link(scope: Scope, name: str) -> None:
    """Raise `FileError` for a skill of a project that is a link out of it: what lies there is not shown."""
    if has_escaping_link(scope.layout, name):
        raise FileError(f"`{sanitize(name)}` is not read: {ESCAPING_LINK_MESSAGE}", where=scope.layout.skill_path(name))


def find_skill(scope: Scope, context: Context, name: str) -> ListedSkill:
    """Give one skill of the list. Raises `NotAllowedError` for a name that a rule denies, there or not."""
    rules = load_rules(scope, context.settings)
    refuse_denied(rules, name)
    listing = list_skills(scope)
    for skill in listing.skills:
        if skill.name == name:
            return skill
    for problem in listing.problems:
        path, _, why = problem.partition(": ")
        if path in {f"{name}/{file}" for file in SKILL_FILES}:
            raise DocumentError(f"`{name}` cannot be loaded: {why}", where=f"{scope.layout.directory}/{path}")
    names = [skill.name for skill in listing.skills if not rules.hides(skill.name)]
    hint = suggestion_hint(name, names, "`skillpm list` shows what is there")
    raise NotFoundError(f"`{sanitize(name)}` is not in {scope.layout.directory}", hint=hint)


def _list_files(view: ReadView, scope: Scope, name: str) -> list[ShownFile]:
    installed = view.read_receipt().skills.get(SkillName(name))
    folder = view.skill_path(name)
    there = dict(walk_files(os.path.realpath(folder)))
    if installed is None or installed.digest is None:
        return [
            ShownFile(
                path=path,
                size=entry.stat().st_size,
                digest="",
                is_executable=bool(entry.stat().st_mode & 0o100),
                state="unmanaged",
            )
            for path, entry in sorted(there.items())
        ]
    scan = read_stat_cache(scope.layout.stat_cache)
    changes = {change.path: change.state for change in find_changes(folder, name, installed.files, scan)}
    names = sorted({*installed.files, *there})
    return [_make_file(path, installed.files.get(path), changes.get(path, "ok"), there) for path in names]


def _make_file(path: str, file: InstalledFile | None, state: str, there: dict[str, os.DirEntry[str]]) -> ShownFile:
    if file is None:
        size = there[path].stat(follow_symlinks=False).st_size
        return ShownFile(path=path, size=size, digest="", is_executable=False, state=state)
    return ShownFile(
        path=path, size=file.size, digest=f"sha256:{file.sha256}", is_executable=file.executable, state=state
    )
