"""Local skills: written by hand or made by `migrate`, not installed. Agents should see them, too."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.actions import Action
from skillpm.installer.disk_state import digest_folder
from skillpm.installer.escaping_links import ESCAPING_LINK_MESSAGE
from skillpm.installer.layout import Layout
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.registry.build_state import RegistryProblem


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
        self, layout: Layout, receipt: Receipt, mode: str, new_digests: Mapping[SkillName, Digest] = EMPTY_MAPPING
    ) -> dict[SkillName, Digest]:
        """Return the digests that copies of them would have, for those that are copied.

        `new_digests` are those of skills that are not in place yet.
        """
        names = self.versions if mode == "copy" else self.versions.keys() & receipt.copies.keys()
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
