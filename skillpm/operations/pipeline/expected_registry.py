"""The registry that a change leads to, as far as it is known before anything is fetched."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import Action
from skillpm.installer.disk_state import InstalledState
from skillpm.installer.layout import Layout, read_registry_text
from skillpm.installer.stat_cache import StatCache
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.operations.pipeline.blockers import is_unmanaged
from skillpm.operations.pipeline.local_skills import LocalSkills, escaping_link_messages
from skillpm.registry.build_state import BuildResult
from skillpm.registry.builder import PendingChanges, build_registry, load_prior_state


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
