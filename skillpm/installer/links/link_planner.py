"""Decide which links there should be, and what is in their way. Pure."""

from collections.abc import Callable, Collection, Mapping

from skillpm.core.names import SkillName
from skillpm.core.values import NOTHING, Value
from skillpm.installer.links.state import LinkState


class LinkPlan(Value):
    """Links by agent folder: all that there should be, and of these the ones to make; the ones that go; obstacles;
    and the places that are `left` to what somebody put there, because that was asked for. Of those made the `adopted`
    are no links: a folder that holds the same lies there, and counts as a copy from now on.
    """

    links: Mapping[str, Mapping[SkillName, str]] = NOTHING
    made: Mapping[SkillName, tuple[str, ...]] = NOTHING
    dropped: Mapping[SkillName, tuple[str, ...]] = NOTHING
    obstacles: Mapping[str, tuple[SkillName, ...]] = NOTHING
    left: Mapping[SkillName, tuple[str, ...]] = NOTHING
    adopted: Mapping[SkillName, tuple[str, ...]] = NOTHING

    @property
    def touched(self) -> set[str]:
        """The folders in which anything changes."""
        return {folder for folders in (*self.made.values(), *self.dropped.values()) for folder in folders}


def plan_links(
    folders: Mapping[str, Collection[SkillName]],
    before: Mapping[str, Mapping[SkillName, str]],
    look: Callable[[str, SkillName], LinkState],
    kind: str,
) -> LinkPlan:
    """Plan links for the skills wanted in each folder; `look` tells what is at a place, `kind` what to make."""
    links: dict[str, dict[SkillName, str]] = {}
    made: dict[SkillName, list[str]] = {}
    obstacles: dict[str, list[SkillName]] = {}
    left: dict[SkillName, list[str]] = {}
    adopted: dict[SkillName, list[str]] = {}
    for folder in sorted(folders):
        for name in sorted(folders[folder]):
            state = look(folder, name)
            known = before.get(folder, {}).get(name)
            if state.is_left and known is None:
                left.setdefault(name, []).append(folder)
            if state.itself or (state.is_left and known is None):
                continue
            if state.is_copy and known is None:
                # Left by an installation whose receipt is gone, or committed to git: its content is what it would be.
                links.setdefault(folder, {})[name] = "copy"
                made.setdefault(name, []).append(folder)
                if kind != "copy":
                    adopted.setdefault(name, []).append(folder)
                continue
            stays = known is not None and (state.kind == "ours" or state.is_left)
            links.setdefault(folder, {})[name] = known if known is not None and stays else kind
            if state.kind == "foreign" and not stays:
                obstacles.setdefault(folder, []).append(name)
            if not stays:
                made.setdefault(name, []).append(folder)
    return LinkPlan(
        links=links,
        made={name: tuple(where) for name, where in made.items()},
        dropped=_dropped(folders, before),
        obstacles={folder: tuple(names) for folder, names in obstacles.items()},
        left={name: tuple(where) for name, where in left.items()},
        adopted={name: tuple(where) for name, where in adopted.items()},
    )


def _dropped(
    folders: Mapping[str, Collection[SkillName]], before: Mapping[str, Mapping[SkillName, str]]
) -> dict[SkillName, tuple[str, ...]]:
    """Give the links that were there and are wanted no more."""
    dropped: dict[SkillName, tuple[str, ...]] = {}
    for folder, old in before.items():
        for name in sorted(old):
            if name not in folders.get(folder, ()):
                dropped[name] = (*dropped.get(name, ()), folder)
    return dropped
