"""The content of locked skills: fetch it, check it, and turn a plan into a change that can be executed."""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from skillpm.change.content_warnings import (
    declared_name_messages,
    lfs_messages,
    unmet_requirement_messages,
)
from skillpm.change.executor import NewSkill, PlannedChange
from skillpm.change.local_change import plan_registry
from skillpm.change.local_skills import live_target
from skillpm.change.plan import InstallPlan
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.errors import CHECK_LOCK_HINT, DocumentError, NotTrusted, OfflineError, RefusedError
from skillpm.fetchers.common.metadata import choose_version
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import InstalledFile, InstalledSkill
from skillpm.installer.disk.skill_file import read_skill_file
from skillpm.installer.disk.staging import LiveLink, SkillContent
from skillpm.installer.transaction import ChangeSet
from skillpm.requirements.declared_dependencies import MANIFEST_FILE, read_declared_dependencies
from skillpm.scope.project import Project
from skillpm.scope.scope import Scope
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill
from skillpm.store import Proofs, StoreDamaged
from skillpm.vetting.incoming import check_incoming, find_problems, refusal_messages
from skillpm.vetting.problems import IncomingSkill, read_old_content


def fetch_change(project: Project, plan: InstallPlan, fetchers: FetcherDispatcher) -> PlannedChange:
    """Fetch and check everything that a plan installs, and return the change that remains to be executed.

    Raises `FileError` before anything is fetched if a folder is not writable, and `OfflineError` for missing content.
    """
    # Executing checks this again; here it saves a download that could not be installed.
    roles = {*plan.documents, "receipt", "registry"}
    project.scope.target(project.settings).raise_if_unwritable(roles, plan.links.changed_folders)
    written = plan.written_skills
    _refuse_named_links(plan)
    needs_backup = {action.name: action.needs_backup for action in plan.actions if action.name in written}
    locked = {name: plan.lockfile.skills[name] for name in sorted(written)}
    if missing := fetchers.fetch(
        {name: locked[name] for name in sorted(plan.find_missing(project.store, Proofs(project.settings.cache_dir)))}
    ):
        raise OfflineError(missing, skills=[description.partition(" (")[0] for description in missing])
    contents = {name: _read_content(project, name, skill, fetchers) for name, skill in locked.items()}
    _check_dependencies(project.scope, plan, contents, fetchers)
    _check_versions(project.scope, plan, contents)
    incoming = _find_incoming(project, plan, contents)
    try:
        check_incoming(project, incoming, plan.validation)
    except NotTrusted as error:
        if included := [name for name in error.skills if name in plan.files.included]:
            error.hint += (
                f"; `{project.command('uninstall', *included)}` leaves {'it' if len(included) == 1 else 'them'} out"
            )
        raise
    merged = _merge_edits(project, plan, contents)
    check_incoming(project, [_find_merged(project.scope, plan, *each) for each in merged.items()], plan.validation)
    new_skills = {}
    for name, content in contents.items():
        digest = merged[name].digest if name in merged else locked[name].digest or ""
        new_skills[name] = NewSkill(
            content=merged.get(name, content),
            needs_backup=needs_backup[name],
            is_edited=name in merged and digest != locked[name].digest,
            digest=digest,
        )
    installed = {name: _installed_skill(locked[name], content) for name, content in contents.items()}
    receipt = plan.new_receipt.replace(skills={**plan.new_receipt.skills, **installed})
    removals = {action.name: action.needs_backup for action in plan.actions if action.verb == "remove"}
    existing = {name: aside for name, aside in removals.items() if os.path.lexists(project.layout.skill_path(name))}
    registry = plan_registry(project.layout, plan.files, receipt, new_skills, removals)
    pins = {name: skill.pin for name, skill in locked.items()}
    for message in (
        *declared_name_messages([*new_skills], registry.entries),
        *unmet_requirement_messages([*new_skills], registry.entries, project.settings.environ),
        *lfs_messages(contents, pins),
    ):
        project.reporter.warn(message)
    return PlannedChange(
        new_skills=new_skills,
        moves=ChangeSet(removals=existing, documents_read=plan.files.original_texts),
        links=plan.links,
        receipt=receipt,
        registry=registry,
        documents=plan.documents,
        signatures={skill.digest: fetchers.signatures.get(skill.locked.pin, ()) for skill in incoming},
    )


def find_refusals(project: Project, plan: InstallPlan) -> list[str]:
    """Return a warning for each skill that would be refused, as far as its content is in the store: a dry run fetches
    none.
    """
    contents: dict[SkillName, SkillContent] = {}
    for name in sorted(plan.written_skills):
        skill = plan.lockfile.skills[name]
        with suppress(StoreDamaged):
            if skill.digest is not None and (tree := project.store.read(skill.digest, skill.pin.store_variant())):
                contents[name] = tree
    incoming = _find_incoming(project, plan, contents)
    return refusal_messages(find_problems(project, incoming, plan.validation))


def _find_incoming(
    project: Project, plan: InstallPlan, contents: Mapping[SkillName, SkillContent]
) -> list[IncomingSkill]:
    """Return the content to check before it is installed.

    A live link has none that is installed: like all that is there already, it is checked where it is.
    """
    incoming = []
    for name, content in sorted(contents.items()):
        if isinstance(content, FileTree):
            locked, installed = plan.lockfile.skills[name], plan.receipt.skills.get(name)
            old = None
            if installed is not None:
                old = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
            incoming.append(
                IncomingSkill(
                    name=name,
                    locked=locked,
                    tree=content,
                    old=old,
                    read_before=partial(read_old_content, project, name, old),
                )
            )
    return incoming


