"""The warnings that a run would give after its work, so that a dry run can give them before: backups, edited copies."""

import os

from skillpm.change.plan import InstallPlan
from skillpm.installer.disk.disk_state import digest_folder
from skillpm.installer.links.state import is_link
from skillpm.scope.scope import Scope
from skillpm.settings import Settings


def dry_run_warnings(scope: Scope, settings: Settings, plan: InstallPlan) -> list[str]:
    """Return what executing a plan would warn of: the backups that it makes, and edited copies that stay."""
    warnings = [backup_message(action.name) for action in plan.actions if action.needs_backup]
    folders = scope.link_folders(settings)
    for folder, names in plan.links.conflicts.items():
        warnings += [backup_message(os.path.join(folders.path(folder), name)) for name in names]
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
