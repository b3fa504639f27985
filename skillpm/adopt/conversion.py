"""`migrate`: turn flat files, `x.md` and `<category>/x.md`, into skills, `x/SKILL.md`, without losing anything."""

import os
from collections.abc import Iterator, Mapping
from functools import partial
from shlex import quote

from skillpm.adopt.flat_files import flat_files_hint
from skillpm.adopt.migration_planner import FlatFileMove, plan_migration
from skillpm.adopt.scanner import FlatFolder, load_legacy_registry, scan_flat_files
from skillpm.change.change import INTERRUPTED_CHANGE
from skillpm.change.executor import NewSkill, PlannedChange, execute
from skillpm.change.local_change import plan_local_change
from skillpm.change.lost_skills import find_lost_skills
from skillpm.change.present_skills import find_refused_skills
from skillpm.change.skill_links import MAX_AGENTS_NAMED, find_present_agents
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError
from skillpm.files import read_text, translate_os_errors
from skillpm.formats.legacy_metadata import LegacyMetadata
from skillpm.formats.legacy_registry import IgnoredEntry, is_generated
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk.backups import back_up_legacy_registry, find_latest_registry_backup
from skillpm.installer.disk.journal import is_change_pending
from skillpm.installer.disk.layout import Layout, load_receipt
from skillpm.installer.disk.skill_file import read_skill_file
from skillpm.installer.disk.staging import ConvertedFile
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.transaction import ChangeSet
from skillpm.scope.project import Project
from skillpm.scope.project_files import ProjectFiles, read_project_files
from skillpm.scope.scope import Scope
from skillpm.scope.scope_lock import lock_scope
from skillpm.skillmd.body_references import find_links, sibling_name
from skillpm.skillmd.frontmatter import decode_text, read_frontmatter
from skillpm.vetting.validation_options import ValidationOptions

MAX_MISMATCHES = 10
TOML_PROBLEM = "the frontmatter is TOML, which many hosts do not read"
LINK_PROBLEM = "a link leads to a file that is not in the new folder"
REPAIRS = {TOML_PROBLEM: (" --fix --yaml", "to repair"), LINK_PROBLEM: ("", "to list all")}


class MigrationResult(Value):
    """What a migration did, or would do with `--dry-run`."""

    is_changed: bool
    directory: str
    moves: tuple[FlatFileMove, ...]
    ignored: tuple[IgnoredEntry, ...]
    legacy_metadata: Mapping[SkillName, LegacyMetadata]
    skill_count: int
    # The command that lists the skills, and the one that links them; empty if they are linked already.
    list_command: str
    link_command: str
    # Newly linked skills, by agent folder.
    linked_skills: Mapping[str, tuple[SkillName, ...]]
    # The id of the backup of the previous registry; empty if none was made.
    backup: str = ""
    warnings: tuple[str, ...] = ()
    is_dry_run: bool = False


def migrate(project: Project, *, dry_run: bool = False) -> MigrationResult:
    """Convert the flat files in a scope's skills directory to skills, all of them or none.

    Like every change it is planned twice: without the lock, to find out whether there is anything to do, and again
    while holding it.
    """
    layout = project.layout
    if not os.path.lexists(layout.directory):  # a new project, or a new machine
        return _report_missing_folder(project).replace(is_dry_run=dry_run)
    if dry_run and is_change_pending(layout):
        project.reporter.warn(INTERRUPTED_CHANGE)
    result = None
    if dry_run or not any(map(os.path.lexists, (layout.journal, layout.staging, layout.trash))):
        result = _plan(project)[0].replace(is_dry_run=dry_run)
    if result is None or (result.is_changed and not dry_run):
        before = find_latest_registry_backup(layout)
        with lock_scope(project):
            result, change = _plan(project)
            if result.is_changed:
                _execute(project, change)
        after = find_latest_registry_backup(layout)
        result = result.replace(backup="" if after == before else after)
    messages = [*result.warnings, *_migration_warnings(result)]
    if result.is_changed and not dry_run and not project.scope.is_standalone:
        agents = read_project_files(project).agents
        messages += map(str, find_lost_skills(project.scope, project.settings, agents))
    for message in messages:
        project.reporter.warn(message)
    return result.replace(warnings=tuple(project.reporter.warnings))


def _report_missing_folder(project: Project) -> MigrationResult:
    """Return the result for a skills directory that does not exist yet, and warn of flat files elsewhere."""
    if hint := flat_files_hint(project.settings):
        project.reporter.warn(f"{project.layout.directory} does not exist; {hint}")
    return MigrationResult(
        is_changed=False,
        directory=project.layout.directory,
        moves=(),
        ignored=(),
        legacy_metadata={},
        skill_count=0,
        list_command=_list_command(project.scope),
        link_command="",
        linked_skills={},
        warnings=tuple(project.reporter.warnings),
    )


def _execute(project: Project, change: PlannedChange) -> None:
    layout, fsync = project.layout, project.settings.fsync
    # Executing checks this again; here it comes before the first write.
    project.scope.target(project.settings).raise_if_unwritable(("receipt", "registry"), change.links.changed_folders)
    # The commit would back up the old registry as well, and warn; here it is part of the result.
    with translate_os_errors("back up the old skills.json", layout.backups):
        back_up_legacy_registry(layout, project.reporter.log_verbose, fsync=fsync)
    execute(project, change)


