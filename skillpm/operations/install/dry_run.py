"""What a dry run says beside its actions: what the run would set aside, and what it would leave where it lies."""

import os
from collections.abc import Callable

from skillpm.installer.disk_state import digest_folder
from skillpm.installer.links.state import is_link
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.plan import InstallPlan
from skillpm.settings import Settings


def warn_dry_run_effects(scope: Scope, settings: Settings, plan: InstallPlan, warn: Callable[[str], None]) -> None:
    """Warn of what the run will warn of when it is done: backups that it makes, and edited copies that stay."""
    for action in plan.actions:
        if action.needs_backup:
            warn_backup(action.name, warn)
    paths = scope.link_folders(settings)
    for folder, names in plan.links.conflicts.items():
        for name in names:
            warn_backup(os.path.join(paths.path(folder), name), warn)
    for name, folders in plan.links.links_to_remove.items():
        for folder in folders:
            place = os.path.join(paths.path(folder), name)
            is_copy = plan.receipt.links[folder].get(name) == "copy" and _is_folder(place)
            if is_copy and digest_folder(place) != plan.receipt.copy_digest(name):
                warn(f"{place} was edited; it is left as it is")


def warn_backup(place: str, warn: Callable[[str], None]) -> None:
    """Say of what lies at a place that it would be kept."""
    warn(f"what lies at {place} would be kept as a backup")


def _is_folder(place: str) -> bool:
    return os.path.isdir(place) and not is_link(place, os.lstat(place))
