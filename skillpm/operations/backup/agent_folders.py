"""A backup of what lay in an agent host's folder: looked at where it lay, and brought back there."""

import os

from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.errors import BlockedError, ConflictError
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.installer.backups import Backup
from skillpm.installer.links.state import look_at_link
from skillpm.installer.staging import prepare
from skillpm.installer.transaction import Change, commit
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope


def look_at_origin(scope: Scope, tools: Tools, backup: Backup, receipt: Receipt) -> tuple[bool, BlockedError]:
    """Tell whether something lies there that is not ours, and the error that says so.

    Raises `ConflictError` where nothing can be put.
    """
    name = SkillName(backup.name)
    by_hand = f"move it by hand: it lies at {backup.path}"
    # The line beside a backup may have come with a repository: only where hosts read skills is anything put.
    if not scope.reads_skills(backup.origin, tools.settings):
        raise ConflictError(f"no agent reads skills in {show(backup.origin)}", where=backup.path, hint=by_hand)
    paths = scope.link_folders(tools.settings)
    place = os.path.join(paths.path(backup.origin), name)
    known = (receipt.links.get(backup.origin, {}).get(name, ""), receipt.copied(name))
    state = look_at_link(paths, backup.origin, name, scope.layout, known)
    if state.itself:
        raise ConflictError(f"{backup.origin} is a link to the skills directory by now", where=place, hint=by_hand)
    return state.kind == "foreign", BlockedError(
        f"something else lies at {backup.origin}/{name} by now; nothing was changed",
        where=place,
        hint="move it away, or let `--force` set it aside as another backup first",
    )


def put_back_at_origin(scope: Scope, tools: Tools, backup: Backup, receipt: Receipt, *, aside: bool) -> None:
    """Move a backup to where a link of ours took its place, as one change with the receipt: it forgets the link."""
    name, target = SkillName(backup.name), scope.target(tools.settings)
    target.refuse_unwritable(("receipt",), (backup.origin,))
    links = {folder: dict(names) for folder, names in receipt.links.items()}
    links.get(backup.origin, {}).pop(name, None)
    prepare(scope.layout, fsync=target.fsync)
    change = Change(asides={backup.origin: (name,)} if aside else {}, returns={backup.origin: {name: backup.id}})
    documents = {"receipt": write_receipt(receipt.but(links=links))}
    commit(target, change, documents, tools.reporter.warning)
    if name in receipt.skills:
        tools.reporter.warning(
            f"{backup.origin}/{name} is yours again; while that host is linked, `skillpm sync` stops there"
        )
