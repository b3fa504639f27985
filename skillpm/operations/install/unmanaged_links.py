"""Skills of the user's own: made by hand, or by `migrate`. Nobody installed them, and hosts are to see them too."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

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
    """The skills that a registry lists and no lockfile: name -> version. `misnamed` cannot be linked: what a receipt
    names is the name of a skill. `disabled` are linked for nobody.
    """

    versions: Mapping[SkillName, str]
    invalid_names: tuple[str, ...] = ()
    disabled: tuple[SkillName, ...] = ()

    @classmethod
    def from_entries(cls, entries: Mapping[str, RegistryEntry], disabled: Iterable[str] = ()) -> "LocalSkills":
        """Take them from registry entries."""
        return cls(
            versions={
                SkillName(name): entries[name].get("version", "") for name in sorted(entries) if is_skill_name(name)
            },
            invalid_names=tuple(name for name in sorted(entries) if not is_skill_name(name)),
            disabled=tuple(SkillName(name) for name in disabled),
        )

    def warn_invalid_names(self, warn: Callable[[str], None]) -> None:
        """Say which cannot be linked."""
        for name in self.invalid_names:
            rule = "a skill's name has lower-case letters, digits and single hyphens"
            warn(f"{sanitize(name, 80)} is not linked: {rule}; rename its folder")

    @classmethod
    def from_registry(cls, receipt: Receipt, entries: Mapping[str, RegistryEntry]) -> "LocalSkills":
        """Take those that nobody installed."""
        return cls.from_entries({name: entry for name, entry in entries.items() if name not in receipt.skills})

    def make_actions(self, known: Collection[SkillName]) -> Iterator[Action]:
        """Give what is done with them: they are kept, whatever becomes of their links."""
        for name, version in {**dict.fromkeys(self.disabled, ""), **self.versions}.items():
            if name not in known:
                yield Action(verb="keep", name=name, old_version=version, new_version=version)

    def digest_copies(
        self, layout: Layout, receipt: Receipt, mode: str, new_digests: Mapping[SkillName, Digest] = EMPTY_MAPPING
    ) -> dict[SkillName, Digest]:
        """Give what copies of them would be, where they are copied. `coming` are not at their place yet."""
        names = self.versions if mode == "copy" else self.versions.keys() & receipt.copies.keys()
        return {
            name: new_digests.get(name) or digest_folder(os.path.realpath(layout.skill_path(name)))
            for name in sorted(names)
        }

    def select_copied(
        self, links: Mapping[str, Mapping[SkillName, str]], copies: Mapping[SkillName, Digest]
    ) -> dict[SkillName, Digest]:
        """Give those that are copied for some host, with what the copies are."""
        linked = {name for folder in links.values() for name, kind in folder.items() if kind == "copy"}
        return {name: copies[name] for name in sorted(linked & copies.keys())}


def warn_escaping_links(problems: Iterable[RegistryProblem], warn: Callable[[str], None]) -> None:
    """Say which are left out because they are links out of the project: nobody may miss that."""
    for problem in problems:
        if problem.message == ESCAPING_LINK_MESSAGE:
            warn(f"{sanitize(problem.path, 80)} is not in the registry: {problem.message}")


def make_orphan_actions(layout: Layout, links: LinkPlan, known: Collection[SkillName]) -> Iterator[Action]:
    """Give what is done with skills of which there is nothing left but links: their folder is gone, or no skill."""
    for name, folders in sorted(links.links_to_remove.items()):
        if name not in known:
            unlinked = f"no longer linked in {', '.join(folders)}"
            if os.path.lexists(layout.skill_path(name)):
                yield Action(verb="relink", name=name, reason=unlinked, outcome="unlinked")
            else:
                yield Action(verb="remove", name=name, reason=f"its folder is gone; {unlinked}")
