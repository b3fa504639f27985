"""`show`: everything about one skill: its metadata, source, files and their state."""

import os
from typing import TYPE_CHECKING, Any

from skillpm.core.names import SKILL_FILES, SkillName
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, FileError, NotFoundError
from skillpm.files import OS_ERROR_REASONS
from skillpm.formats.legacy_metadata import merge_requirements
from skillpm.formats.receipt import InstalledFile
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk.disk_state import find_changes, walk_files
from skillpm.installer.disk.skill_file import find_skill_file, read_skill_file
from skillpm.installer.disk.stat_cache import read_stat_cache
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE, has_escaping_link
from skillpm.kinds.base import Pin
from skillpm.locking.yanked import find_index_warnings
from skillpm.operations.inspect.list import ListedSkill, list_skills
from skillpm.registry.metadata_overlay import select_checkable_needs
from skillpm.scope.effective_settings import read_user_setting
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope import Scope
from skillpm.scope.scope_permissions import load_rules, refuse_denied
from skillpm.scope.scope_policy import load_scope_policies
from skillpm.serving.availability import Environment
from skillpm.settings import Settings
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import Skill, read_skill

if TYPE_CHECKING:
    from skillpm.vetting.applied_rules import AppliedRule


class ShownFile(Value):
    """One file of a skill, and whether it is as installed."""

    path: str
    size: int
    digest: str
    is_executable: bool
    state: str


class SkillDetails(Value):
    """Everything known about one skill."""

    listed: ListedSkill
    skill: Skill
    # Requirements that are not met here: programs, `$VARIABLE`, systems.
    missing: tuple[str, ...]
    dependencies: dict[str, Any]
    files: tuple[ShownFile, ...]
    findings: tuple[Finding, ...]
    index_warning: str = ""
    # The locked fingerprint of the key that signed it; empty if there is none.
    signer: str = ""
    # The rules about signatures that apply to its source.
    trust: "tuple[AppliedRule, ...]" = ()


def find_applied_rules(scope: Scope, settings: Settings, pin: Pin) -> "tuple[AppliedRule, ...]":
    """Return the rules about signatures that apply to a source; few users have any."""
    if read_user_setting(settings, "trust") is None and load_scope_policies(scope, settings) is None:
        return ()
    from skillpm.vetting import applied_rules  # noqa: PLC0415  (as above)

    return applied_rules.find_applied_rules(scope, settings, pin)


def show_skill(project: Project, name: str) -> SkillDetails:
    """Return the details of an installed or local skill. Raises `NotFoundError` with similar names."""
    listed = find_skill(project, name)
    refuse_escaping_link(project.scope, name)
    listed_name = SkillName(name)
    locked = read_project_files(project).lockfile.skills.get(listed_name)
    applied = () if locked is None else find_applied_rules(project.scope, project.settings, locked.pin)

    def read_details(view: ReadView) -> tuple[SkillDetails | None, bool]:
        folder = view.skill_path(name)
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
        legacy_metadata = view.read_receipt().inherited.get(listed_name)
        if legacy_metadata is not None:
            skill = skill.replace(requires=merge_requirements(skill.requires, legacy_metadata.requires))
        environment = Environment(project.settings.environ)
        missing = environment.find_unmet(skill.requires.bins, select_checkable_needs(skill.requires))
        details = SkillDetails(
            listed=listed,
            skill=skill,
            missing=missing,
            dependencies={} if locked is None else dict(locked.dependencies),
            files=tuple(_list_files(view, project.scope, name)),
            findings=skill.findings,
            signer="" if locked is None else locked.signer,
            trust=applied,
            index_warning=""
            if locked is None
            else find_index_warnings(project, {listed_name: locked}).get(listed_name, ""),
        )
        return details, all(file.state in {"ok", "unmanaged"} for file in details.files)

    result = read_until_consistent(project.layout, read_details)
    if result is None:
        raise _missing_skill_error(project.scope, name, project.layout.skill_path(name))
    return result


def _missing_skill_error(scope: Scope, name: str, folder: str) -> NotFoundError:
    if os.path.islink(folder):
        hint = f"`{scope.command('uninstall', name)}` removes the link"
        return NotFoundError(f"`{name}` is a link to a folder that no longer exists", where=folder, hint=hint)
    if os.path.lexists(folder):
        diff, sync = scope.command("diff", name), scope.command("sync", "--force")
        hint = f"run `{diff}` to see what is missing; `{sync}` backs it up and installs it again"
        return NotFoundError(f"`{name}` no longer has a SKILL.md", where=folder, hint=hint)
    hint = f"run `{scope.command('sync')}` to restore it"
    return NotFoundError(f"the folder of `{name}` no longer exists", where=folder, hint=hint)


def refuse_escaping_link(scope: Scope, name: str) -> None:
    """Raise `FileError` for a skill that is a link out of its project, whose target must not be disclosed."""
    if has_escaping_link(scope.layout, name):
        raise FileError(f"`{sanitize(name)}` is not read: {ESCAPING_LINK_MESSAGE}", where=scope.layout.skill_path(name))


def find_skill(project: Project, name: str) -> ListedSkill:
    """Find a skill in the list. Raises `NotAllowedError` for a denied name, whether or not the skill exists."""
    rules = load_rules(project.scope, project.settings)
    refuse_denied(rules, name)
    listing = list_skills(project.scope)
    for skill in listing.skills:
        if skill.name == name:
            return skill
    for problem in listing.problems:
        path, _, reason = problem.partition(": ")
        if path in {f"{name}/{file}" for file in SKILL_FILES}:
            raise DocumentError(f"`{name}` cannot be loaded: {reason}", where=f"{project.layout.directory}/{path}")
    names = [skill.name for skill in listing.skills if not rules.hides(skill.name)]
    hint = suggestion_hint(name, names, f"run `{project.command('list')}` to see all skills")
    raise NotFoundError(f"`{sanitize(name)}` is not in {project.layout.directory}", hint=hint)


def _list_files(view: ReadView, scope: Scope, name: str) -> list[ShownFile]:
    installed = view.read_receipt().skills.get(SkillName(name))
    folder = view.skill_path(name)
    on_disk = dict(walk_files(os.path.realpath(folder)))
    if installed is None or installed.digest is None:
        return [
            ShownFile(
                path=path,
                size=entry.stat().st_size,
                digest="",
                is_executable=bool(entry.stat().st_mode & 0o100),
                state="unmanaged",
            )
            for path, entry in sorted(on_disk.items())
        ]
    stat_cache = read_stat_cache(scope.layout.stat_cache)
    changes = {change.path: change.state for change in find_changes(folder, name, installed.files, stat_cache)}
    paths = sorted({*installed.files, *on_disk})
    return [_make_file(path, installed.files.get(path), changes.get(path, "ok"), on_disk) for path in paths]


def _make_file(path: str, file: InstalledFile | None, state: str, on_disk: dict[str, os.DirEntry[str]]) -> ShownFile:
    if file is None:
        size = on_disk[path].stat(follow_symlinks=False).st_size
        return ShownFile(path=path, size=size, digest="", is_executable=False, state=state)
    return ShownFile(
        path=path, size=file.size, digest=f"sha256:{file.sha256}", is_executable=file.executable, state=state
    )
