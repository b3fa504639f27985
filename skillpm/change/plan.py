"""Plan a change: compare the lockfile with the installed skills, and derive the actions. Changes nothing."""

import os
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from skillpm.change.blockers import apply_link_plan, check_keep_names, is_unmanaged
from skillpm.change.local_skills import (
    LocalSkills,
    escaping_link_messages,
    make_orphan_actions,
    mark_edited_links,
)
from skillpm.change.present_skills import (
    FindRefused,
    Refused,
    back_up_edited_copies,
    find_new_live_links,
    find_present,
    needs_files,
)
from skillpm.change.skill_links import LinkKinds, SkillsToLink, plan_skill_links
from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import BlockedError
from skillpm.fetchers.common.base import is_proved
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.legacy_metadata import LegacyMetadata
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.receipt import InstalledFile, InstalledSkill, Receipt, write_receipt
from skillpm.installer.actions import Action, InstallOptions, hold_blocked, plan_actions
from skillpm.installer.disk.backups import describe_entry
from skillpm.installer.disk.disk_state import InstalledState, read_installed_states, walk_files
from skillpm.installer.disk.layout import Layout, load_receipt, read_registry_text
from skillpm.installer.disk.stat_cache import StatCache, read_file_stat, read_stat_cache
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.links.state import record_created_folders
from skillpm.locking.lock_resolution import render_lockfile
from skillpm.locking.upgrade import FailedUpdate
from skillpm.registry.build_state import BuildResult
from skillpm.registry.builder import PendingChanges, build_registry, load_prior_state
from skillpm.scope.left_out import LeftOut
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope
from skillpm.scope.scope_policy import load_scope_policies
from skillpm.settings import Settings
from skillpm.store import Proofs, Store
from skillpm.vetting.validation_options import ValidationOptions

if TYPE_CHECKING:
    from skillpm.trust.policy import Policies


from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.links.state import is_link


