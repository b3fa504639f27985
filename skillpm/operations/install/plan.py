"""Look ahead: what lies there, what is to be, and the actions that lead from one to the other. Changes nothing."""

import os
from collections.abc import Mapping, Sequence

from skillpm.core.digest import Digest, content_hash
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.fetchers.base import variant_of
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.legacy_metadata import LegacyMetadata
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.receipt import InstalledFile, InstalledSkill, Receipt, write_receipt
from skillpm.installer.actions import Action, InstallOptions, plan_actions
from skillpm.installer.disk_state import InstalledState, read_installed_states, walk_files
from skillpm.installer.layout import load_receipt, read_registry_text
from skillpm.installer.links.created_folders import record_created_folders
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.stat_cache import StatCache, read_stat_cache
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.blockers import (
    VisibleSkills,
    apply_link_plan,
    check_keep_names,
    is_unmanaged,
    plan_skill_links,
    raise_if_blocked,
)
from skillpm.operations.install.live_links import mark_edited_links
from skillpm.operations.install.lock_resolution import render_lockfile
from skillpm.operations.install.unmanaged_links import LocalSkills, make_orphan_actions, warn_escaping_links
from skillpm.registry.builder import PendingChanges, build_registry, load_prior_state


class InstallPlan(Value):
    """A change that was planned: what is there, what is to be, and the actions that lead from one to the other.

    `named` are the indexes that the manifest did not name before.
    """

    files: ProjectFiles
    lockfile: Lockfile
    receipt: Receipt
    stat_cache: StatCache
    disk: Mapping[SkillName, InstalledState]
    actions: tuple[Action, ...]
    links: LinkPlan
    copies: Mapping[SkillName, Digest] = EMPTY_MAPPING
    documents: Mapping[str, str] = EMPTY_MAPPING
    added_indexes: tuple[ConfiguredIndex, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Tell whether all is as it should be."""
        return not self.documents and all(action.verb == "keep" for action in self.actions)

    @property
    def written_skills(self) -> set[SkillName]:
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


def plan_install(
    scope: Scope, context: Context, files: ProjectFiles, lockfile: Lockfile, options: InstallOptions
) -> InstallPlan:
    """Plan; nothing is changed, fetched or locked. Raises `BlockedError` where somebody's work is in the way."""
    layout = scope.layout
    receipt, scan = load_receipt(layout), read_stat_cache(layout.stat_cache)
    disk = read_installed_states(
        layout.directory, {*lockfile.skills, *receipt.skills, *options.unmanaged_to_remove}, receipt.skills, scan
    )
    disk = mark_edited_links(scope, context.settings, disk, receipt.skills)
    actions = plan_actions(lockfile.skills, receipt.skills, disk, options)
    after = receipt.replace(
        skills=update_receipt(scope, receipt, lockfile, disk, actions),
        inherited=update_legacy_metadata(scope, receipt, actions),
    )
    before = read_registry_text(layout)
    known = load_prior_state(layout, before, scan)
    # Where no folder comes or goes, registry and receipt can be told already: whether they change says whether there
    # is anything to do at all.
    built = None
    if not any(action.verb in {"add", "update", "remove"} for action in actions):
        intact = {name for name, found in disk.items() if found.kind == "intact"}
        built = build_registry(layout, after, known, PendingChanges(intact_skills=intact), disabled=files.disabled)
    settled = {action.name for action in actions if not is_unmanaged(action, receipt)}
    listed = built or build_registry(
        layout, after, known, PendingChanges(removed_skills=settled), disabled=files.disabled
    )
    own = LocalSkills.from_entries(
        {name: entry for name, entry in listed.entries.items() if name not in settled}, listed.disabled
    )
    check_keep_names(options.keep, {*disk, *own.versions})
    warn_escaping_links(listed.problems, context.reporter.warn)
    for remark in listed.warnings:
        context.reporter.warn(f"{sanitize(remark.path, 80)}: {remark.message}")
    if options.is_linking_requested:
        own.warn_invalid_names(context.reporter.warn)
    actions = (*actions, *own.make_actions({action.name for action in actions}))
    copies = own.digest_copies(layout, receipt, context.settings.link_mode)
    shown = VisibleSkills(
        installed={action.name for action in actions if action.verb not in {"remove", "blocked"}} & settled,
        local={name: copies.get(name) for name in own.versions},
    )
    links = plan_skill_links(scope, context, files.replace(lockfile=lockfile), receipt, shown, options)
    actions = apply_link_plan(actions, links, options)
    raise_if_blocked(actions, links, {*files.lockfile.skills, *receipt.skills}, options)
    actions = (*actions, *make_orphan_actions(layout, links, {action.name for action in actions}))
    after = after.replace(links=links.links, copies=own.select_copied(links.links, copies))
    after = record_created_folders(receipt, after, scope.link_folders(context.settings))
    documents = {"manifest": (files.original_manifest_text, files.manifest_text)}
    if lockfile.skills or files.lockfile_text is not None:
        documents["lockfile"] = (files.lockfile_text, render_lockfile(lockfile, files))
    if built is not None:
        if lockfile.skills or built.entries or before:
            documents["registry"] = (before, built.text)
        if after != receipt:
            documents["receipt"] = ("", write_receipt(after))
    return InstallPlan(
        files=files,
        lockfile=lockfile,
        receipt=receipt,
        stat_cache=scan,
        disk=disk,
        actions=actions,
        links=links,
        copies=after.copies,
        documents={role: new for role, (old, new) in documents.items() if new is not None and new != old},
    )


def update_receipt(
    scope: Scope,
    receipt: Receipt,
    lockfile: Lockfile,
    disk: Mapping[SkillName, InstalledState],
    actions: Sequence[Action],
) -> dict[SkillName, InstalledSkill]:
    """Give the receipt's skills after the actions, but for those whose files are yet to be staged."""
    after = dict(receipt.skills)
    for action in actions:
        locked = lockfile.skills.get(action.name)
        if action.verb == "remove":
            after.pop(action.name, None)
        elif action.verb in {"keep", "relink"} and locked is not None and disk[action.name].digest == locked.digest:
            after[action.name] = _adopt_skill(scope, action.name, locked, receipt.skills.get(action.name))
        elif action.verb == "update" and locked is not None and action.name in after:
            after[action.name] = after[action.name].replace(pin=locked.pin, version=locked.version)
    return after


def update_legacy_metadata(
    scope: Scope, receipt: Receipt, actions: Sequence[Action]
) -> dict[SkillName, LegacyMetadata]:
    """Give what is still inherited after the actions: it goes with the folder it was told of."""
    replaced = {action.name for action in actions if action.verb == "remove"}
    replaced |= {action.name for action in actions if action.needs_backup and action.name not in receipt.skills}
    return {
        name: facts
        for name, facts in receipt.inherited.items()
        if name not in replaced and (name in receipt.skills or os.path.lexists(scope.layout.skill_path(name)))
    }


def _adopt_skill(scope: Scope, name: SkillName, locked: LockedSkill, old: InstalledSkill | None) -> InstalledSkill:
    """Give the receipt's entry of a folder whose content is the locked one already."""
    if old is not None and old.digest == locked.digest and old.pin == locked.pin:
        return old
    if locked.digest is None:
        return InstalledSkill(pin=locked.pin, digest=None, version=locked.version)
    files = {}
    for path, entry in walk_files(scope.layout.skill_path(name)):
        state = entry.stat(follow_symlinks=False)
        with open(entry.path, "rb") as file:
            data = file.read()
        files[path] = InstalledFile(sha256=content_hash(data), size=len(data), executable=bool(state.st_mode & 0o100))
    return InstalledSkill(pin=locked.pin, digest=locked.digest, version=locked.version, files=files)