def _refuse_named_links(plan: InstallPlan) -> None:
    """Raise `NotTrusted` for a new live link that the command names, as for new content: nothing is changed."""
    if problems := [problem for name in sorted(plan.named_links) for problem in plan.refused.get(name, ())]:
        from skillpm.vetting.problems import refusal  # noqa: PLC0415  (only then)

        raise refusal(problems)


def _find_merged(scope: Scope, plan: InstallPlan, name: SkillName, tree: FileTree) -> IncomingSkill:
    """Return merged content as what it is: edited files, which come from nowhere but the skills directory."""
    locked = plan.lockfile.skills[name].replace(digest=tree.digest)
    from skillpm.kinds.local import PathPin  # noqa: PLC0415  (few skills are edited)

    return IncomingSkill(name=name, locked=locked, tree=tree, place=PathPin(path=scope.layout.skill_path(name)))


def _merge_edits(
    project: Project, plan: InstallPlan, contents: Mapping[SkillName, SkillContent]
) -> Mapping[SkillName, FileTree]:
    """Return the content of the skills whose local edits are merged. Raises `BlockedError`."""
    names = {action.name for action in plan.actions if action.merges}
    new = {name: content for name, content in contents.items() if name in names and isinstance(content, FileTree)}
    if not new:
        return {}
    from skillpm.change.edit_merge import merge_edits  # noqa: PLC0415  (starts git)

    return merge_edits(project, plan, new, with_marks=plan.allows_marks)


def _read_content(project: Project, name: SkillName, locked: LockedSkill, fetchers: FetcherDispatcher) -> SkillContent:
    """Return a skill's content, each byte checked against the lockfile."""
    if locked.digest is None:
        if locked.pin.is_live_link:
            fetchers.check_live_link(name, locked.pin.local_folder)
        return LiveLink(target=live_target(project.scope, project.settings, locked.pin))
    return fetch_content(fetchers, name, locked, locked.digest)


def _check_dependencies(
    scope: Scope, plan: InstallPlan, new_names: Collection[SkillName], fetchers: FetcherDispatcher
) -> None:
    """Refuse a lockfile that adds a skill as a dependency of a skill that does not declare it.

    The digest vouches only for a skill's files. What an index said of its dependencies was checked when it was
    locked, but the lockfile may have been edited since.
    """
    dependencies = {*new_names} - {*plan.files.requirements}
    for name, skill in sorted(plan.lockfile.skills.items()):
        locked = dependencies & {*skill.dependencies}
        if not locked or skill.digest is None:
            continue
        declared = _declared_dependencies(fetch_content(fetchers, name, skill, skill.digest))
        if forged := sorted(need for need in locked if skill.dependencies[need] != declared.get(need)):
            raise RefusedError(
                f"`{name}` does not depend on `{forged[0]}`, although the lockfile says so",
                where=f"{scope.lockfile}: skills.{name}.dependencies",
                hint=f"check who changed the lockfile; `{scope.command('update', name)}` corrects it",
                skills=[name],
            )


def _check_versions(scope: Scope, plan: InstallPlan, contents: Mapping[SkillName, SkillContent]) -> None:
    """Refuse a locked version that is neither that of the tag nor that of the SKILL.md: people read it, not the digest.

    What an index published is checked by its client, since an index may give another version than the SKILL.md.
    """
    changed = (name for name, skill in plan.new_receipt.skills.items() if plan.receipt.skills.get(name) != skill)
    for name in sorted({*contents, *changed} & plan.lockfile.skills.keys()):
        skill, content = plan.lockfile.skills[name], contents.get(name)
        if not skill.version or skill.digest is None or skill.pin.index_url:
            continue
        version = _declared_version(content, scope.layout.skill_path(name), skill, name)
        if version != skill.version:
            actual = version or "without a version"
            raise RefusedError(
                f"`{name}` is locked as version {sanitize(skill.version)}, but its content is {actual}",
                where=f"{scope.lockfile}: skills.{name}.version",
                hint=CHECK_LOCK_HINT,
            )


def _declared_version(content: SkillContent | None, folder: str, locked: LockedSkill, name: SkillName) -> str:
    """Return the version of a skill that is about to be installed, or of the folder that stays."""
    try:
        data = content.read(content.skill_file) if isinstance(content, FileTree) else read_skill_file(folder)
        return choose_version(read_skill(data or b""), locked.pin, name, lambda _: None)
    except (NotLoadable, OSError):
        return ""


def _declared_dependencies(tree: FileTree) -> Mapping[str, Any]:
    try:
        metadata = read_skill(tree.read(tree.skill_file) or b"").metadata
        return read_declared_dependencies(metadata, tree.read(MANIFEST_FILE))
    except (NotLoadable, DocumentError):
        return {}


def _installed_skill(locked: LockedSkill, content: SkillContent) -> InstalledSkill:
    """Return the receipt's entry for content that is being installed."""
    files = {}
    if isinstance(content, FileTree):
        files = {
            file.path: InstalledFile(
                sha256=file.content_hash, size=len(file.data), executable=file.executable, link=file.link
            )
            for file in content.files
        }
    return InstalledSkill(pin=locked.pin, digest=locked.digest, version=locked.version, files=files)
