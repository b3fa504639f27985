"""Take the links to blocked skills away, whatever else stops a command (ADR 57).

This needs policies, the receipt and the files of linked skills, and neither manifest nor lockfile: a block holds also
where these cannot be read, while skills have local edits, and with `--frozen`.
"""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress

from skillpm.change.executor import PlannedChange, execute
from skillpm.change.present_skills import back_up_edited_copies
from skillpm.core.names import SkillName
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.disk.layout import load_receipt
from skillpm.installer.disk.skill_file import read_skill_file
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.scope.project import Project
from skillpm.scope.scope import Scope
from skillpm.scope.scope_lock import lock_scope
from skillpm.scope.scope_policy import load_scope_policies
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill
from skillpm.trust.policy import Policies


def unlink_blocked(project: Project) -> tuple[SkillName, ...]:
    """Remove the links and copies of blocked skills from agents' folders, and return the skills that had any.

    An edited copy becomes a backup. The folders in the skills directory stay: they are evidence.
    """
    policies = load_scope_policies(project.scope, project.settings)
    if policies is None or not policies.has_blocked or not find_blocked_links(project.scope, policies):
        return ()
    return remove_links(project, lambda _: find_blocked_links(project.scope, policies), "is blocked by policy")


def remove_links(
    project: Project, find_names: Callable[[Receipt], Sequence[SkillName]], reason: str
) -> tuple[SkillName, ...]:
    """Remove the links and copies of skills from agents' folders, with a warning for each; return their names."""
    with lock_scope(project, may_write_documents=False):
        receipt = load_receipt(project.layout)
        names = tuple(find_names(receipt))
        links = _plan_removal(receipt, names)
        links = back_up_edited_copies(project.scope, project.settings, receipt, links, names)
        copies = {name: digest for name, digest in receipt.copies.items() if name not in names}
        execute(project, PlannedChange(receipt=receipt.replace(links=links.links, copies=copies), links=links))
    for name in names:
        folders = ", ".join(links.links_to_remove[name])
        project.reporter.warn(f"`{name}` {reason}, so it is no longer linked in {folders}")
    return names


def find_blocked_links(scope: Scope, policies: Policies) -> tuple[SkillName, ...]:
    """Return the linked skills that a policy blocks, sorted: by any of their names, or by the digest of any content.

    Content is what is recorded, what was copied, and what the files are now, edited or not.
    """
    receipt = load_receipt(scope.layout)
    return tuple(name for name in sorted(receipt.linked_skills) if _is_blocked(scope, policies, receipt, name))


def _is_blocked(scope: Scope, policies: Policies, receipt: Receipt, name: SkillName) -> bool:
    folder = scope.layout.skill_path(name)
    if policies.find_blocked([name, *_read_declared_name(folder)], "") is not None:
        return True
    if not policies.blocks_digests:
        return False
    installed = receipt.skills.get(name)
    digests = {str(installed.digest or "") if installed else "", str(receipt.copy_digest(name) or "")}
    with suppress(OSError):
        digests.add(digest_folder(os.path.realpath(folder)))
    return any(policies.find_blocked([], digest) is not None for digest in digests)


def _read_declared_name(folder: str) -> Iterator[str]:
    with suppress(OSError, NotLoadable):
        yield read_skill(read_skill_file(folder)).declared


def _plan_removal(receipt: Receipt, names: Collection[SkillName]) -> LinkPlan:
    kept = {
        folder: {name: kind for name, kind in links.items() if name not in names}
        for folder, links in receipt.links.items()
    }
    removed = {name: tuple(folder for folder, links in receipt.links.items() if name in links) for name in names}
    return LinkPlan(links={folder: links for folder, links in kept.items() if links}, links_to_remove=removed)
