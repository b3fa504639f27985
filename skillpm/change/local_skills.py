"""Local skills: written by hand or made by `migrate`, not installed. Agents should see them, too."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.receipt import InstalledSkill, Receipt
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.actions import Action
from skillpm.installer.disk.disk_state import InstalledState, digest_folder
from skillpm.installer.disk.layout import Layout
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.kinds.base import Pin
from skillpm.registry.build_state import RegistryProblem
from skillpm.scope.scope import Scope
from skillpm.settings import Settings


class LocalSkills(Value):
    """The skills that are in the registry and not in the lockfile."""

    # Name -> version, which may be empty.
    versions: Mapping[SkillName, str]
    # Folders that cannot be linked, since a receipt holds only valid names.
    invalid_names: tuple[str, ...] = ()
    disabled: tuple[SkillName, ...] = ()

    @classmethod
    def from_entries(cls, entries: Mapping[str, RegistryEntry], disabled: Iterable[str] = ()) -> "LocalSkills":
        """Create them from registry entries."""
        return cls(
            versions={
                SkillName(name): entries[name].get("version", "") for name in sorted(entries) if is_skill_name(name)
            },
            invalid_names=tuple(name for name in sorted(entries) if not is_skill_name(name)),
            disabled=tuple(SkillName(name) for name in disabled),
        )

    def invalid_name_messages(self) -> list[str]:
        """Return a warning for each skill whose name prevents a link."""
        rule = "the name of a skill consists of lower-case letters, digits and single hyphens"
        return [f"{sanitize(name, 80)} is not linked: {rule}; rename its folder" for name in self.invalid_names]

    @classmethod
    def from_registry(cls, receipt: Receipt, entries: Mapping[str, RegistryEntry]) -> "LocalSkills":
        """Create them from the entries that are not in the receipt."""
        return cls.from_entries({name: entry for name, entry in entries.items() if name not in receipt.skills})

    def make_actions(self, known: Collection[SkillName]) -> Iterator[Action]:
        """Yield an action for each that is not in `known`: it is kept, whatever happens to its links."""
        for name, version in {**dict.fromkeys(self.disabled, ""), **self.versions}.items():
            if name not in known:
                yield Action(verb="keep", name=name, old_version=version, new_version=version)

    def digest_copies(
        self,
        layout: Layout,
        receipt: Receipt,
        new_digests: Mapping[SkillName, Digest] = EMPTY_MAPPING,
        *,
        are_all_copied: bool,
    ) -> dict[SkillName, Digest]:
        """Return the digests that copies of them would have, for those that are copied.

        `new_digests` are those of skills that are not in place yet.
        """
        names = self.versions if are_all_copied else self.versions.keys() & receipt.copies.keys()
        return {
            name: new_digests.get(name) or digest_folder(os.path.realpath(layout.skill_path(name)))
            for name in sorted(names)
        }

    def select_copied(
        self, links: Mapping[str, Mapping[SkillName, str]], copies: Mapping[SkillName, Digest]
    ) -> dict[SkillName, Digest]:
        """Return the digests of those that are copied for some agent."""
        linked = {name for folder in links.values() for name, kind in folder.items() if kind == "copy"}
        return {name: copies[name] for name in sorted(linked & copies.keys())}


def escaping_link_messages(problems: Iterable[RegistryProblem]) -> list[str]:
    """Return a warning for each skill that is not listed because it is a link out of the project."""
    return [
        f"{sanitize(problem.path, 80)} is not in the registry: {problem.message}"
        for problem in problems
        if problem.message == ESCAPING_LINK_MESSAGE
    ]


def make_orphan_actions(layout: Layout, links: LinkPlan, known: Collection[SkillName]) -> Iterator[Action]:
    """Yield an action for each skill of which only links are left: its folder is gone, or is not a skill any more."""
    for name, folders in sorted(links.links_to_remove.items()):
        if name not in known:
            unlinked = f"no longer linked in {', '.join(folders)}"
            if os.path.lexists(layout.skill_path(name)):
                yield Action(verb="relink", name=name, reason=unlinked, outcome="unlinked")
            else:
                yield Action(verb="remove", name=name, reason=f"its folder is missing; {unlinked}")


def live_target(scope: Scope, settings: Settings, pin: Pin) -> str:
    """Return the target of a live link: relative inside the project, so that a checkout can move, else absolute."""
    target = source_folder(scope, settings, pin)
    is_relative = pin.local_folder[:1] == "."
    return os.path.relpath(target, os.path.realpath(scope.layout.directory)) if is_relative else target


def link_targets(scope: Scope, settings: Settings, name: SkillName, pin: Pin) -> tuple[str, str]:
    """Return the expected and the actual target of a live link; of anything but a link, the expected one twice."""
    path, target = scope.layout.skill_path(name), source_folder(scope, settings, pin)
    return (target, os.path.realpath(path)) if os.path.islink(path) else (target, target)


def wrong_target_message(scope: Scope, settings: Settings, name: SkillName, pin: Pin) -> str:
    """Describe a live link with another target than the folder it was installed from; empty if it is correct."""
    expected, actual = link_targets(scope, settings, name, pin)
    return "" if actual == expected else f"its link points to {sanitize(actual)}, not to {expected}"


def mark_edited_links(
    scope: Scope,
    settings: Settings,
    disk: Mapping[SkillName, InstalledState],
    installed: Mapping[SkillName, InstalledSkill],
) -> dict[SkillName, InstalledState]:
    """Return the states with every live link that has another target marked as edited."""
    states = dict(disk)
    for name, skill in installed.items():
        if skill.digest is None and disk[name].kind == "intact":
            message = wrong_target_message(scope, settings, name, skill.pin)
            states[name] = InstalledState(kind="edited", reason=message) if message else disk[name]
    return states


def source_folder(scope: Scope, settings: Settings, pin: Pin) -> str:
    """Return the real path of the local folder that a skill comes from, to which a live link points."""
    recorded = pin.local_folder
    path = settings.home + recorded[1:] if recorded.startswith("~/") else recorded
    return os.path.realpath(os.path.join(scope.base, path))
