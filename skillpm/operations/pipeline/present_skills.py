"""The skills whose files stay as they are, and which of them agents must not get."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.core.names import SkillName
from skillpm.fetchers.base import variant_of
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import Action
from skillpm.installer.disk_state import InstalledState, digest_folder
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.operations.context.acceptance import Acceptance, PresentSkill, find_claim
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.pipeline.blockers import is_unmanaged
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.operations.content_validation.problems import Problem
    from skillpm.operations.context.validation_options import ValidationOptions

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
    return old.digest != new.digest or variant_of(old.pin) != variant_of(new.pin)


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
        if state is None or state.kind == "absent" or action.verb in {"remove", "blocked"}:
            continue
        if needs_files(action, lockfile, receipt, disk):
            continue  # checked as new content
        claim = find_claim(name, lockfile.skills, receipt.skills)
        folder = scope.layout.skill_path(name)
        is_local = is_unmanaged(action, receipt)
        yield PresentSkill(name=name, folder=folder, claim=None if is_local else claim, digest=state.digest)
    for name in sorted(local):
        yield PresentSkill(name=name, folder=scope.layout.skill_path(name))


def find_refused_skills(
    scope: Scope, context: Context, present: Sequence[PresentSkill], options: "ValidationOptions", *, may_fetch: bool
) -> Refused:
    """Return the skills that a rule refuses as they are. What this machine has accepted before is not read again."""
    acceptance = Acceptance(scope, context.settings)
    unknown = [skill for skill in present if not acceptance.has(skill)]
    refused: Refused = {}
    if unknown:
        from skillpm.operations.content_validation.present import find_refused  # noqa: PLC0415  (with the audit)

        refused = find_refused(scope, context, unknown, options, may_fetch=may_fetch)
    if not refused:
        acceptance.add_directory(present)
    return refused


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
