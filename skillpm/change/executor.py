"""Execute a planned change: stage, commit, record. The one place where install, migrate and restore write skills."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.receipt import Receipt, write_receipt
from skillpm.installer.disk.staging import FsyncQueue, SkillContent, prepare_staging, stage_skill
from skillpm.installer.disk.stat_cache import FileStat, to_file_stat, write_stat_cache
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.transaction import ChangeSet, commit
from skillpm.registry.build_state import BuildResult
from skillpm.scope.project import Project
from skillpm.scope.scope import Scope


class NewSkill(Value):
    """A skill to put in place."""

    content: SkillContent
    # Whether the existing folder becomes a backup.
    needs_backup: bool = False
    # Whether the content differs from what the receipt records: a restored backup.
    is_edited: bool = False
    # The digest of the content, where it is known without reading it again.
    digest: str = ""


class PlannedChange(Value):
    """A change of a skills directory, ready to execute."""

    new_skills: Mapping[SkillName, NewSkill] = EMPTY_MAPPING
    # All other moves: removals, backups to restore, flat files that were converted.
    moves: ChangeSet = ChangeSet()
    # Links to make and to remove; files that conflict with them become backups.
    links: LinkPlan = LinkPlan()
    # The receipt and the registry after the change; without a registry, the existing one stays.
    receipt: Receipt
    registry: BuildResult | None = None
    # Manifest and lockfile, by role, if they change.
    documents: Mapping[str, str] = EMPTY_MAPPING
    # What was published beside new content, by digest; kept, so that it can be verified without its source.
    signatures: Mapping[Digest, Sequence[bytes]] = EMPTY_MAPPING


def execute(project: Project, change: PlannedChange) -> None:
    """Execute a change, all of it or nothing. Call it only while holding the scope's lock.

    Raises `DocumentChanged` if a document was saved since the change was planned, and `FileError` if a folder is not
    writable; nothing has changed then.
    """
    target, fsync = project.scope.target(project.settings), project.settings.fsync
    documents = {**change.documents, "receipt": write_receipt(change.receipt)}
    if change.registry is not None:
        documents["registry"] = change.registry.text
        for problem in change.registry.problems:
            project.reporter.warn(f"{problem.path} is not in the registry: {problem.message}")
    target.raise_if_unwritable(documents, change.links.changed_folders)
    prepare_staging(project.layout, fsync=fsync)
    file_stats: dict[str, Mapping[str, FileStat]] = {}
    fsync_queue = FsyncQueue(fsync=fsync)
    for name, skill in change.new_skills.items():
        stats = stage_skill(project.layout, name, skill.content)
        file_stats[name] = {} if skill.is_edited else stats  # which vouch for installed content only
        fsync_queue.add(os.path.join(project.layout.staging, name))
    fsync_queue.wait()
    moves = change.moves.replace(
        puts={name: skill.needs_backup for name, skill in change.new_skills.items()},
        link_backups=change.links.conflicts,
        staged_digests={name: skill.digest for name, skill in change.new_skills.items()},
    )
    commit(target, moves, documents, project.reporter.warn)
    if os.path.isdir(os.path.join(project.layout.internal_dir, "merge")):
        from skillpm.installer.merge_versions import remove_versions  # noqa: PLC0415  (few edits cannot be merged)

        remove_versions(project.layout, [*change.new_skills])
    if change.signatures or os.path.lexists(project.layout.signatures):
        from skillpm.installer.kept_signatures import keep_signatures  # noqa: PLC0415  (few skills are signed)

        installed = {skill.digest for skill in change.receipt.skills.values() if skill.digest}
        with suppress(OSError):  # they are fetched again
            keep_signatures(project.layout, change.signatures, installed, fsync=fsync)
    if change.registry is not None:
        change.registry.file_stats.update(file_stats)
        record_file_stats(project.scope, change.registry)


def record_file_stats(scope: Scope, built: BuildResult) -> None:
    """Write the stat cache for a registry that was just written."""
    try:
        registry: dict[str, FileStat] = {"skills.json": to_file_stat(os.stat(scope.layout.registry))}
        if built.metadata_digest:
            registry["inherited"] = built.metadata_digest
    except OSError:
        return
    write_stat_cache(scope.layout.stat_cache, {**built.file_stats, "": registry})
