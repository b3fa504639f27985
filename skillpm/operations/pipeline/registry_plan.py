"""Plan the registry as it will be after a change, and whole changes that install nothing from the lockfile."""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import Action
from skillpm.installer.disk_state import InstalledState
from skillpm.installer.layout import Layout, read_registry_text
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.installer.links.reconciler import record_created_folders
from skillpm.installer.staging import CopiedSource, content_folder, digest_content, read_content_skill_file
from skillpm.installer.stat_cache import StatCache, read_stat_cache
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.context.scope import Scope
from skillpm.operations.pipeline.blockers import is_unmanaged
from skillpm.operations.pipeline.executor import NewSkill, PlannedChange
from skillpm.operations.pipeline.local_skills import LocalSkills, escaping_link_messages
from skillpm.operations.pipeline.skill_links import plan_local_links
from skillpm.registry.build_state import BuildResult
from skillpm.registry.builder import PendingChanges, StagedSkill, build_registry, load_prior_state
from skillpm.settings import Settings


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
) -> tuple[PlannedChange, BuildResult]:
    """Plan a change that installs nothing from the lockfile: the new skills are local, and linked like all local ones.

    `receipts` are the present one, and that after the change, but for links and copies. The registry is returned, too.
    """
    layout, (before, after) = scope.layout, receipts
    built = plan_registry(layout, files, after, new_skills)
    links = LinkPlan()
    if not scope.is_standalone:
        local = LocalSkills.from_registry(after, built.entries)
        digests = {
            name: digest_content(layout, skill.content) for name, skill in new_skills.items() if name in local.versions
        }
        copies = local.digest_copies(layout, before, settings.link_mode, digests)
        links = plan_local_links(scope, settings, files, before, {name: copies.get(name) for name in local.versions})
        after = after.replace(links=links.links, copies=local.select_copied(links.links, copies))
        after = record_created_folders(before, after, scope.link_folders(settings))
    return PlannedChange(new_skills=new_skills, receipt=after, registry=built, links=links), built


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


class ExpectedRegistry(Value):
    """The registry as far as it can be planned before anything is fetched."""

    # The present text.
    before: str | None
    # The registry after the change; None if it depends on skills that are not fetched yet.
    built: BuildResult | None
    # What is listed beside the skills of the lockfile.
    listed: BuildResult
    # Skills that the actions decide on: all others are local.
    decided: AbstractSet[SkillName]

    @property
    def local_skills(self) -> LocalSkills:
        """The skills that are in the registry and not in the lockfile."""
        local = {name: entry for name, entry in self.listed.entries.items() if name not in self.decided}
        return LocalSkills.from_entries(local, self.listed.disabled)

    @property
    def warnings(self) -> list[str]:
        """What to report about the listed skills."""
        messages = [f"{sanitize(warning.path, 80)}: {warning.message}" for warning in self.listed.warnings]
        return escaping_link_messages(self.listed.problems) + messages


def plan_expected_registry(
    layout: Layout,
    files: ProjectFiles,
    receipts: tuple[Receipt, Receipt],
    stat_cache: StatCache,
    disk: Mapping[SkillName, InstalledState],
    actions: Sequence[Action],
) -> ExpectedRegistry:
    """Build the registry for the actions. `receipts` are the present one and that after the change."""
    receipt, after = receipts
    before = read_registry_text(layout)
    prior = load_prior_state(layout, before, stat_cache)
    decided = {action.name for action in actions if not is_unmanaged(action, receipt)}
    built = None
    # If no folder comes or goes, registry and receipt are known now: whether they change decides whether there is
    # anything to do at all.
    if not any(action.verb in {"add", "update", "remove"} for action in actions):
        intact = {name for name, state in disk.items() if state.kind == "intact"}
        built = build_registry(layout, after, prior, PendingChanges(intact_skills=intact), disabled=files.disabled)
    listed = built or build_registry(
        layout, after, prior, PendingChanges(removed_skills=decided), disabled=files.disabled
    )
    return ExpectedRegistry(before=before, built=built, listed=listed, decided=decided)
