"""Backups of files that were in an agent's folder: check that place, and plan to restore them there."""

import os

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import BlockedError, ConflictError
from skillpm.formats.receipt import Receipt
from skillpm.installer.backups import Backup
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.links.state import read_link_state
from skillpm.installer.transaction import ChangeSet
from skillpm.operations.context.scope import Scope
from skillpm.operations.pipeline.executor import PlannedChange
from skillpm.settings import Settings


def check_origin(scope: Scope, settings: Settings, backup: Backup, receipt: Receipt) -> tuple[bool, BlockedError]:
    """Return whether the place is occupied by something other than our link, and the error for that case.

    Raises `ConflictError` if nothing can be restored there.
    """
    name = SkillName(backup.name)
    manually = f"move it manually from {backup.path}"
    # The file that names the origin may have come with a repository: restore only into folders that agents read.
    if not scope.reads_skills(backup.origin, settings):
        raise ConflictError(f"no agent reads skills in {sanitize(backup.origin)}", where=backup.path, hint=manually)
    folders = scope.link_folders(settings)
    path = os.path.join(folders.path(backup.origin), name)
    known = (receipt.links.get(backup.origin, {}).get(name, ""), receipt.copy_digest(name))
    state = read_link_state(folders, backup.origin, name, scope.layout, known)
    if state.needs_no_link:
        raise ConflictError(f"{backup.origin} is now a link to the skills directory", where=path, hint=manually)
    return state.kind == "foreign", BlockedError(
        f"{backup.origin}/{name} is now occupied by something else; nothing was changed",
        where=path,
        hint="move it away, or use `--force` to back it up first",
    )


def plan_agent_restore(backup: Backup, receipt: Receipt, *, back_up_existing: bool) -> PlannedChange:
    """Plan to move a backup to where our link is now; the receipt forgets that link in the same change."""
    name, folder = SkillName(backup.name), backup.origin
    links = {each: dict(names) for each, names in receipt.links.items()}
    links.get(folder, {}).pop(name, None)
    return PlannedChange(
        moves=ChangeSet(link_restores={folder: {name: backup.id}}),
        links=LinkPlan(
            links_to_remove={name: (folder,)},
            conflicts={folder: (name,)} if back_up_existing else {},
        ),
        receipt=receipt.replace(links=links),
    )
