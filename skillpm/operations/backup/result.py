"""The result of restoring a backup: what was done, and what the user should know about the restored skill."""

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.versions import parse_version
from skillpm.errors import DocumentError
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import read_registry
from skillpm.installer.actions import Action, version_label
from skillpm.installer.backups import Backup
from skillpm.installer.layout import Layout, read_registry_text
from skillpm.operations.backup.inventory import read_backup_version
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.pipeline.change import ChangeResult


def make_result(
    scope: Scope, context: Context, files: ProjectFiles, backup: Backup, receipt: Receipt, *, dry_run: bool
) -> ChangeResult:
    """Return the result. `receipt` is the one before the change."""
    restored = Action(
        verb="relink" if backup.origin else "update",
        name=SkillName(backup.name),
        new_version=backup.id,
        reason=f"restored into {backup.origin}" if backup.origin else "restored from a backup",
        outcome="restored",
    )
    labels = dict.fromkeys(_registered_names(scope.layout), "")
    labels |= {name: version_label(skill) for name, skill in receipt.skills.items()}
    labels.pop(SkillName(backup.name), None)
    others = [Action(verb="keep", name=name, old_version=text, new_version=text) for name, text in labels.items()]
    return ChangeResult(
        is_changed=True,
        scope=scope.kind,
        directory=scope.layout.directory,
        actions=(restored, *others),
        warnings=tuple(context.reporter.warnings),
        notes=_ownership_notes(scope, files, backup, receipt),
        is_dry_run=dry_run,
    )


def version_mismatch_messages(scope: Scope, files: ProjectFiles, backup: Backup) -> list[str]:
    """Return a warning if the backup has another version than the one that is locked."""
    locked = files.lockfile.skills.get(SkillName(backup.name))
    version = "" if backup.origin else read_backup_version(scope.layout, backup)
    if locked is None or not (version and locked.version) or _is_same_version(version, locked.version):
        return []
    versions = f"{backup.id} is {sanitize(version, 40)}, but {backup.name} is locked to {sanitize(locked.version, 40)}"
    return [f"{versions}: it is treated as a local change, so `{scope.command('sync')}` will stop at it"]


def _ownership_notes(scope: Scope, files: ProjectFiles, backup: Backup, receipt: Receipt) -> tuple[str, ...]:
    """Explain that a skill which nothing requires is a local one now: its source was recorded in the receipt only."""
    name = SkillName(backup.name)
    if backup.origin or name in receipt.skills or name in files.manifest.skills or name in files.lockfile.skills:
        return ()
    install, restore = scope.command("install", "SPEC --force"), scope.command("backup restore", name)
    note = (
        f"{name} is not in the manifest, so it is a local skill now and is never updated; to turn it into local "
        f"changes of its source, run `{install}`, then `{restore}`"
    )
    return (note,)


def _registered_names(layout: Layout) -> list[SkillName]:
    """Return the names in the registry, which include local skills."""
    try:
        entries = read_registry(read_registry_text(layout) or "", layout.registry)[0]
    except DocumentError:
        return []
    return [SkillName(name) for name in entries]


def _is_same_version(left: str, right: str) -> bool:
    return left == right or (parse_version(left) is not None and parse_version(left) == parse_version(right))
