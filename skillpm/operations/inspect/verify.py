"""`verify`: compare every installed byte with the lockfile, without the stat cache."""

import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

from skillpm.change.local_skills import wrong_target_message
from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.core.names import SIGNATURE_FILE, SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.files import read_regular_file
from skillpm.formats.lockfile import LockedSkill, read_lockfile
from skillpm.formats.receipt import InstalledSkill, Receipt
from skillpm.installer.actions import version_label
from skillpm.installer.consistent_view import ReadView, read_until_consistent
from skillpm.installer.disk.disk_state import (
    FOLDER_REPLACED,
    LINE_ENDINGS_REASON,
    REPLACED_REASON,
    FileChange,
    differs_in_line_endings,
    digest_folder,
    find_changes,
)
from skillpm.installer.disk.stat_cache import StatCache
from skillpm.installer.links.state import read_link_state
from skillpm.locking.yanked import find_index_warnings
from skillpm.scope.effective_settings import read_user_setting
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files, require_project_manifest
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.scope.scope_policy import load_scope_policies, warn_of_old_policies

if TYPE_CHECKING:
    from skillpm.trust.policy import Policies

from skillpm.installer.disk.disk_state import read_installed_state
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.disk.stat_cache import read_stat_cache
from skillpm.vetting.acceptance import Acceptance, PresentSkill, find_claim

LINK_REPLACED = "no longer links to it"
Difference = Literal["modified", "missing", "not-locked", "other-version", "broken-link", "signature", "blocked"]
State = Literal["ok", "link"] | Difference


class VerifiedSkill(Value):
    """The result for one skill; `detail` is a text about what is wrong."""

    name: SkillName
    state: State
    detail: str = ""
    files: tuple[FileChange, ...] = ()


class VerifyReport(Value):
    """The result for a scope."""

    skills: tuple[VerifiedSkill, ...]
    is_pending: bool = False  # a change is in progress or was interrupted
    index_warnings: Mapping[SkillName, str] = EMPTY_MAPPING  # from the cached answers of indexes
    has_lockfile: bool = True  # without one, there is nothing to compare skills with

    @property
    def is_ok(self) -> bool:
        """Whether every installed byte matches the lockfile."""
        return all(skill.state in {"ok", "link"} for skill in self.skills)


def verify(project: Project) -> VerifyReport:
    """Verify every skill in the lockfile and in the receipt."""
    require_project_manifest(project.scope, project.settings)
    files, policies = read_project_files(project), load_scope_policies(project.scope, project.settings)
    if policies is not None or read_user_setting(project.settings, "trust") is not None:
        from skillpm.scope.trusted_signers import require_key_files  # noqa: PLC0415  (few users trust signers)

        require_key_files(project.scope, project.settings)
    warn_of_old_policies(policies, project.reporter.warn)
    fetchers = make_fetchers(project)
    fetchers.name_sources([*files.all_requirements.values(), *files.overrides.values()])

    def compare(view: ReadView) -> tuple[VerifyReport, bool]:
        receipt = view.read_receipt()
        text = view.read_document("lockfile", project.scope.lockfile)
        locked = files.lockfile.skills
        if view.is_pending and text is not None:
            locked = files.select(read_lockfile(text, project.scope.lockfile)).skills
        names = sorted({*locked, *receipt.skills})
        sync_command = f"`skillpm sync{project.scope.flag}`"
        skills = [
            _unlocked_result(name, receipt.skills[name], sync_command, is_required=name in files.requirements)
            if name not in locked
            else _verify_skill(name, view, locked[name], receipt.skills.get(name), sync_command)
            for name in names
        ]
        skills = [_verify_live_link(skill, project, locked, receipt) for skill in skills]
        skills = [_verify_signature(skill, view, fetchers, locked, receipt) for skill in skills]
        skills = [_verify_links(skill, project, receipt) for skill in skills]
        skills = [_verify_policy(skill, policies, locked, receipt) for skill in skills]
        # The content of a local skill cannot be verified, but its links can.
        local = sorted({name for links in receipt.links.values() for name in links} - {*names})
        linked = [_verify_links(VerifiedSkill(name=name, state="ok"), project, receipt) for name in local]
        skills += [skill for skill in linked if skill.state != "ok"]
        report = VerifyReport(
            skills=tuple(skills),
            is_pending=view.is_pending,
            index_warnings=find_index_warnings(project, files.lockfile.skills),
            has_lockfile=text is not None,
        )
        return report, report.is_ok

    return read_until_consistent(project.layout, compare)


