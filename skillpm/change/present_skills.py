"""The skills whose files stay as they are, and which of them agents must not get."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.change.blockers import find_edited, is_unmanaged
from skillpm.change.local_skills import source_folder
from skillpm.core.names import SkillName
from skillpm.formats.edit_policy import EditPolicy
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.manifest import Manifest
from skillpm.formats.receipt import InstalledSkill, Receipt
from skillpm.installer.actions import Action
from skillpm.installer.disk.disk_state import InstalledState, digest_folder, read_installed_states
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.disk.stat_cache import read_stat_cache
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.scope.effective_settings import read_edit_policies
from skillpm.scope.project import Project
from skillpm.scope.scope import Scope
from skillpm.settings import Settings
from skillpm.vetting.acceptance import Acceptance, PresentSkill, find_claim

if TYPE_CHECKING:
    from skillpm.vetting.problems import Problem
    from skillpm.vetting.validation_options import ValidationOptions

Refused = Mapping[SkillName, "tuple[Problem, ...]"]
FindRefused = Callable[[Sequence[PresentSkill]], Refused]


def needs_files(action: Action, lockfile: Lockfile, receipt: Receipt, disk: Mapping[SkillName, InstalledState]) -> bool:
    """Return whether an action writes files: not if the commit has changed, and the folder's tree has not."""
    if action.verb not in {"add", "update"}:
        return False
    old, new = receipt.skills.get(action.name), lockfile.skills[action.name]
    if action.verb == "add" or old is None or disk[action.name].kind != "intact":
        return True
    if new.digest is None:
        return old.pin != new.pin  # a live link has no content but its target
    return old.digest != new.digest or old.pin.store_variant() != new.pin.store_variant()


def find_present(
    scope: Scope,
    lockfile: Lockfile,
    receipt: Receipt,
    disk: Mapping[SkillName, InstalledState],
    actions: Sequence[Action],
    local: Collection[SkillName],
) -> Iterator[PresentSkill]:
    """Yield the skills that stay as they are on disk, with what lockfile and receipt say of them."""
    for action in actions:
        name = action.name
        state = disk.get(name)
        if state is None or state.kind == "absent" or action.verb == "remove":
            continue
        if needs_files(action, lockfile, receipt, disk):
            continue  # checked as new content
        claim = find_claim(name, lockfile.skills, receipt.skills)
        folder = scope.layout.skill_path(name)
        is_local = is_unmanaged(action, receipt)
        yield PresentSkill(
            name=name, folder=folder, claim=None if is_local else claim, digest=state.digest, has_more=state.has_more
        )
    for name in sorted(local):
        yield PresentSkill(name=name, folder=scope.layout.skill_path(name))


def find_new_live_links(
    scope: Scope,
    settings: Settings,
    lockfile: Lockfile,
    receipt: Receipt,
    disk: Mapping[SkillName, InstalledState],
    actions: Sequence[Action],
) -> Iterator[PresentSkill]:
    """Yield the skills that a command will link to their own folders: their files are never checked as new content."""
    for action in actions:
        locked = lockfile.skills.get(action.name)
        if locked is not None and locked.digest is None and needs_files(action, lockfile, receipt, disk):
            yield PresentSkill(name=action.name, folder=source_folder(scope, settings, locked.pin), claim=locked)


def find_refused_skills(
    project: Project, present: Sequence[PresentSkill], options: "ValidationOptions", *, may_fetch: bool
) -> Refused:
    """Return the skills that a rule refuses as they are. What this machine has accepted before is not read again."""
    acceptance = Acceptance(project.scope, project.settings)
    unknown = [skill for skill in present if not acceptance.has(skill)]
    refused: Refused = {}
    if unknown:
        from skillpm.vetting.installed_check import find_refused  # noqa: PLC0415  (with the audit)

        refused = find_refused(project, unknown, options, may_fetch=may_fetch)
    if not refused:
        acceptance.add_directory(present)
    return refused


def read_lasting_edits(scope: Scope, settings: Settings, manifest: Manifest, *, is_strict: bool) -> EditPolicy:
    """Return what happens to local edits: what the manifest says, then `config.toml`.

    With `is_strict`, a manifest that comes with a checkout decides only about edits that this machine has accepted.
    """
    if is_strict and scope.kind == "project" and manifest.edits != EditPolicy():
        installed = load_receipt(scope.layout).skills
        states = read_installed_states(
            scope.layout.directory, installed, installed, read_stat_cache(scope.layout.stat_cache)
        )
        acceptance = Acceptance(scope, settings)
        accepted = {
            name: manifest.edits.find_mode(name)
            for name, state in states.items()
            if state.kind == "edited" and acceptance.is_known(_edited_skill(scope, name, state, installed))
        }
        manifest = manifest.replace(edits=EditPolicy(by_name=accepted))
    return read_edit_policies(manifest, settings)


def accept_edits(
    scope: Scope,
    settings: Settings,
    receipt: Receipt,
    disk: Mapping[SkillName, InstalledState],
    actions: Sequence[Action],
    refused: Refused,
) -> None:
    """Record the edits that actions keep, and that no rule refuses, as accepted on this machine."""
    acceptance = Acceptance(scope, settings)
    for action in find_edited(actions):
        if action.name in receipt.skills and action.name not in refused:
            skill = _edited_skill(scope, action.name, disk[action.name], receipt.skills)
            if acceptance.read(skill) is None:
                acceptance.add_content(skill, {})


def _edited_skill(
    scope: Scope,
    name: SkillName,
    state: InstalledState,
    installed: Mapping[SkillName, InstalledSkill],
) -> PresentSkill:
    """Return an edited skill as it is recorded: its claim is what was installed, since what is locked may change."""
    claim = find_claim(name, {}, installed)
    return PresentSkill(name=name, folder=scope.layout.skill_path(name), claim=claim, digest=state.digest)


def refused_messages(refused: Refused, outcome: str = "is refused") -> list[str]:
    """Return a warning for each refused skill, with its first reason."""
    return [
        f"`{name}` {outcome}: {first.text}{f'; and {len(others)} more' if others else ''}; no agent gets it"
        for name, (first, *others) in sorted(refused.items())
    ]


def back_up_edited_copies(
    scope: Scope, settings: Settings, receipt: Receipt, links: LinkPlan, names: Collection[SkillName]
) -> LinkPlan:
    """Return a plan that backs up the edited copies of skills that agents must not get; unchanged ones are deleted."""
    conflicts = {folder: [*skills] for folder, skills in links.conflicts.items()}
    for name, folders in links.links_to_remove.items():
        for folder in folders if name in names else ():
            path = os.path.join(scope.link_folders(settings).path(folder), name)
            is_copy = receipt.links[folder].get(name) == "copy" and os.path.isdir(path) and not os.path.islink(path)
            if is_copy and digest_folder(path) != receipt.copy_digest(name):
                conflicts.setdefault(folder, []).append(name)
    return links.replace(conflicts={folder: tuple(skills) for folder, skills in conflicts.items()})
