"""Skills of the user's own: made by hand, or by `migrate`. Nobody installed them, and hosts are to see them too."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from skillpm.core.digest import Digest
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.text import show
from skillpm.core.values import NOTHING, Value
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.actions import Action
from skillpm.installer.disk_state import digest_of_folder
from skillpm.installer.escaping_links import LEADS_OUT
from skillpm.installer.layout import Layout
from skillpm.installer.links.link_planner import LinkPlan
from skillpm.registry.build_state import Problem


class OwnSkills(Value):
    """The skills that a registry lists and no lockfile: name -> version. `misnamed` cannot be linked: what a receipt
    names is the name of a skill. `disabled` are linked for nobody.
    """

    names: Mapping[SkillName, str]
    misnamed: tuple[str, ...] = ()
    disabled: tuple[SkillName, ...] = ()

    @classmethod
    def of(cls, entries: Mapping[str, RegistryEntry], disabled: Iterable[str] = ()) -> "OwnSkills":
        """Take them from registry entries."""
        return cls(
            names={
                SkillName(name): entries[name].get("version", "") for name in sorted(entries) if is_skill_name(name)
            },
            misnamed=tuple(name for name in sorted(entries) if not is_skill_name(name)),
            disabled=tuple(SkillName(name) for name in disabled),
        )

    def tell_misnamed(self, warn: Callable[[str], None]) -> None:
        """Say which cannot be linked."""
        for name in self.misnamed:
            rule = "a skill's name has lower-case letters, digits and single hyphens"
            warn(f"{show(name, 80)} is not linked: {rule}; rename its folder")

    @classmethod
    def beside(cls, receipt: Receipt, entries: Mapping[str, RegistryEntry]) -> "OwnSkills":
        """Take those that nobody installed."""
        return cls.of({name: entry for name, entry in entries.items() if name not in receipt.skills})

    def actions(self, known: Collection[SkillName]) -> Iterator[Action]:
        """Give what is done with them: they are kept, whatever becomes of their links."""
        for name, version in {**dict.fromkeys(self.disabled, ""), **self.names}.items():
            if name not in known:
                yield Action(verb="keep", name=name, was=version, becomes=version)

    def copies(
        self, layout: Layout, receipt: Receipt, mode: str, coming: Mapping[SkillName, Digest] = NOTHING
    ) -> dict[SkillName, Digest]:
        """Give what copies of them would be, where they are copied. `coming` are not at their place yet."""
        names = self.names if mode == "copy" else self.names.keys() & receipt.copies.keys()
        return {
            name: coming.get(name) or digest_of_folder(os.path.realpath(layout.skill(name))) for name in sorted(names)
        }

    def copied(
        self, links: Mapping[str, Mapping[SkillName, str]], copies: Mapping[SkillName, Digest]
    ) -> dict[SkillName, Digest]:
        """Give those that are copied for some host, with what the copies are."""
        linked = {name for folder in links.values() for name, kind in folder.items() if kind == "copy"}
        return {name: copies[name] for name in sorted(linked & copies.keys())}


def tell_outside(problems: Iterable[Problem], warn: Callable[[str], None]) -> None:
    """Say which are left out because they are links out of the project: nobody may miss that."""
    for problem in problems:
        if problem.message == LEADS_OUT:
            warn(f"{show(problem.path, 80)} is not in the registry: {problem.message}")


def forgotten(layout: Layout, links: LinkPlan, known: Collection[SkillName]) -> Iterator[Action]:
    """Give what is done with skills of which there is nothing left but links: their folder is gone, or no skill."""
    for name, folders in sorted(links.dropped.items()):
        if name not in known:
            unlinked = f"no longer linked in {', '.join(folders)}"
            if os.path.lexists(layout.skill(name)):
                yield Action(verb="relink", name=name, reason=unlinked, done="unlinked")
            else:
                yield Action(verb="remove", name=name, reason=f"its folder is gone; {unlinked}")
