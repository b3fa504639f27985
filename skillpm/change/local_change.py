"""Plan changes of local skills, which install nothing from the lockfile, and the registry as it will be after them."""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from skillpm.change.executor import NewSkill, PlannedChange
from skillpm.change.local_skills import LocalSkills
from skillpm.change.present_skills import FindRefused, back_up_edited_copies, refused_messages
from skillpm.change.skill_links import LinkKinds, plan_local_links
from skillpm.core.digest import Digest, content_hash
from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.names import SKILL_FILE, SkillName
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.receipt import Receipt
from skillpm.installer.disk.layout import Layout, read_registry_text
from skillpm.installer.disk.staging import (
    ConvertedFile,
    CopiedSource,
    LiveLink,
    SkillContent,
    content_folder,
    digest_content,
    read_content_skill_file,
)
from skillpm.installer.disk.stat_cache import read_stat_cache
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.links.state import record_created_folders
from skillpm.registry.build_state import BuildResult
from skillpm.registry.builder import PendingChanges, StagedSkill, build_registry, load_prior_state
from skillpm.scope.project_files import ProjectFiles
from skillpm.scope.scope import Scope
from skillpm.settings import Settings
from skillpm.vetting.acceptance import PresentSkill


def plan_registry(
    layout: Layout,
    files: ProjectFiles,
    receipt: Receipt,
    new_skills: Mapping[SkillName, NewSkill],
    removals: Collection[SkillName] = (),
) -> BuildResult:
    """Build the registry as it will be once the new skills are in place. `receipt` is the one that will apply then."""
    staged = {name: _read_skill(layout, name, skill) for name, skill in new_skills.items()}
    loadable = {name: skill for name, skill in staged.items() if skill is not None}
    pending = PendingChanges(new_skills=loadable, removed_skills={*removals, *(staged.keys() - loadable.keys())})
    prior = load_prior_state(layout, read_registry_text(layout), read_stat_cache(layout.stat_cache))
    return build_registry(layout, receipt, prior, pending, disabled=files.disabled)


def plan_local_change(
    scope: Scope,
    settings: Settings,
    files: ProjectFiles,
    receipts: tuple[Receipt, Receipt],
    new_skills: Mapping[SkillName, NewSkill],
    find_refused: FindRefused,
) -> tuple[PlannedChange, BuildResult]:
    """Plan a change that installs nothing from the lockfile: the new skills are local, and linked like all local ones.

    `receipts` are the present one, and that after the change, but for links and copies. `find_refused` says which
    skills agents must not get. The registry is returned, too.
    """
    layout, (before, after) = scope.layout, receipts
    built = plan_registry(layout, files, after, new_skills)
    links = LinkPlan()
    if not scope.is_standalone:
        local = LocalSkills.from_registry(after, built.entries)
        digests = {
            name: digest_content(layout, skill.content) for name, skill in new_skills.items() if name in local.versions
        }
        copies = local.digest_copies(
            layout, before, digests, are_all_copied=LinkKinds.read(scope, settings, files).has_copies
        )
        refused = find_refused([*_find_skills(layout, before, local, new_skills)])
        visible = {name: copies.get(name) for name in local.versions if name not in refused}
        links = plan_local_links(scope, settings, files, before, visible, refused)
        links = back_up_edited_copies(scope, settings, before, links, refused)
        links = links.replace(warnings=(*links.warnings, *refused_messages(refused)))
        after = after.replace(links=links.links, copies=local.select_copied(links.links, copies))
        after = record_created_folders(before, after, scope.link_folders(settings))
    return PlannedChange(new_skills=new_skills, receipt=after, registry=built, links=links), built


def _find_skills(
    layout: Layout, receipt: Receipt, local: LocalSkills, new_skills: Mapping[SkillName, NewSkill]
) -> Iterator[PresentSkill]:
    """Yield all local skills, and new content: a restored backup may be that of an installed skill."""
    for name in sorted({*local.versions} - {*new_skills}):
        yield PresentSkill(name=name, folder=os.path.realpath(layout.skill_path(name)))
    for name, skill in sorted(new_skills.items()):
        content, installed, claim = skill.content, receipt.skills.get(name), None
        if installed is not None:
            claim = LockedSkill(pin=installed.pin, digest=installed.digest, version=installed.version)
        present = PresentSkill(
            name=name,
            folder=layout.skill_path(name),
            claim=claim,
            digest=None if claim is None else _find_digest(layout, content),
        )
        match content:
            case ConvertedFile():
                file = TreeFile(path=SKILL_FILE, data=content.data, content_hash=content_hash(content.data))
                yield present.replace(tree=FileTree(files=(file,)))
            case FileTree():
                yield present.replace(tree=content)
            case LiveLink() | CopiedSource():
                yield present.replace(folder=os.path.realpath(content_folder(layout, content)))


def _find_digest(layout: Layout, content: SkillContent) -> Digest | None:
    """Return the digest of content; None for a backup that is not a folder."""
    with suppress(OSError):
        return digest_content(layout, content)
    return None


def _read_skill(layout: Layout, name: SkillName, skill: NewSkill) -> StagedSkill | None:
    """Return what the registry needs of a skill; None for a backup that is not a skill, or not a readable one."""
    content = skill.content
    try:
        # A link that would lead to itself: what it leads to now is the skill that the backup replaces.
        if isinstance(content, CopiedSource) and content_folder(layout, content) == layout.skill_path(name):
            return None
        file_name, data = read_content_skill_file(layout, content)
    except OSError:
        if isinstance(content, CopiedSource):
            return None
        raise
    return StagedSkill(file_name=file_name, data=data, file_stats={}, is_edited=skill.is_edited)