def _plan(project: Project) -> tuple[MigrationResult, PlannedChange]:
    """Plan a migration. Raises `ConflictError` for a folder whose links show that it belongs to another scope."""
    layout, receipt = project.layout, load_receipt(project.layout)
    if receipt.links and project.scope.is_standalone:
        raise ConflictError(
            f"the skills in {layout.directory} are linked for agents, so the folder belongs to a scope",
            hint=f"migrate that scope: SKILLPM_HOME={quote(layout.directory)} skillpm migrate -g",
        )
    text, files = read_text(layout.registry), read_project_files(project)
    old_registry = load_legacy_registry(layout, text)
    with translate_os_errors("look for flat files", layout.directory):
        folder = scan_flat_files(layout.directory, project.settings.limits, old_registry.entries)
    reserved, local = _reserved_names(files, receipt), _read_local_skills(layout, folder, receipt)
    migration = plan_migration(folder, old_registry, reserved, local)
    moves = {move.name: move for move in migration.moves}
    metadata = {name: metadata for name, metadata in receipt.inherited.items() if name not in moves}
    after = receipt.replace(inherited={**migration.legacy_metadata, **metadata})
    new_skills = {
        name: NewSkill(content=ConvertedFile(data=move.data, mode=move.source.mode)) for name, move in moves.items()
    }
    find_refused = partial(find_refused_skills, project, options=ValidationOptions(), may_fetch=False)
    change, registry = plan_local_change(
        project.scope, project.settings, files, (receipt, after), new_skills, find_refused
    )
    is_stale = text != registry.text and (bool(registry.entries) or (text is not None and is_generated(text)))
    result = MigrationResult(
        is_changed=bool(moves) or change.receipt != receipt or is_stale,
        directory=layout.directory,
        moves=migration.moves,
        ignored=migration.ignored,
        legacy_metadata=dict(sorted(migration.legacy_metadata.items())),
        skill_count=len(registry.entries),
        list_command=_list_command(project.scope),
        link_command="" if files.agents or project.scope.is_standalone else _link_command(project),
        linked_skills=_group_links(change.links),
        warnings=change.links.warnings,
    )
    flat_files = {name: move.source.path for name, move in moves.items()}
    return result, change.replace(moves=ChangeSet(flat_files=flat_files))


def _reserved_names(files: ProjectFiles, receipt: Receipt) -> dict[str, str]:
    """Return the names that an installation will need, with the reason."""
    reserved: dict[str, str] = dict.fromkeys(receipt.skills, "is an installed skill whose folder is missing")
    reserved |= dict.fromkeys(files.lockfile.skills, "is locked to another source")
    return reserved | dict.fromkeys(files.requirements, "is required by the manifest")


def _read_local_skills(layout: Layout, folder: FlatFolder, receipt: Receipt) -> Mapping[SkillName, bytes]:
    """Return the SKILL.md of local skills for which the receipt has no metadata of an old registry yet."""
    contents = {}
    for name in folder.skills:
        if is_skill_name(name) and name not in receipt.skills and name not in receipt.inherited:
            try:
                contents[SkillName(name)] = read_skill_file(layout.skill_path(name))
            except OSError:
                continue
    return contents


def _migration_warnings(result: MigrationResult) -> Iterator[str]:
    yield from _frontmatter_warnings(result)
    misnamed = [move for move in result.moves if move.declared_name not in {"", move.name}]
    for move in misnamed[:MAX_MISMATCHES]:
        yield (
            f"{move.source.path} declares the name `{sanitize(move.declared_name, 64)}` but becomes {move.name}/: some "
            f"agents show one, some the other; set `name: {move.name}` in it, or rename the folder"
        )
    if len(misnamed) > MAX_MISMATCHES:
        yield f"{len(misnamed) - MAX_MISMATCHES} more declare another name than that of their folder"
    user_only = [name for name, metadata in result.legacy_metadata.items() if metadata.user_only]
    if user_only:
        yield (
            f"{', '.join(user_only)}: userOnly is only in the registry, which agents do not read; to hide it from "
            "models in agents, too, set `disable-model-invocation: true` in SKILL.md"
        )


def _frontmatter_warnings(result: MigrationResult) -> Iterator[str]:
    """Yield one warning for each kind of frontmatter that some hosts do not read, and for links that no longer lead on.

    Each names the command that repairs or lists them.
    """
    places: dict[str, list[str]] = {}
    for move in result.moves:
        for finding in move.recovered_findings:
            places.setdefault(finding.message, []).append(f"{move.source.path}, line {finding.line}")
        front = read_frontmatter(decode_text(move.data))
        if front.dialect == "toml":
            places.setdefault(TOML_PROBLEM, []).append(move.source.path)
        # A flat file moves alone.
        if target := next((target for _, target in find_links(front.body) if not sibling_name(target)), ""):
            places.setdefault(LINK_PROBLEM, []).append(f"{move.source.path} (`{target}`)")
    for message, where in places.items():
        more = f" and {len(where) - MAX_MISMATCHES} more" if len(where) > MAX_MISMATCHES else ""
        flags, purpose = REPAIRS.get(message, (" --fix", "to repair"))
        command = f"skillpm validate{flags} {shell_word(result.directory)}"
        yield f"{'; '.join(map(sanitize, where[:MAX_MISMATCHES]))}{more}: {message}; {purpose}: `{command}`"


def _group_links(links: LinkPlan) -> dict[str, tuple[SkillName, ...]]:
    """Return the skills that are newly linked, by agent folder."""
    grouped: dict[str, list[SkillName]] = {}
    for name, folders in sorted(links.links_to_create.items()):
        for folder in folders:
            grouped.setdefault(folder, []).append(name)
    return {folder: tuple(names) for folder, names in grouped.items()}


def _link_command(project: Project) -> str:
    return project.command("link", *(find_present_agents(project)[:MAX_AGENTS_NAMED] or ["AGENT"]))


def _list_command(scope: Scope) -> str:
    if scope.is_standalone and scope.kind == "project":
        return f"SKILLPM_HOME={quote(scope.root)} skillpm list -g"
    return scope.command("list")
