"""`backup list|restore`: what `--force` set aside, and bringing it back."""

import os
from collections.abc import Sequence
from contextlib import suppress

from skillpm.documents.agents import near
from skillpm.documents.names import SkillName
from skillpm.documents.receipt import write_receipt
from skillpm.errors import BlockedError, NotFoundError, UsageError
from skillpm.files import read_text, remove_tree
from skillpm.installing.backups import REGISTRY, Backup, backups
from skillpm.installing.layout import Layout, load_receipt
from skillpm.installing.plan import Action, label
from skillpm.installing.scan import Scan, read_scan
from skillpm.installing.settling import Settling
from skillpm.installing.skill_file import read_skill_file, skill_file_in
from skillpm.installing.staging import Copied, prepare, stage
from skillpm.installing.survey import look_at
from skillpm.installing.transaction import commit
from skillpm.operations.carrying import remember
from skillpm.operations.change import Changed
from skillpm.operations.exclusive import exclusive
from skillpm.operations.paperwork import read_paperwork
from skillpm.operations.scope import Scope
from skillpm.operations.tools import Tools
from skillpm.serving.registering import Ahead, Fresh, build_registry, known_registry


def list_backups(scope: Scope) -> list[Backup]:
    """List what was set aside."""
    return backups(scope.layout)


def restore(scope: Scope, tools: Tools, slot: str, *, force: bool = False) -> Changed:
    """Put a backup back in its skill's place. What lies there must be as installed, unless `force` sets it aside."""
    with exclusive(scope, tools):
        backup = _find(backups(scope.layout), slot)
        if backup.name == REGISTRY:
            raise UsageError(
                f"`{slot}` is a registry that was made by hand, and no skill; the registry is built from the skills",
                hint=f"`skillpm migrate` takes what it says of them; the file is {backup.path}",
            )
        layout, name = scope.layout, SkillName(backup.name)
        receipt = load_receipt(layout)
        there = look_at(layout.skill(name), name, receipt.skills.get(name), Scan())
        if there.kind in {"edited", "foreign"} and not force:
            raise BlockedError(
                f"{name} has been edited again; nothing was changed",
                where=layout.skill(name),
                hint=f"`skillpm diff {name}` shows it, `--force` sets it aside as another backup first",
            )
        prepare(layout, fsync=tools.settings.fsync)
        stage(layout, name, Copied(folder=backup.path))
        settling = Settling(layout.staging, fsync=tools.settings.fsync)
        installed = receipt.skills.get(name)
        edited = look_at(backup.path, name, installed, Scan()).kind == "edited"
        found = _skill_file(layout, backup)
        fresh = {} if found is None else {name: Fresh(file=found[0], data=found[1], stamps={}, edited=edited)}
        ahead = Ahead(fresh=fresh, gone=() if fresh else (name,))
        known = known_registry(layout, read_text(layout.registry), read_scan(layout.scan))
        disabled = read_paperwork(scope, tools).disabled
        built = build_registry(layout, receipt, known, ahead, disabled=disabled)
        documents = {"registry": built.text, "receipt": write_receipt(receipt)}
        settling.wait()
        commit(
            scope.target(tools.settings),
            {name: there.kind in {"edited", "foreign"}},
            {},
            documents,
            {},
            tools.reporter.warning,
        )
        remember(scope, built)
        remove_tree(backup.path)
        with suppress(OSError):
            os.rmdir(layout.backup)
    labels = {key: label(skill) for key, skill in receipt.skills.items() if key != name}
    others = [Action(verb="keep", name=key, was=text, becomes=text) for key, text in labels.items()]
    restored = Action(verb="update", name=name, becomes=slot, reason="restored from a backup")
    return Changed(
        changed=True,
        scope=scope.kind,
        directory=layout.directory,
        actions=(restored, *others),
        warnings=tuple(tools.reporter.warnings),
    )


def _skill_file(layout: Layout, backup: Backup) -> tuple[str, bytes] | None:
    """Give name and bytes of the SKILL.md of a backup, for the registry; None where it has none that can be read."""
    folder = backup.path
    if os.path.islink(folder):
        folder = os.path.normpath(os.path.join(layout.directory, os.readlink(folder)))
    try:
        is_itself = folder == os.path.normpath(layout.skill(backup.name))
        return None if is_itself else (skill_file_in(folder), read_skill_file(folder))
    except OSError:
        return None


def _find(found: Sequence[Backup], slot: str) -> Backup:
    for backup in found:
        if backup.id == slot:
            return backup
    ids = [backup.id for backup in found]
    similar = near(slot, ids) or tuple(ids[:5])
    hint = f"here are: {', '.join(similar)}" if similar else "nothing is set aside here"
    raise NotFoundError(f"there is no backup `{slot}`", hint=hint)
