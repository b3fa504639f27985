"""The plan of a change: what is installed, what should be, and the actions between the two."""

from collections.abc import Mapping

from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.fetchers.base import variant_of
from skillpm.formats.index_sources import ConfiguredIndex
from skillpm.formats.lockfile import Lockfile
from skillpm.formats.receipt import Receipt
from skillpm.installer.actions import Action
from skillpm.installer.disk_state import InstalledState
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.operations.context.project_files import ProjectFiles
from skillpm.store import Store


class InstallPlan(Value):
    """A planned change: the present state, the state to reach, and the actions that lead from one to the other."""

    files: ProjectFiles
    lockfile: Lockfile
    # The receipt as it is, and as it will be once the skills to write are recorded in it.
    receipt: Receipt
    new_receipt: Receipt
    disk: Mapping[SkillName, InstalledState]
    actions: tuple[Action, ...]
    links: LinkPlan
    # New texts, by role. Registry and receipt are among them only if no folder is written or removed.
    documents: Mapping[str, str] = EMPTY_MAPPING
    # Indexes that this change adds to the manifest.
    added_indexes: tuple[ConfiguredIndex, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything is up to date."""
        return not self.documents and all(action.verb == "keep" for action in self.actions)

    @property
    def written_skills(self) -> set[SkillName]:
        """The skills whose files are to be written."""
        writing = (action for action in self.actions if action.verb in {"add", "update"})
        return {action.name for action in writing if self._needs_files(action)}

    def find_missing(self, store: Store) -> set[SkillName]:
        """Return the skills to write whose content is not in the store, so that it has to be fetched."""
        skills = ((name, self.lockfile.skills[name]) for name in self.written_skills)
        contents = ((name, skill.digest, variant_of(skill.pin)) for name, skill in skills)
        return {name for name, digest, variant in contents if digest is not None and not store.has(digest, variant)}

    def _needs_files(self, action: Action) -> bool:
        """Return whether files must be written: not if the commit has changed, and the folder's tree has not."""
        old, new = self.receipt.skills.get(action.name), self.lockfile.skills[action.name]
        if action.verb == "add" or old is None or self.disk[action.name].kind != "intact":
            return True
        if new.digest is None:
            return old.pin != new.pin  # a live link has no content but its target
        return old.digest != new.digest or variant_of(old.pin) != variant_of(new.pin)
