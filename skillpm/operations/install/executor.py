"""Do what was planned: fetch, check, stage, commit. Only under the lock; imported when there is something to do."""

import os
from collections.abc import Collection, Mapping
from typing import Any

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError, OfflineError, RefusedError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.content import fetch_content
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import InstalledFile, InstalledSkill, write_receipt
from skillpm.installer.layout import Layout, read_registry_text
from skillpm.installer.links.created_folders import record_created_folders
from skillpm.installer.skill_file import find_skill_file, read_skill_file
from skillpm.installer.staging import FsyncQueue, LiveLink, SkillContent, prepare_staging, stage_skill
from skillpm.installer.stat_cache import FileStat, to_file_stat, write_stat_cache
from skillpm.installer.transaction import ChangeSet, commit
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.live_links import live_target
from skillpm.operations.install.plan import InstallPlan, update_legacy_metadata, update_receipt
from skillpm.registry.build_state import BuildResult
from skillpm.registry.builder import PendingChanges, StagedSkill, build_registry, load_prior_state
from skillpm.requirements.declared_dependencies import MANIFEST_FILE, read_declared_dependencies
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill


def check_dependencies(
    scope: Scope, plan: InstallPlan, new_names: Collection[SkillName], fetchers: FetcherDispatcher
) -> None:
    """Refuse a lockfile in which a skill that is about to come is needed by one that does not say so.

    The digest vouches for a skill's own words; an index that says others was refused when it was locked.
    """
    unasked = {*new_names} - {*plan.files.requirements}
    for name, skill in sorted(plan.lockfile.skills.items()):
        if unasked & {*skill.dependencies} and skill.digest is not None:
            said = _declared_dependencies(fetch_content(fetchers, name, skill, skill.digest))
            needs = unasked & {*skill.dependencies}
            if forged := sorted(need for need in needs if skill.dependencies[need] != said.get(need)):
                raise RefusedError(
                    f"`{name}` does not need `{forged[0]}` as the lockfile says",
                    where=f"{scope.lockfile}: skills.{name}.dependencies",
                    hint=f"find out who changed the lockfile; `skillpm update{scope.flag} {name}` makes it anew",
                )


def _declared_dependencies(tree: FileTree) -> Mapping[str, Any]:
    try:
        return read_declared_dependencies(
            read_skill(tree.read(tree.skill_file) or b"").metadata, tree.read(MANIFEST_FILE)
        )
    except (NotLoadable, DocumentError):
        return {}


def execute(scope: Scope, context: Context, plan: InstallPlan, fetchers: FetcherDispatcher) -> None:
    """Do what was planned. Only under the lock. Raises `DocumentMoved` where somebody saved a document meanwhile."""
    settings, layout = context.settings, scope.layout
    scope.target(settings).raise_if_unwritable({*plan.documents, "receipt", "registry"}, plan.links.changed_folders)
    comes = plan.written_skills
    puts = {action.name: action for action in plan.actions if action.name in comes}
    contents = _fetch_contents(scope, context, {name: plan.lockfile.skills[name] for name in puts}, fetchers)
    check_dependencies(scope, plan, puts, fetchers)
    prepare_staging(layout, fsync=settings.fsync)
    fresh: dict[SkillName, StagedSkill] = {}
    installed = dict(update_receipt(scope, plan.receipt, plan.lockfile, plan.disk, plan.actions))
    settling = FsyncQueue(fsync=settings.fsync)
    for name, content in contents.items():
        stamps = stage_skill(layout, name, content)
        settling.add(os.path.join(layout.staging, name))
        locked = plan.lockfile.skills[name]
        file, data = _read_skill_file(layout, content)
        fresh[name] = StagedSkill(data=data, file_stats=stamps, file_name=file)
        installed[name] = installed_skill(locked, content)
    removals = {action.name: action.needs_backup for action in plan.actions if action.verb == "remove"}
    inherited = update_legacy_metadata(scope, plan.receipt, plan.actions)
    after = plan.receipt.replace(skills=installed, links=plan.links.links, inherited=inherited, copies=plan.copies)
    after = record_created_folders(plan.receipt, after, scope.link_folders(settings))
    built = build_registry(
        layout,
        after,
        load_prior_state(layout, read_registry_text(layout), plan.stat_cache),
        PendingChanges(new_skills=fresh, removed_skills=removals),
        disabled=plan.files.disabled,
    )
    for problem in built.problems:
        context.reporter.warn(f"{problem.path} is not in the registry: {problem.message}")
    documents = {**plan.documents, "receipt": write_receipt(after), "registry": built.text}
    here = {name: lies for name, lies in removals.items() if os.path.lexists(layout.skill_path(name))}
    settling.wait()
    change = ChangeSet(
        puts={name: action.needs_backup for name, action in puts.items()},
        removals=here,
        link_backups=plan.links.conflicts,
        staged_digests={name: plan.lockfile.skills[name].digest or "" for name in puts},
        documents_read=plan.files.original_texts,
    )
    commit(scope.target(settings), change, documents, context.reporter.warn)
    record_file_stats(scope, built)


def record_file_stats(scope: Scope, built: BuildResult) -> None:
    """Write the stat cache for a registry that was just written."""
    try:
        registry: dict[str, FileStat] = {"skills.json": to_file_stat(os.stat(scope.layout.registry))}
        if built.metadata_digest:
            registry["inherited"] = built.metadata_digest
    except OSError:
        return
    write_stat_cache(scope.layout.stat_cache, {**built.file_stats, "": registry})


def installed_skill(locked: LockedSkill, content: SkillContent) -> InstalledSkill:
    """Give the receipt's entry for content that is being installed."""
    files = {}
    if isinstance(content, FileTree):
        files = {
            file.path: InstalledFile(
                sha256=file.content_hash, size=len(file.data), executable=file.executable, link=file.link
            )
            for file in content.files
        }
    return InstalledSkill(pin=locked.pin, digest=locked.digest, version=locked.version, files=files)


def _fetch_contents(
    scope: Scope, context: Context, locked: Mapping[SkillName, LockedSkill], fetchers: FetcherDispatcher
) -> dict[SkillName, SkillContent]:
    """Have every skill's content at hand, every byte checked against the lockfile."""
    stored = {name: skill for name, skill in locked.items() if skill.digest is not None}
    absent = {name: skill for name, skill in stored.items() if _must_fetch(context, skill)}
    missing = fetchers.fetch(absent) if absent else []
    if missing:
        raise OfflineError(missing)
    contents: dict[SkillName, SkillContent] = {}
    for name, skill in sorted(locked.items()):
        if skill.digest is None:
            contents[name] = LiveLink(target=live_target(scope, context.settings, skill.pin))
            continue
        contents[name] = fetch_content(fetchers, name, skill, skill.digest)
    return contents


def _must_fetch(context: Context, skill: LockedSkill) -> bool:
    return skill.digest is not None and not context.store.has(skill.digest, variant_of(skill.pin))


def _read_skill_file(layout: Layout, content: SkillContent) -> tuple[str, bytes]:
    """Give the name and the bytes of the file that makes it a skill."""
    if isinstance(content, FileTree):
        return content.skill_file, content.read(content.skill_file) or b""
    folder = os.path.join(layout.directory, content.target) if isinstance(content, LiveLink) else content.path
    return find_skill_file(folder), read_skill_file(folder)
