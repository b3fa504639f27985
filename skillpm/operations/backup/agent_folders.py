"""A backup of what lay in an agent host's folder: looked at where it lay, and brought back there."""

import os

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import BlockedError, ConflictError
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.installer.backups import Backup
from skillpm.installer.links.state import read_link_state
from skillpm.installer.staging import prepare_staging
from skillpm.installer.transaction import ChangeSet, commit
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope


def check_origin(scope: Scope, context: Context, backup: Backup, receipt: Receipt) -> tuple[bool, BlockedError]:
    """Tell whether something lies there that is not ours, and the error that says so.

    Raises `ConflictError` where nothing can be put.
    """
    name = SkillName(backup.name)
    by_hand = f"move it by hand: it lies at {backup.path}"
    # The line beside a backup may have come with a repository: only where hosts read skills is anything put.
    if not scope.reads_skills(backup.origin, context.settings):
        raise ConflictError(f"no agent reads skills in {sanitize(backup.origin)}", where=backup.path, hint=by_hand)
    paths = scope.link_folders(context.settings)
    place = os.path.join(paths.path(backup.origin), name)
    known = (receipt.links.get(backup.origin, {}).get(name, ""), receipt.copy_digest(name))
    state = read_link_state(paths, backup.origin, name, scope.layout, known)
    if state.needs_no_link:
        raise ConflictError(f"{backup.origin} is a link to the skills directory by now", where=place, hint=by_hand)
    return state.kind == "foreign", BlockedError(
        f"something else lies at {backup.origin}/{name} by now; nothing was changed",
        where=place,
        hint="move it away, or let `--force` set it aside as another backup first",
    )


def restore_to_origin(
    scope: Scope, context: Context, backup: Backup, receipt: Receipt, *, back_up_existing: bool
) -> None:
    """Move a backup to where a link of ours took its place, as one change with the receipt: it forgets the link."""
    name, target = SkillName(backup.name), scope.target(context.settings)
    target.raise_if_unwritable(("receipt",), (backup.origin,))
    links = {folder: dict(names) for folder, names in receipt.links.items()}
    links.get(backup.origin, {}).pop(name, None)
    prepare_staging(scope.layout, fsync=target.fsync)
    change = ChangeSet(
        link_backups={backup.origin: (name,)} if back_up_existing else {},
        link_restores={backup.origin: {name: backup.id}},
    )
    documents = {"receipt": write_receipt(receipt.replace(links=links))}
    commit(target, change, documents, context.reporter.warn)
    if name in receipt.skills:
        context.reporter.warn(
            f"{backup.origin}/{name} is yours again; while that host is linked, `skillpm sync` stops there"
        )