class InstallPlan(Value):
    """A planned change: the present state, the state to reach, and the actions that lead from one to the other."""

    files: ProjectFiles
    lockfile: Lockfile
    # The receipt as it is, and as it will be once the skills to write are recorded in it.
    receipt: Receipt
    new_receipt: Receipt
    disk: Mapping[SkillName, InstalledState]
    actions: tuple[Action, ...]
    links: LinkPlan
    # New texts, by role. Registry and receipt are among them only if no folder is written or removed.
    documents: Mapping[str, str] = EMPTY_MAPPING
    # What was read since the stat cache does not know it, as after a copy of the directory; None for nothing.
    unrecorded: BuildResult | None = None
    # Indexes that this change adds to the manifest.
    added_indexes: tuple[ConfiguredIndex, ...] = ()
    # Merged files may have conflict marks.
    allows_marks: bool = False
    # The skills that could not be upgraded, which this change leaves as they are locked.
    failures: tuple[FailedUpdate, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    validation: ValidationOptions = ValidationOptions()
    # The skills that stay on disk, and that no agent gets, with the reasons.
    refused: Refused = EMPTY_MAPPING
    # The live links that the command names, and that are not there yet.
    named_links: Collection[SkillName] = ()
    # The error for what would be overwritten: nothing is changed.
    block: BlockedError | None = None
    # The blocked actions that are left out (`InstallOptions.is_strict`), and the error once everything else is done.
    held: tuple[Action, ...] = ()
    late_block: BlockedError | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything is up to date."""
        return not self.documents and all(action.verb == "keep" for action in self.actions)

    @property
    def written_skills(self) -> set[SkillName]:
        """The skills whose files are to be written."""
        return {action.name for action in self.actions if needs_files(action, self.lockfile, self.receipt, self.disk)}

    @property
    def refused_on_disk(self) -> Refused:
        """What is refused as it is on disk; of a live link that the command names, something else may be there."""
        return {name: problems for name, problems in self.refused.items() if name not in self.named_links}

    def find_missing(self, store: Store, proofs: Proofs) -> set[SkillName]:
        """Return the skills to write whose content has to be fetched, or proved to be that of the locked commit."""
        skills = ((name, self.lockfile.skills[name]) for name in self.written_skills)
        return {name for name, skill in skills if not is_proved(name, skill, store, proofs)}


class ExpectedRegistry(Value):
    """The registry as far as it can be planned before anything is fetched."""

    # The present text.
    before: str | None
    # The registry after the change; None if it depends on skills that are not fetched yet.
    built: BuildResult | None
    # What is listed beside the skills of the lockfile.
    listed: BuildResult
    # Skills that the actions decide on: all others are local.
    decided: AbstractSet[SkillName]

    @property
    def local_skills(self) -> LocalSkills:
        """The skills that are in the registry and not in the lockfile."""
        local = {name: entry for name, entry in self.listed.entries.items() if name not in self.decided}
        return LocalSkills.from_entries(local, self.listed.disabled)

    def find_unrecorded(self, layout: Layout, stat_cache: StatCache) -> BuildResult | None:
        """Return the registry if its files had to be read, and need not be next time."""
        if self.built is None or self.built.is_unchanged or self.built.text != self.before:
            return None
        is_known = {**stat_cache.file_stats, "": {}} == {**self.built.file_stats, "": {}}
        recorded = stat_cache.file_stats.get("", {}).get("skills.json", "")
        return None if is_known and recorded == read_file_stat(layout.registry) else self.built

    @property
    def warnings(self) -> list[str]:
        """What to report about the listed skills."""
        messages = [f"{sanitize(warning.path, 80)}: {warning.message}" for warning in self.listed.warnings]
        return escaping_link_messages(self.listed.problems) + messages


def plan_expected_registry(
    layout: Layout,
    files: ProjectFiles,
    receipts: tuple[Receipt, Receipt],
    stat_cache: StatCache,
    disk: Mapping[SkillName, InstalledState],
    actions: Sequence[Action],
) -> ExpectedRegistry:
    """Build the registry for the actions. `receipts` are the present one and that after the change."""
    receipt, after = receipts
    before = read_registry_text(layout)
    prior = load_prior_state(layout, before, stat_cache)
    decided = {action.name for action in actions if not is_unmanaged(action, receipt)}
    built = None
    # If no folder comes or goes, registry and receipt are known now: whether they change decides whether there is
    # anything to do at all.
    if not any(action.verb in {"add", "update", "remove"} for action in actions):
        intact = {name for name, state in disk.items() if state.kind == "intact"}
        built = build_registry(layout, after, prior, PendingChanges(intact_skills=intact), disabled=files.disabled)
    listed = built or build_registry(
        layout, after, prior, PendingChanges(removed_skills=decided), disabled=files.disabled
    )
    return ExpectedRegistry(before=before, built=built, listed=listed, decided=decided)


def update_receipt(
    layout: Layout,
    receipt: Receipt,
    lockfile: Lockfile,
    disk: Mapping[SkillName, InstalledState],
    actions: Sequence[Action],
    refused: Collection[SkillName] = (),
) -> Receipt:
    """Return the receipt after the actions. Skills whose files change get their new entry when they are staged.

    Folders that are refused are not adopted.
    """
    skills = dict(receipt.skills)
    for action in actions:
        locked = lockfile.skills.get(action.name)
        if action.verb == "remove":
            skills.pop(action.name, None)
        elif action.name in refused:
            continue
        elif action.verb in {"keep", "relink"} and locked is not None and disk[action.name].digest == locked.digest:
            skills[action.name] = _adopt_skill(layout, action.name, locked, receipt.skills.get(action.name))
        elif action.verb == "update" and locked is not None and action.name in skills:
            skills[action.name] = skills[action.name].replace(pin=locked.pin, version=locked.version)
    return receipt.replace(skills=skills, inherited=_update_legacy_metadata(layout, receipt, actions))


def _update_legacy_metadata(
    layout: Layout, receipt: Receipt, actions: Sequence[Action]
) -> dict[SkillName, LegacyMetadata]:
    """Return the metadata of old registries that still applies: it goes with the folder that it describes."""
    replaced = {action.name for action in actions if action.verb == "remove"}
    replaced |= {action.name for action in actions if action.needs_backup and action.name not in receipt.skills}
    return {
        name: metadata
        for name, metadata in receipt.inherited.items()
        if name not in replaced and (name in receipt.skills or os.path.lexists(layout.skill_path(name)))
    }


def _adopt_skill(layout: Layout, name: SkillName, locked: LockedSkill, old: InstalledSkill | None) -> InstalledSkill:
    """Return the receipt's entry of a folder that has the locked content already."""
    if old is not None and old.digest == locked.digest and old.pin == locked.pin:
        return old.replace(version=locked.version)
    if locked.digest is None:
        return InstalledSkill(pin=locked.pin, digest=None, version=locked.version)
    files = {}
    for path, entry in walk_files(layout.skill_path(name)):
        state = entry.stat(follow_symlinks=False)
        with open(entry.path, "rb") as file:
            data = file.read()
        files[path] = InstalledFile(sha256=content_hash(data), size=len(data), executable=bool(state.st_mode & 0o100))
    return InstalledSkill(pin=locked.pin, digest=locked.digest, version=locked.version, files=files)


def plan_install(
    scope: Scope,
    settings: Settings,
    files: ProjectFiles,
    lockfile: Lockfile,
    options: InstallOptions,
    find_refused: FindRefused,
) -> InstallPlan:
    """Plan a change. Nothing is written or locked. Actions that local changes block have the verb `blocked`.

    `lockfile` is the whole one of a workspace. `find_refused` says which skills agents must not get as they are.

    Raises `NotFoundError` for a name to keep that is not a skill here.
    """
    layout, whole = scope.layout, lockfile
    lockfile = files.select(whole)
    receipt, stat_cache = load_receipt(layout), read_stat_cache(layout.stat_cache)
    names = {*lockfile.skills, *receipt.skills, *options.unmanaged_to_remove}
    disk = read_installed_states(layout.directory, names, receipt.skills, stat_cache)
    disk = mark_edited_links(scope, settings, disk, receipt.skills)
    policies = load_scope_policies(scope, settings)
    actions = plan_actions(lockfile.skills, receipt.skills, disk, options, files.find_version_range)
    actions = tuple(_keep_blocked(policies, action, options) for action in actions)
    actions, held = hold_blocked(actions) if options.is_strict else (actions, ())
    after = update_receipt(layout, receipt, lockfile, disk, actions)
    registry = plan_expected_registry(layout, files, (receipt, after), stat_cache, disk, actions)
    local = registry.local_skills
    live = [*find_new_live_links(scope, settings, lockfile, receipt, disk, actions)]
    named_links = {skill.name for skill in live} & {*(options.selected or ())}
    refused = find_refused([*find_present(scope, lockfile, receipt, disk, actions, local.versions), *live])
    if refused:
        after = update_receipt(layout, receipt, lockfile, disk, actions, refused)
        registry = plan_expected_registry(layout, files, (receipt, after), stat_cache, disk, actions)
    check_keep_names(scope, options.keep, {*disk, *local.versions})
    actions = (*actions, *local.make_actions({action.name for action in actions}))
    copies = local.digest_copies(layout, receipt, are_all_copied=LinkKinds.read(scope, settings, files).has_copies)
    names = {action.name for action in actions if action.verb not in {"remove", "blocked"}} & registry.decided
    blocked = _find_blocked(scope, policies, {*names, *local.versions}, lockfile, registry.listed)
    hidden = blocked.keys() | refused.keys() | ({action.name for action in held} - receipt.linked_skills)
    incoming = {action.name for action in actions if action.verb in {"add", "update"}}
    blocked_messages = [blocked[name] for name in blocked if name not in incoming]  # the validation refuses the others
    visible = SkillsToLink(
        installed=names - hidden,
        local={name: copies.get(name) for name in local.versions if name not in hidden},
    )
    links = plan_skill_links(scope, settings, files.replace(lockfile=lockfile), receipt, visible, options)
    actions = apply_link_plan(actions, links, options)
    links = back_up_edited_copies(scope, settings, receipt, links, hidden)
    actions = (*actions, *make_orphan_actions(layout, links, {action.name for action in actions}))
    after = after.replace(links=links.links, copies=local.select_copied(links.links, copies))
    after = record_created_folders(receipt, after, scope.link_folders(settings))
    invalid_names = local.invalid_name_messages() if options.is_linking_requested else ()
    return InstallPlan(
        files=files,
        lockfile=lockfile,
        receipt=receipt,
        new_receipt=after,
        disk=disk,
        actions=actions,
        links=links,
        allows_marks=options.allows_marks,
        refused={name: refused[name] for name in refused if name not in blocked or name in named_links},
        named_links=named_links,
        held=held,
        unrecorded=registry.find_unrecorded(layout, stat_cache),
        documents=_plan_documents(files, whole, (receipt, after), registry),
        warnings=(*registry.warnings, *invalid_names, *links.warnings, *blocked_messages),
    )


def _keep_blocked(policies: "Policies | None", action: Action, options: InstallOptions) -> Action:
    """Return an action that leaves a skill as it is if a policy blocks its name and the command does not name it.

    An update would be refused together with the whole command, which then could not remove the links to the skill.
    """
    is_named = action.name in (options.selected or ())
    if policies is None or action.verb != "update" or is_named or not policies.describe_blocked([action.name], ""):
        return action
    return Action(verb="keep", name=action.name, old_version=action.old_version, new_version=action.old_version)


def _find_blocked(
    scope: Scope,
    policies: "Policies | None",
    names: AbstractSet[SkillName],
    lockfile: Lockfile,
    listed: BuildResult,
) -> dict[SkillName, str]:
    """Return a warning for each skill that a policy blocks: it stays on disk, but is not served to agents."""
    warnings = dict[SkillName, str]()
    if policies is None:
        return warnings
    for name in sorted(names):
        locked, declared = lockfile.skills.get(name), listed.entries.get(name, {}).get("declaredName", "")
        digest = "" if locked is None else locked.digest or ""
        if problem := policies.describe_blocked([name, declared], digest):
            remedy = f"no agent gets it, and `{scope.command('uninstall', name)}` removes it"
            warnings[name] = f"`{name}` is blocked by policy: {problem}; {remedy}"
    return warnings


def _plan_documents(
    files: ProjectFiles, lockfile: Lockfile, receipts: tuple[Receipt, Receipt], registry: ExpectedRegistry
) -> dict[str, str]:
    """Return the documents that change, by role."""
    receipt, after = receipts
    texts = {"manifest": (files.original_manifest_text, files.manifest_text)}
    if lockfile.skills or files.lockfile_text is not None:
        texts["lockfile"] = (files.lockfile_text, render_lockfile(lockfile, files))
    if registry.built is not None:
        if lockfile.skills or registry.built.entries or registry.before:
            texts["registry"] = (registry.before, registry.built.text)
        if after != receipt or receipt.disbelieved:
            texts["receipt"] = ("", write_receipt(after))
    return {role: new for role, (old, new) in texts.items() if new is not None and new != old}


def dry_run_warnings(scope: Scope, settings: Settings, plan: InstallPlan) -> list[str]:
    """Return what executing a plan would warn of: the backups that it makes, and edited copies that stay."""
    warnings = [backup_message(action.name) for action in plan.actions if action.needs_backup]
    folders = scope.link_folders(settings)
    for folder, names in plan.links.conflicts.items():
        paths = [os.path.join(folders.path(folder), name) for name in names]
        warnings += [backup_message(describe_entry(path, path)) for path in paths]
    for name, removed in plan.links.links_to_remove.items():
        for folder in removed:
            path = os.path.join(folders.path(folder), name)
            is_copy = plan.receipt.links[folder].get(name) == "copy" and _is_folder(path)
            if is_copy and digest_folder(path) != plan.receipt.copy_digest(name):
                warnings.append(f"{path} was edited; it is left as it is")
    return warnings


def backup_message(place: str) -> str:
    """Return the warning that the files at a place would be backed up."""
    return f"{place} would be backed up"


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not is_link(path, os.lstat(path))