def _unlocked_result(
    name: SkillName, installed: InstalledSkill, sync_command: str, *, is_required: bool
) -> VerifiedSkill:
    label = f"installed {version_label(installed)}".rstrip()
    verb = "locks" if is_required else "removes"
    return VerifiedSkill(
        name=name, state="not-locked", detail=f"{label}, but not in the lockfile; {sync_command} {verb} it"
    )


def _verify_skill(
    name: SkillName, view: ReadView, locked: LockedSkill, installed: InstalledSkill | None, sync_command: str
) -> VerifiedSkill:
    folder = view.skill_path(name)
    if not os.path.lexists(folder):
        detail = f"locked, but not installed; {sync_command} installs it"
        return VerifiedSkill(name=name, state="missing", detail=detail)
    if locked.digest is None:
        if os.path.isdir(folder):
            return VerifiedSkill(name=name, state="link", detail="a live link is not checked")
        return VerifiedSkill(name=name, state="missing", detail="the target of its live link is not a folder")
    return _verify_content(name, folder, locked, installed, sync_command)


def _verify_content(
    name: SkillName, folder: str, locked: LockedSkill, installed: InstalledSkill | None, sync_command: str
) -> VerifiedSkill:
    restore = f"{sync_command[:-1]} --force`"
    if os.path.islink(folder) or not os.path.isdir(folder):
        return VerifiedSkill(name=name, state="modified", detail=REPLACED_REASON, files=FOLDER_REPLACED)
    if installed is None:
        if digest_folder(folder) == locked.digest:
            return VerifiedSkill(name=name, state="ok")
        detail = "differs from the lockfile, and was not installed by skillpm"
        if differs_in_line_endings(folder, locked.digest):
            detail = f"{LINE_ENDINGS_REASON}; {restore} restores it"
        return VerifiedSkill(name=name, state="modified", detail=detail)
    changes = tuple(find_changes(folder, name, installed.files, StatCache()))
    if changes and digest_folder(folder, installed.files) == installed.digest == locked.digest:
        detail = f"only executable bits differ; {sync_command} restores them"
        return VerifiedSkill(name=name, state="modified", detail=detail, files=changes)
    if changes:
        detail = "edited since it was installed"
        if differs_in_line_endings(folder, locked.digest):
            detail = f"{LINE_ENDINGS_REASON}; {restore} restores it"
        return VerifiedSkill(name=name, state="modified", detail=detail, files=changes)
    if installed.digest != locked.digest:
        expected, actual = version_label(locked), version_label(installed)
        if expected == actual:
            expected, actual = shorten_distinct_digests(locked.digest or "", installed.digest or "")
        detail = f"{actual} is installed, {expected} is locked; {sync_command} installs the locked version"
        return VerifiedSkill(name=name, state="other-version", detail=detail)
    return VerifiedSkill(name=name, state="ok")  # the digest of a receipt's entry follows from the hashes of its files


def _verify_live_link(
    skill: VerifiedSkill, project: Project, locked: Mapping[SkillName, LockedSkill], receipt: Receipt
) -> VerifiedSkill:
    """Report a live link with another target than the locked one: an edit, or a change of the lockfile."""
    locked_skill, installed = locked.get(skill.name), receipt.skills.get(skill.name)
    if locked_skill is None or locked_skill.digest is not None:
        return skill
    message = wrong_target_message(project.scope, project.settings, skill.name, locked_skill.pin)
    if not message:
        return skill
    is_edit = installed is None or installed.pin == locked_skill.pin
    return skill.replace(state="modified" if is_edit else "other-version", detail=message)


