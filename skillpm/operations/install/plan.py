"""Look ahead: what lies there, what is to be, and the actions that lead from one to the other. Changes nothing."""

import os
from collections.abc import Mapping, Sequence

from skillpm.core.digest import Digest, content_hash
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.values import NOTHING, Value
from skillpm.fetchers.base import variant_of
from skillpm.formats.index_sources import IndexPlace
from skillpm.formats.legacy_metadata import Inherited
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.receipt import InstalledFile, InstalledSkill, Receipt, write_receipt
from skillpm.installer.actions import Action, Wishes, plan
from skillpm.installer.disk_state import OnDisk, survey, walk_files
from skillpm.installer.layout import load_receipt, registry_text
from skillpm.installer.links.created_folders import with_made_folders
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.stat_cache import Scan, read_scan
from skillpm.operations.context.project_files import Paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.blockers import (
    Shown,
    is_foreign,
    planned_links,
    refuse_unknown,
    stop_if_blocked,
    with_links,
)
from skillpm.operations.install.live_links import with_live_links
from skillpm.operations.install.lock_resolution import lock_text
from skillpm.operations.install.unmanaged_links import OwnSkills, forgotten, tell_outside
from skillpm.registry.builder import Ahead, build_registry, known_registry


class Outlook(Value):
    """A change that was planned: what is there, what is to be, and the actions that lead from one to the other.

    `named` are the indexes that the manifest did not name before.
    """

    papers: Paperwork
    lockfile: Lockfile
    receipt: Receipt
    scan: Scan
    disk: Mapping[SkillName, OnDisk]
    actions: tuple[Action, ...]
    links: LinkPlan
    copies: Mapping[SkillName, Digest] = NOTHING
    documents: Mapping[str, str] = NOTHING
    named: tuple[IndexPlace, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Tell whether all is as it should be."""
        return not self.documents and all(action.verb == "keep" for action in self.actions)

    @property
    def comes(self) -> set[SkillName]:
        """The skills whose files are to be written."""
        writing = (action for action in self.actions if action.verb in {"add", "update"})
        return {action.name for action in writing if self._needs_files(action)}

    def _needs_files(self, action: Action) -> bool:
        """Tell whether files must be written: not when only the commit moved and the folder's tree is the same."""
        old, new = self.receipt.skills.get(action.name), self.lockfile.skills[action.name]
        if action.verb == "add" or old is None or self.disk[action.name].kind != "intact":
            return True
        if new.digest is None:
            return old.pin != new.pin  # a live link says where it leads, and nothing else
        return old.digest != new.digest or variant_of(old.pin) != variant_of(new.pin)


def outlook(scope: Scope, tools: Tools, papers: Paperwork, lockfile: Lockfile, wishes: Wishes) -> Outlook:
    """Plan; nothing is changed, fetched or locked. Raises `BlockedError` where somebody's work is in the way."""
    layout = scope.layout
    receipt, scan = load_receipt(layout), read_scan(layout.scan)
    disk = survey(layout.directory, {*lockfile.skills, *receipt.skills, *wishes.gone}, receipt.skills, scan)
    disk = with_live_links(scope, tools.settings, disk, receipt.skills)
    actions = plan(lockfile.skills, receipt.skills, disk, wishes)
    after = receipt.but(
        skills=receipt_after(scope, receipt, lockfile, disk, actions),
        inherited=inherited_after(scope, receipt, actions),
    )
    before = registry_text(layout)
    known = known_registry(layout, before, scan)
    # Where no folder comes or goes, registry and receipt can be told already: whether they change says whether there
    # is anything to do at all.
    built = None
    if not any(action.verb in {"add", "update", "remove"} for action in actions):
        intact = {name for name, found in disk.items() if found.kind == "intact"}
        built = build_registry(layout, after, known, Ahead(intact=intact), disabled=papers.disabled)
    settled = {action.name for action in actions if not is_foreign(action, receipt)}
    listed = built or build_registry(layout, after, known, Ahead(gone=settled), disabled=papers.disabled)
    own = OwnSkills.of({name: entry for name, entry in listed.entries.items() if name not in settled}, listed.disabled)
    refuse_unknown(wishes.keep, {*disk, *own.names})
    tell_outside(listed.problems, tools.reporter.warning)
    for remark in listed.remarks:
        tools.reporter.warning(f"{show(remark.path, 80)}: {remark.message}")
    if wishes.linking:
        own.tell_misnamed(tools.reporter.warning)
    actions = (*actions, *own.actions({action.name for action in actions}))
    copies = own.copies(layout, receipt, tools.settings.link_mode)
    shown = Shown(
        installed={action.name for action in actions if action.verb not in {"remove", "blocked"}} & settled,
        own={name: copies.get(name) for name in own.names},
    )
    links = planned_links(scope, tools, papers.but(lockfile=lockfile), receipt, shown, wishes)
    actions = with_links(actions, links, wishes)
    stop_if_blocked(actions, links, {*papers.lockfile.skills, *receipt.skills}, wishes)
    actions = (*actions, *forgotten(layout, links, {action.name for action in actions}))
    after = after.but(links=links.links, copies=own.copied(links.links, copies))
    after = with_made_folders(receipt, after, scope.link_folders(tools.settings))
    documents = {"manifest": (papers.manifest_read, papers.manifest_text)}
    if lockfile.skills or papers.lockfile_text is not None:
        documents["lockfile"] = (papers.lockfile_text, lock_text(lockfile, papers))
    if built is not None:
        if lockfile.skills or built.entries or before:
            documents["registry"] = (before, built.text)
        if after != receipt:
            documents["receipt"] = ("", write_receipt(after))
    return Outlook(
        papers=papers,
        lockfile=lockfile,
        receipt=receipt,
        scan=scan,
        disk=disk,
        actions=actions,
        links=links,
        copies=after.copies,
        documents={role: new for role, (old, new) in documents.items() if new is not None and new != old},
    )


def receipt_after(
    scope: Scope,
    receipt: Receipt,
    lockfile: Lockfile,
    disk: Mapping[SkillName, OnDisk],
    actions: Sequence[Action],
) -> dict[SkillName, InstalledSkill]:
    """Give the receipt's skills after the actions, but for those whose files are yet to be staged."""
    after = dict(receipt.skills)
    for action in actions:
        locked = lockfile.skills.get(action.name)
        if action.verb == "remove":
            after.pop(action.name, None)
        elif action.verb in {"keep", "relink"} and locked is not None and disk[action.name].digest == locked.digest:
            after[action.name] = _adopted(scope, action.name, locked, receipt.skills.get(action.name))
        elif action.verb == "update" and locked is not None and action.name in after:
            after[action.name] = after[action.name].but(pin=locked.pin, version=locked.version)
    return after


def inherited_after(scope: Scope, receipt: Receipt, actions: Sequence[Action]) -> dict[SkillName, Inherited]:
    """Give what is still inherited after the actions: it goes with the folder it was told of."""
    replaced = {action.name for action in actions if action.verb == "remove"}
    replaced |= {action.name for action in actions if action.aside and action.name not in receipt.skills}
    return {
        name: facts
        for name, facts in receipt.inherited.items()
        if name not in replaced and (name in receipt.skills or os.path.lexists(scope.layout.skill(name)))
    }


def _adopted(scope: Scope, name: SkillName, locked: LockedSkill, old: InstalledSkill | None) -> InstalledSkill:
    """Give the receipt's entry of a folder whose content is the locked one already."""
    if old is not None and old.digest == locked.digest and old.pin == locked.pin:
        return old
    if locked.digest is None:
        return InstalledSkill(pin=locked.pin, digest=None, version=locked.version)
    files = {}
    for path, entry in walk_files(scope.layout.skill(name)):
        state = entry.stat(follow_symlinks=False)
        with open(entry.path, "rb") as file:
            data = file.read()
        files[path] = InstalledFile(sha256=content_hash(data), size=len(data), executable=bool(state.st_mode & 0o100))
    return InstalledSkill(pin=locked.pin, digest=locked.digest, version=locked.version, files=files)
