"""`backup list|restore`: what `--force` set aside, and bringing it back."""

import os
from collections.abc import Sequence

from skillpm.core.names import SkillName
from skillpm.core.suggestions import guess
from skillpm.core.text import show
from skillpm.core.versions import version_of
from skillpm.errors import BlockedError, DocumentError, NotFoundError, UsageError
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.formats.registry import read_registry
from skillpm.installer.actions import Action, label
from skillpm.installer.backups import REGISTRY, Backup, backups, told_aside
from skillpm.installer.disk_state import digest_of_folder, look_at
from skillpm.installer.layout import Layout, load_receipt, registry_text
from skillpm.installer.links.created_folders import with_made_folders
from skillpm.installer.skill_file import read_skill_file, skill_file_in
from skillpm.installer.staging import Copied, Settling, prepare, stage
from skillpm.installer.stat_cache import Scan, read_scan
from skillpm.installer.transaction import Change, commit
from skillpm.operations.backup.agent_folders import look_at_origin, put_back_at_origin
from skillpm.operations.backup.inventory import folder_of, version_in
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_lock import exclusive
from skillpm.operations.install.blockers import kept_links
from skillpm.operations.install.dry_run import tell_aside
from skillpm.operations.install.executor import remember
from skillpm.operations.install.pipeline import UNFINISHED, Changed
from skillpm.operations.install.unmanaged_links import OwnSkills
from skillpm.registry.builder import Ahead, Fresh, build_registry, known_registry


def restore(scope: Scope, tools: Tools, slot: str, *, force: bool = False, dry_run: bool = False) -> Changed:
    """Put a backup back where it lay: in its skill's place, or in an agent's folder.

    Raises `BlockedError` when what lies there now is somebody's work, unless `force` sets that aside.
    """
    if dry_run:
        if os.path.exists(scope.layout.journal):
            tools.reporter.warning(UNFINISHED)
        backup = _find(backups(scope.layout), slot)
        if _looked_at(scope, tools, backup, load_receipt(scope.layout), force=force):
            folder = scope.link_folders(tools.settings).path(backup.origin) if backup.origin else ""
            tell_aside(os.path.join(folder, backup.name), tools.reporter.warning)
        _tell_version(scope, tools, backup)
        return _changed(scope, tools, backup, load_receipt(scope.layout), dry_run=True)
    with exclusive(scope, tools):
        backup = _find(backups(scope.layout), slot)
        receipt = load_receipt(scope.layout)
        aside = _looked_at(scope, tools, backup, receipt, force=force)
        _tell_version(scope, tools, backup)
        if backup.origin:
            put_back_at_origin(scope, tools, backup, receipt, aside=aside)
        else:
            _put_into_place(scope, tools, backup, receipt, aside=aside)
    return _changed(scope, tools, backup, receipt, dry_run=False)


def _looked_at(scope: Scope, tools: Tools, backup: Backup, receipt: Receipt, *, force: bool) -> bool:
    """Tell whether what lies at a backup's place has to be set aside first, which only `force` allows."""
    if backup.name == REGISTRY:
        raise UsageError(
            f"`{backup.id}` is a registry that was made by hand, and no skill; the registry is built from the skills",
            hint=f"`skillpm migrate` takes what it says of them; the file is {backup.path}",
        )
    layout, name = scope.layout, SkillName(backup.name)
    installed = receipt.skills.get(name)
    if not backup.origin:
        place = layout.skill(name)
        aside = look_at(place, name, installed, Scan()).kind in {"edited", "foreign"}
        again = BlockedError(
            f"{name} has been edited again; nothing was changed",
            where=place,
            hint=f"`skillpm diff {name}` shows it, `--force` sets it aside as another backup first",
        )
    else:
        aside, again = look_at_origin(scope, tools, backup, receipt)
    if aside and not force:
        raise again
    return aside


def _put_into_place(scope: Scope, tools: Tools, backup: Backup, receipt: Receipt, *, aside: bool) -> None:
    """Put a backup into the skills directory, as one change with the registry."""
    layout, name = scope.layout, SkillName(backup.name)
    if told := told_aside(layout, backup.id):
        receipt = receipt.but(inherited={**receipt.inherited, name: told})
    prepare(layout, fsync=tools.settings.fsync)
    stage(layout, name, Copied(folder=backup.path))
    settling = Settling(fsync=tools.settings.fsync)
    settling.begin(os.path.join(layout.staging, name))
    edited = look_at(backup.path, name, receipt.skills.get(name), Scan()).kind == "edited"
    found = _skill_file(layout, backup)
    fresh = {} if found is None else {name: Fresh(file=found[0], data=found[1], stamps={}, edited=edited)}
    ahead = Ahead(fresh=fresh, gone=() if fresh else (name,))
    known = known_registry(layout, registry_text(layout), read_scan(layout.scan))
    papers = read_paperwork(scope, tools)
    built = build_registry(layout, receipt, known, ahead, disabled=papers.disabled)
    own = OwnSkills.beside(receipt, built.entries)
    # What is no skill has no copies: a file, a link that leads nowhere.
    coming = {} if found is None else {name: digest_of_folder(folder_of(layout, backup))}
    copies = own.copies(layout, receipt, tools.settings.link_mode, coming)
    links = kept_links(scope, tools, papers, receipt, {name: copies.get(name) for name in own.names})
    after = receipt.but(links=links.links, copies=own.copied(links.links, copies))
    after = with_made_folders(receipt, after, scope.link_folders(tools.settings))
    scope.target(tools.settings).refuse_unwritable(("receipt", "registry"), links.touched)
    documents = {"registry": built.text, "receipt": write_receipt(after)}
    settling.wait()
    change = Change(puts={name: aside}, spent=(backup.id,))
    commit(scope.target(tools.settings), change, documents, tools.reporter.warning)
    remember(scope, built)