def _verify_signature(
    skill: VerifiedSkill,
    view: ReadView,
    fetchers: FetcherDispatcher,
    locked: Mapping[SkillName, LockedSkill],
    receipt: Receipt,
) -> VerifiedSkill:
    """Verify a signature again, if config.toml has trusted signers for its source or the lockfile names a signer."""
    if skill.state != "ok" or skill.name not in receipt.skills:
        return skill
    entry, settings = locked[skill.name], fetchers.settings
    if read_user_setting(settings, "trust") is None and SIGNATURE_FILE not in receipt.skills[skill.name].files:
        return skill
    from skillpm.vetting.signers import check_signature, find_signatures_beside  # noqa: PLC0415  (few are signed)

    tree = read_installed(view.skill_path(skill.name), receipt.skills[skill.name])
    beside = partial(find_signatures_beside, fetchers, skill.name, entry, tree, view.layout)
    message, is_wrong = check_signature(settings, entry, tree, fetchers, beside).compare(entry)
    if message and not is_wrong:
        fetchers.reporter.warn(f"{skill.name}: {message}")
    return skill.replace(state="signature", detail=message) if is_wrong else skill


def read_installed(folder: str, installed: InstalledSkill) -> FileTree:
    """Return the files of an installed skill, which have just been verified against the receipt."""
    entries = [
        SourceEntry(path=path, data=read_regular_file(os.path.join(folder, path))).as_file(path)
        for path in sorted(installed.files, key=str.encode)
    ]
    return FileTree(files=tuple(entries))


def _verify_policy(
    skill: VerifiedSkill, policies: "Policies | None", locked: Mapping[SkillName, LockedSkill], receipt: Receipt
) -> VerifiedSkill:
    """Report a skill that a policy blocks, whatever else is wrong with it."""
    if policies is None or skill.state == "missing":
        return skill
    entry = receipt.skills.get(skill.name) or locked.get(skill.name)
    digest = None if entry is None else entry.digest
    detail = policies.describe_blocked([skill.name], digest or "")
    return skill.replace(state="blocked", detail=detail) if detail else skill


def _verify_links(skill: VerifiedSkill, project: Project, receipt: Receipt) -> VerifiedSkill:
    """Report links of the receipt that are missing or replaced."""
    if skill.state != "ok":
        return skill
    name = SkillName(skill.name)
    paths = project.scope.link_folders(project.settings)
    digest = receipt.copy_digest(name)
    for folder, links in receipt.links.items():
        if name not in links:
            continue
        kind = read_link_state(paths, folder, name, project.layout, (links[name], digest)).kind
        if kind == "absent":
            detail = f"its link {folder}/{name} is missing; `skillpm sync{project.scope.flag}` creates it again"
            return VerifiedSkill(name=skill.name, state="broken-link", detail=detail)
        if kind == "foreign":
            detail = f"{folder}/{name} {LINK_REPLACED}"
            return VerifiedSkill(name=skill.name, state="broken-link", detail=detail)
    return skill


def find_unchecked(project: Project) -> list[SkillName]:
    """Return the locked and recorded skills that are there, and that this machine has never accepted as they are."""
    receipt, stat_cache = load_receipt(project.layout).skills, read_stat_cache(project.layout.stat_cache)
    locked = read_project_files(project).lockfile.skills
    acceptance, unchecked = Acceptance(project.scope, project.settings), []
    for name in sorted({*receipt, *locked}):
        folder = project.layout.skill_path(name)
        state = read_installed_state(folder, name, receipt.get(name), stat_cache)
        claim = find_claim(name, locked, receipt)
        # An edited skill or a live link is judged by its files whenever it is used.
        if claim is None or claim.digest is None or state.digest != claim.digest:
            continue
        if not acceptance.is_known(PresentSkill(name=name, folder=folder, claim=claim, digest=state.digest)):
            unchecked.append(name)
    return unchecked
