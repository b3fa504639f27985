"""`verify`: every installed byte against the lockfile. Reads everything, trusts no cache."""

import os
from collections.abc import Mapping
from typing import Literal

from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import InstalledSkill, Receipt
from skillpm.installer.actions import version_label
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk_state import FOLDER_REPLACED, REPLACED_REASON, FileChange, digest_folder, find_changes
from skillpm.installer.links.state import read_link_state
from skillpm.installer.stat_cache import StatCache
from skillpm.operations.context.missing_manifest import require_project_manifest
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.inspect.yanked import find_index_warnings
from skillpm.operations.install.live_links import wrong_target_message

LINK_REPLACED = "does not lead here any more"
State = Literal["ok", "modified", "missing", "not-locked", "other-version", "link", "broken-link"]


class VerifiedSkill(Value):
    """The verdict on one skill; `detail` says in words what is wrong."""

    name: SkillName
    state: State
    detail: str = ""
    files: tuple[FileChange, ...] = ()


class VerifyReport(Value):
    """The verdict on a scope. `index`: what indexes say against what is locked, as they were heard last.
    `lockfile_is_there`: where it is not, there is nothing that skills could be compared with.
    """

    skills: tuple[VerifiedSkill, ...]
    is_pending: bool = False
    index_warnings: Mapping[SkillName, str] = EMPTY_MAPPING
    has_lockfile: bool = True

    @property
    def is_ok(self) -> bool:
        """Tell whether every byte is the locked one."""
        return all(skill.state in {"ok", "link"} for skill in self.skills)


def verify(scope: Scope, context: Context) -> VerifyReport:
    """Check every skill of lockfile and receipt."""
    require_project_manifest(scope, context.settings)
    papers = read_project_files(scope, context)

    def look(seen: ReadView) -> tuple[VerifyReport, bool]:
        receipt = seen.read_receipt()
        text = seen.read_document("lockfile", scope.lockfile)
        locked = papers.lockfile.skills
        if seen.is_pending and text is not None:
            from skillpm.formats.lockfile import read_lockfile  # noqa: PLC0415

            locked = read_lockfile(text, scope.lockfile).skills
        names = sorted({*locked, *receipt.skills})
        bring_back = f"`skillpm sync{scope.flag}`"
        skills = [
            _unlocked_result(name, receipt.skills.get(name), bring_back, is_required=name in papers.requirements)
            if name not in locked
            else _verify_skill(name, seen, locked[name], receipt.skills.get(name), bring_back)
            for name in names
        ]
        skills = [_verify_live_link(skill, scope, context, locked, receipt) for skill in skills]
        skills = [_verify_links(skill, scope, context, receipt) for skill in skills]
        # Nobody knows what a skill of the user's own should be; but its links are ours.
        own = sorted({name for links in receipt.links.values() for name in links} - {*names})
        linked = [_verify_links(VerifiedSkill(name=name, state="ok"), scope, context, receipt) for name in own]
        skills += [skill for skill in linked if skill.state != "ok"]
        verdict = VerifyReport(
            skills=tuple(skills),
            is_pending=seen.is_pending,
            index_warnings=find_index_warnings(scope, context, papers.lockfile.skills),
            has_lockfile=text is not None,
        )
        return verdict, verdict.is_ok

    return read_until_consistent(scope.layout, look)


def _unlocked_result(
    name: SkillName, installed: InstalledSkill | None, sync_command: str, *, is_required: bool
) -> VerifiedSkill:
    there = f"installed {version_label(installed)}".rstrip()
    does = "locks" if is_required else "removes"
    return VerifiedSkill(
        name=name, state="not-locked", detail=f"{there}, but not in the lockfile; {sync_command} {does} it"
    )


def _verify_skill(
    name: SkillName, view: ReadView, locked: LockedSkill, installed: InstalledSkill | None, sync_command: str
) -> VerifiedSkill:
    folder = view.skill_path(name)
    if not os.path.lexists(folder):
        detail = f"locked, but not installed; {sync_command} brings it back"
        return VerifiedSkill(name=name, state="missing", detail=detail)
    if locked.digest is None:
        if os.path.isdir(folder):
            return VerifiedSkill(name=name, state="link", detail="a live link is not checked")
        return VerifiedSkill(name=name, state="missing", detail="its live link leads to no folder")
    return _verify_content(name, folder, locked, installed, sync_command)


def _verify_content(
    name: SkillName, folder: str, locked: LockedSkill, installed: InstalledSkill | None, sync_command: str
) -> VerifiedSkill:
    if os.path.islink(folder) or not os.path.isdir(folder):
        return VerifiedSkill(name=name, state="modified", detail=REPLACED_REASON, files=FOLDER_REPLACED)
    if installed is None:
        if digest_folder(folder) == locked.digest:
            return VerifiedSkill(name=name, state="ok")
        return VerifiedSkill(
            name=name, state="modified", detail="not what the lockfile says, and not installed by skillpm"
        )
    changes = tuple(find_changes(folder, name, installed.files, StatCache()))
    if changes and digest_folder(folder, installed.files) == installed.digest == locked.digest:
        detail = f"only executable bits differ; {sync_command} puts them back"
        return VerifiedSkill(name=name, state="modified", detail=detail, files=changes)
    if changes:
        return VerifiedSkill(name=name, state="modified", detail="edited since it was installed", files=changes)
    if installed.digest != locked.digest:
        says, there = version_label(locked), version_label(installed)
        if says == there:
            says, there = shorten_distinct_digests(locked.digest or "", installed.digest or "")
        detail = f"the lockfile says {says}, installed is {there}; {sync_command} installs what it says"
        return VerifiedSkill(name=name, state="other-version", detail=detail)
    found = digest_folder(folder, installed.files)
    if found != locked.digest:
        there, says = shorten_distinct_digests(found, locked.digest or "")
        return VerifiedSkill(name=name, state="modified", detail=f"its content is {there}, locked {says}")
    return VerifiedSkill(name=name, state="ok")


def _verify_live_link(
    skill: VerifiedSkill, scope: Scope, context: Context, locked: Mapping[SkillName, LockedSkill], receipt: Receipt
) -> VerifiedSkill:
    """Find a live link that leads elsewhere: somebody changed it, or the lockfile."""
    wanted, installed = locked.get(skill.name), receipt.skills.get(skill.name)
    if wanted is None or wanted.digest is not None:
        return skill
    elsewhere = wrong_target_message(scope, context.settings, skill.name, wanted.pin)
    if not elsewhere:
        return skill
    is_edit = installed is None or installed.pin == wanted.pin
    return skill.replace(state="modified" if is_edit else "other-version", detail=elsewhere)


def _verify_links(skill: VerifiedSkill, scope: Scope, context: Context, receipt: Receipt) -> VerifiedSkill:
    """Find links that the receipt promises and that are not there."""
    if skill.state != "ok":
        return skill
    name = SkillName(skill.name)
    paths = scope.link_folders(context.settings)
    digest = receipt.copy_digest(name)
    for folder, links in receipt.links.items():
        if name not in links:
            continue
        kind = read_link_state(paths, folder, name, scope.layout, (links[name], digest)).kind
        if kind == "absent":
            detail = f"its link {folder}/{name} is gone; `skillpm sync{scope.flag}` makes it again"
            return VerifiedSkill(name=skill.name, state="broken-link", detail=detail)
        if kind == "foreign":
            detail = f"{folder}/{name} {LINK_REPLACED}"
            return VerifiedSkill(name=skill.name, state="broken-link", detail=detail)
    return skill
