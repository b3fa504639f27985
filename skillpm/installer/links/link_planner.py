"""Decide which links there should be, and what is in their way. Pure."""

from collections.abc import Callable, Collection, Mapping

from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.installer.links.state import LinkState


class LinkPlan(Value):
    """Links by agent folder: all that there should be, and of these the ones to make; the ones that go; obstacles;
    and the places that are `left` to what somebody put there, because that was asked for. Of those made the `adopted`
    are no links: a folder that holds the same lies there, and counts as a copy from now on.
    """

    links: Mapping[str, Mapping[SkillName, str]] = EMPTY_MAPPING
    links_to_create: Mapping[SkillName, tuple[str, ...]] = EMPTY_MAPPING
    links_to_remove: Mapping[SkillName, tuple[str, ...]] = EMPTY_MAPPING
    conflicts: Mapping[str, tuple[SkillName, ...]] = EMPTY_MAPPING
    links_to_skip: Mapping[SkillName, tuple[str, ...]] = EMPTY_MAPPING
    links_to_adopt: Mapping[SkillName, tuple[str, ...]] = EMPTY_MAPPING

    @property
    def changed_folders(self) -> set[str]:
        """The folders in which anything changes."""
        return {
            folder for folders in (*self.links_to_create.values(), *self.links_to_remove.values()) for folder in folders
        }


def plan_links(
    folders: Mapping[str, Collection[SkillName]],
    old_links: Mapping[str, Mapping[SkillName, str]],
    read_state: Callable[[str, SkillName], LinkState],
    link_kind: str,
) -> LinkPlan:
    """Plan links for the skills wanted in each folder; `look` tells what is at a place, `kind` what to make."""
    links: dict[str, dict[SkillName, str]] = {}
    made: dict[SkillName, list[str]] = {}
    obstacles: dict[str, list[SkillName]] = {}
    left: dict[SkillName, list[str]] = {}
    adopted: dict[SkillName, list[str]] = {}
    for folder in sorted(folders):
        for name in sorted(folders[folder]):
            state = read_state(folder, name)
            known = old_links.get(folder, {}).get(name)
            if state.is_skipped and known is None:
                left.setdefault(name, []).append(folder)
            if state.needs_no_link or (state.is_skipped and known is None):
                continue
            if state.is_identical_copy and known is None:
                # Left by an installation whose receipt is gone, or committed to git: its content is what it would be.
                links.setdefault(folder, {})[name] = "copy"
                made.setdefault(name, []).append(folder)
                if link_kind != "copy":
                    adopted.setdefault(name, []).append(folder)
                continue
            stays = known is not None and (state.kind == "ours" or state.is_skipped)
            links.setdefault(folder, {})[name] = known if known is not None and stays else link_kind
            if state.kind == "foreign" and not stays:
                obstacles.setdefault(folder, []).append(name)
            if not stays:
                made.setdefault(name, []).append(folder)
    return LinkPlan(
        links=links,
        links_to_create={name: tuple(where) for name, where in made.items()},
        links_to_remove=_find_links_to_remove(folders, old_links),
        conflicts={folder: tuple(names) for folder, names in obstacles.items()},
        links_to_skip={name: tuple(where) for name, where in left.items()},
        links_to_adopt={name: tuple(where) for name, where in adopted.items()},
    )


def _find_links_to_remove(
    folders: Mapping[str, Collection[SkillName]], old_links: Mapping[str, Mapping[SkillName, str]]
) -> dict[SkillName, tuple[str, ...]]:
    """Give the links that were there and are wanted no more."""
    dropped: dict[SkillName, tuple[str, ...]] = {}
    for folder, old in old_links.items():
        for name in sorted(old):
            if name not in folders.get(folder, ()):
                dropped[name] = (*dropped.get(name, ()), folder)
    return dropped