def _changed(scope: Scope, tools: Tools, backup: Backup, receipt: Receipt, *, dry_run: bool) -> Changed:
    where = f"restored into {backup.origin}" if backup.origin else "restored from a backup"
    restored = Action(
        verb="relink" if backup.origin else "update",
        name=SkillName(backup.name),
        becomes=backup.id,
        reason=where,
        done="restored",
    )
    labels = dict.fromkeys(_registered(scope.layout), "")
    labels |= {name: label(skill) for name, skill in receipt.skills.items()}
    labels.pop(SkillName(backup.name), None)
    others = [Action(verb="keep", name=name, was=text, becomes=text) for name, text in labels.items()]
    return Changed(
        changed=True,
        scope=scope.kind,
        directory=scope.layout.directory,
        actions=(restored, *others),
        warnings=tuple(tools.reporter.warnings),
        notes=_whose(scope, tools, backup, receipt),
        dry_run=dry_run,
    )


def _whose(scope: Scope, tools: Tools, backup: Backup, receipt: Receipt) -> tuple[str, ...]:
    """Say of what nobody asks for that it is the user's own now: where it came from went with its receipt."""
    papers, name = read_paperwork(scope, tools), SkillName(backup.name)
    if backup.origin or name in receipt.skills or name in papers.manifest.skills or name in papers.lockfile.skills:
        return ()
    flag = scope.flag
    note = (
        f"nothing asks for {name}, so it is a skill of your own now, and never updated; if it came from elsewhere, "
        f"`skillpm install{flag} SPEC --force`, then `skillpm backup restore{flag} {name}` make it an edit of that"
    )
    return (note,)


def _registered(layout: Layout) -> list[SkillName]:
    """Give the names in the registry: those of skills that were made by hand, too."""
    try:
        entries = read_registry(registry_text(layout) or "", layout.registry)[0]
    except DocumentError:
        return []
    return [SkillName(name) for name in entries]


def _tell_version(scope: Scope, tools: Tools, backup: Backup) -> None:
    """Say that what comes back is another version than the one that is locked."""
    locked = read_paperwork(scope, tools).lockfile.skills.get(SkillName(backup.name))
    version = "" if backup.origin else version_in(scope.layout, backup)
    if locked is None or not (version and locked.version) or _are_one(version, locked.version):
        return
    tools.reporter.warning(
        f"{backup.id} is {show(version, 40)}, and {backup.name} is locked to {show(locked.version, 40)}: it counts as "
        f"your edit, which `skillpm sync{scope.flag}` stops at"
    )


def _are_one(one: str, other: str) -> bool:
    return one == other or (version_of(one) is not None and version_of(one) == version_of(other))


def _skill_file(layout: Layout, backup: Backup) -> tuple[str, bytes] | None:
    """Give name and bytes of the SKILL.md of a backup, for the registry; None where it has none that can be read."""
    folder = folder_of(layout, backup)
    try:
        is_itself = folder == os.path.normpath(layout.skill(backup.name))
        return None if is_itself else (skill_file_in(folder), read_skill_file(folder))
    except OSError:
        return None


def _find(found: Sequence[Backup], slot: str) -> Backup:
    for backup in found:
        if backup.id == slot:
            return backup
    of_name = [backup for backup in found if backup.name == slot]
    if len(of_name) == 1:
        return of_name[0]
    if of_name:
        hint = f"name one: {', '.join(backup.id for backup in of_name)}"
        raise NotFoundError(f"there are {len(of_name)} backups of `{show(slot)}`", hint=hint)
    if not found:
        hint = "a backup is made by `--force`, and is gone when it was restored"
        raise NotFoundError(f"there is no backup `{show(slot)}`; nothing is set aside here", hint=hint)
    hint = guess(slot, [backup.id for backup in found], "`skillpm backup list` shows what is set aside")
    raise NotFoundError(f"there is no backup `{show(slot)}`", hint=hint)
