"""`show`: one skill, whole: what it says, where it came from, its files and their state."""

import os
import shutil
from typing import Any

from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.core.suggestions import guess
from skillpm.core.system_requirements import Requires
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import DocumentError, FileError, NotFoundError
from skillpm.files import REASONS
from skillpm.formats.legacy_metadata import joined
from skillpm.formats.receipt import InstalledFile
from skillpm.installer.consistent_view import View, look_until
from skillpm.installer.disk_state import compare, walk_files
from skillpm.installer.escaping_links import LEADS_OUT, leads_out
from skillpm.installer.skill_file import read_skill_file, skill_file_in
from skillpm.installer.stat_cache import read_scan
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_permissions import refuse_denied, rules_here
from skillpm.operations.inspect.list import Listed, list_skills
from skillpm.operations.inspect.yanked import said_of
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import Skill, read_skill


class ShownFile(Value):
    """One file of a skill: as it was installed, and whether it still is."""

    path: str
    size: int
    digest: str
    executable: bool
    state: str


class Shown(Value):
    """Everything there is to know of one skill."""

    listed: Listed
    skill: Skill
    available: bool
    missing_programs: tuple[str, ...]
    dependencies: dict[str, Any]
    files: tuple[ShownFile, ...]
    findings: tuple[Finding, ...]
    index: str = ""


def show_skill(scope: Scope, tools: Tools, name: str) -> Shown:
    """Show one installed skill, a hand-made one too. Raises `NotFoundError` that names the nearest ones."""
    listed = find_listed(scope, tools, name)
    refuse_outside(scope, name)
    listed_name = SkillName(name)
    locked = read_paperwork(scope, tools).lockfile.skills.get(listed_name)

    def look(seen: View) -> tuple[Shown | None, bool]:
        folder = seen.skill(name)
        try:
            skill = read_skill(read_skill_file(folder))
        except FileNotFoundError:
            return None, False
        except OSError as error:
            reason = REASONS.get(error.errno or 0, error.strerror or "")
            raise FileError(f"`{name}` cannot be read: {reason}", where=f"{folder}/{skill_file_in(folder)}") from error
        except NotLoadable as error:
            where = f"{folder}/{skill_file_in(folder)}:{error.finding.line}"
            raise DocumentError(f"`{name}` cannot be loaded: {error.finding.message}", where=where) from None
        inherited = seen.receipt().inherited.get(listed_name)
        if inherited is not None:
            skill = skill.but(requires=joined(skill.requires, inherited.requires))
        missing = _missing(skill.requires, tools.settings.environ.get("PATH"))
        shown = Shown(
            listed=listed,
            skill=skill,
            available=not missing,
            missing_programs=missing,
            dependencies={} if locked is None else dict(locked.dependencies),
            files=tuple(_files(seen, scope, name)),
            findings=skill.findings,
            index="" if locked is None else said_of(scope, tools, {listed_name: locked}).get(listed_name, ""),
        )
        return shown, all(file.state in {"ok", "unmanaged"} for file in shown.files)

    found = look_until(scope.layout, look)
    if found is None:
        raise _gone(name, scope.layout.skill(name))
    return found


def _missing(requires: Requires, path: str | None) -> tuple[str, ...]:
    """Give what is needed and not on PATH: each program, and the programs of which not even one is."""

    def lacks(program: str) -> bool:
        return shutil.which(program, path=path) is None

    missing = [program for program in requires.bins if lacks(program)]
    if requires.any_bins and all(lacks(program) for program in requires.any_bins):
        missing.append(f"any of {', '.join(requires.any_bins)}")
    return tuple(missing)


def _gone(name: str, folder: str) -> NotFoundError:
    if os.path.islink(folder):
        hint = f"`skillpm uninstall {name}` takes the link away"
        return NotFoundError(f"the folder that `{name}` is linked from is gone", where=folder, hint=hint)
    if os.path.lexists(folder):
        hint = f"`skillpm diff {name}` shows what is missing; `skillpm sync --force` sets it aside and installs it anew"
        return NotFoundError(f"`{name}` has no SKILL.md any more", where=folder, hint=hint)
    return NotFoundError(f"the folder of `{name}` is gone", where=folder, hint="`skillpm sync` brings it back")


def refuse_outside(scope: Scope, name: str) -> None:
    """Raise `FileError` for a skill of a project that is a link out of it: what lies there is not shown."""
    if leads_out(scope.layout, name):
        raise FileError(f"`{show(name)}` is not read: {LEADS_OUT}", where=scope.layout.skill(name))


def find_listed(scope: Scope, tools: Tools, name: str) -> Listed:
    """Give one skill of the list. Raises `NotAllowedError` for a name that a rule denies, there or not."""
    rules = rules_here(scope, tools.settings)
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
    hint = guess(name, names, "`skillpm list` shows what is there")
    raise NotFoundError(f"`{show(name)}` is not in {scope.layout.directory}", hint=hint)


def _files(seen: View, scope: Scope, name: str) -> list[ShownFile]:
    installed = seen.receipt().skills.get(SkillName(name))
    folder = seen.skill(name)
    there = dict(walk_files(os.path.realpath(folder)))
    if installed is None or installed.digest is None:
        return [
            ShownFile(
                path=path,
                size=entry.stat().st_size,
                digest="",
                executable=bool(entry.stat().st_mode & 0o100),
                state="unmanaged",
            )
            for path, entry in sorted(there.items())
        ]
    scan = read_scan(scope.layout.scan)
    changes = {change.path: change.state for change in compare(folder, name, installed.files, scan)}
    names = sorted({*installed.files, *there})
    return [_shown_file(path, installed.files.get(path), changes.get(path, "ok"), there) for path in names]


def _shown_file(path: str, file: InstalledFile | None, state: str, there: dict[str, os.DirEntry[str]]) -> ShownFile:
    if file is None:
        size = there[path].stat(follow_symlinks=False).st_size
        return ShownFile(path=path, size=size, digest="", executable=False, state=state)
    return ShownFile(path=path, size=file.size, digest=f"sha256:{file.sha256}", executable=file.executable, state=state)
