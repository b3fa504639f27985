"""Plan a change: compare the lockfile with the installed skills, and derive the actions. Changes nothing."""

from skillpm.formats.lockfile import Lockfile
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.installer.actions import InstallOptions, plan_actions
from skillpm.installer.disk_state import read_installed_states
from skillpm.installer.layout import load_receipt
from skillpm.installer.links.created_folders import record_created_folders
from skillpm.installer.stat_cache import read_stat_cache
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.scope import Scope
from skillpm.operations.pipeline.blockers import apply_link_plan, check_keep_names
from skillpm.operations.pipeline.expected_registry import ExpectedRegistry, plan_expected_registry
from skillpm.operations.pipeline.install_plan import InstallPlan
from skillpm.operations.pipeline.live_links import mark_edited_links
from skillpm.operations.pipeline.local_skills import make_orphan_actions
from skillpm.operations.pipeline.lock_resolution import render_lockfile
from skillpm.operations.pipeline.receipt_plan import update_receipt
from skillpm.operations.pipeline.skill_links import VisibleSkills, plan_skill_links
from skillpm.settings import Settings


def plan_install(
    scope: Scope, settings: Settings, files: ProjectFiles, lockfile: Lockfile, options: InstallOptions
) -> InstallPlan:
    """Plan a change. Nothing is written, fetched or locked. Actions that local changes block have the verb `blocked`.

    Raises `NotFoundError` for a name to keep that is not a skill here.
    """
    layout = scope.layout
    receipt, stat_cache = load_receipt(layout), read_stat_cache(layout.stat_cache)
    names = {*lockfile.skills, *receipt.skills, *options.unmanaged_to_remove}
    disk = read_installed_states(layout.directory, names, receipt.skills, stat_cache)
    disk = mark_edited_links(scope, settings, disk, receipt.skills)
    actions = plan_actions(lockfile.skills, receipt.skills, disk, options)
    after = update_receipt(layout, receipt, lockfile, disk, actions)
    registry = plan_expected_registry(layout, files, (receipt, after), stat_cache, disk, actions)
    local = registry.local_skills
    check_keep_names(scope, options.keep, {*disk, *local.versions})
    actions = (*actions, *local.make_actions({action.name for action in actions}))
    copies = local.digest_copies(layout, receipt, settings.link_mode)
    visible = VisibleSkills(
        installed={action.name for action in actions if action.verb not in {"remove", "blocked"}} & registry.decided,
        local={name: copies.get(name) for name in local.versions},
    )
    links = plan_skill_links(scope, settings, files.replace(lockfile=lockfile), receipt, visible, options)
    actions = apply_link_plan(actions, links, options)
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
        documents=_plan_documents(files, lockfile, (receipt, after), registry),
        warnings=(*registry.warnings, *invalid_names, *links.warnings),
    )


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
        if after != receipt:
            texts["receipt"] = ("", write_receipt(after))
    return {role: new for role, (old, new) in texts.items() if new is not None and new != old}
