"""Plan which links to create and remove, and what conflicts with them. Pure."""

from collections.abc import Callable, Collection, Mapping

from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.installer.links.state import LinkState


class LinkChoice(Value):
    """The kind of links in an agent folder; `is_required` if links of another kind there are converted."""

    kind: str
    is_required: bool = False


class LinkPlan(Value):
    """The links after a change, and how they come about."""

    # Agent folder -> skill -> kind of link: all links after the change.
    links: Mapping[str, Mapping[SkillName, str]] = EMPTY_MAPPING
    # Skill -> agent folders; includes the adopted ones.
    links_to_create: Mapping[SkillName, tuple[str, ...]] = EMPTY_MAPPING
    links_to_remove: Mapping[SkillName, tuple[str, ...]] = EMPTY_MAPPING
    # Agent folder -> skills whose link path is occupied by something else.
    conflicts: Mapping[str, tuple[SkillName, ...]] = EMPTY_MAPPING
    # Occupied link paths that the user chose to leave as they are.
    links_to_skip: Mapping[SkillName, tuple[str, ...]] = EMPTY_MAPPING
    # Link paths with an identical folder, which is recorded as a copy instead of being replaced.
    links_to_adopt: Mapping[SkillName, tuple[str, ...]] = EMPTY_MAPPING
    warnings: tuple[str, ...] = ()

    @property
    def changed_folders(self) -> set[str]:
        """The agent folders in which a link is created or removed."""
        return {
            folder for folders in (*self.links_to_create.values(), *self.links_to_remove.values()) for folder in folders
        }


def plan_links(
    folders: Mapping[str, Collection[SkillName]],
    old_links: Mapping[str, Mapping[SkillName, str]],
    read_state: Callable[[str, SkillName], LinkState],
    choose_kind: Callable[[str], LinkChoice],
) -> LinkPlan:
    """Plan the links for the skills requested in each agent folder.

    `old_links` are those in the receipt, `read_state` returns what is at a link's path, and `choose_kind` the kind of
    links in a folder.
    """
    links: dict[str, dict[SkillName, str]] = {}
    created: dict[SkillName, list[str]] = {}
    conflicts: dict[str, list[SkillName]] = {}
    skipped: dict[SkillName, list[str]] = {}
    adopted: dict[SkillName, list[str]] = {}
    for folder in sorted(folders):
        choice = choose_kind(folder)
        for name in sorted(folders[folder]):
            state = read_state(folder, name)
            recorded_kind = old_links.get(folder, {}).get(name)
            if state.is_skipped and recorded_kind is None:
                skipped.setdefault(name, []).append(folder)
            if state.needs_no_link or (state.is_skipped and recorded_kind is None):
                continue
            if state.is_identical_copy and recorded_kind is None:
                # Installed with a receipt that is lost since, or committed to git. The content is identical, so it is
                # adopted instead of reported as a conflict.
                links.setdefault(folder, {})[name] = "copy"
                created.setdefault(name, []).append(folder)
                if choice.kind != "copy":
                    adopted.setdefault(name, []).append(folder)
                continue
            is_kept = recorded_kind is not None and (state.kind == "ours" or state.is_skipped)
            is_converted = is_kept and state.kind == "ours" and choice.is_required and recorded_kind != choice.kind
            keeps_kind = recorded_kind is not None and is_kept and not is_converted
            links.setdefault(folder, {})[name] = recorded_kind if recorded_kind and keeps_kind else choice.kind
            if state.kind == "foreign" and not is_kept:
                conflicts.setdefault(folder, []).append(name)
            if not is_kept or is_converted:
                created.setdefault(name, []).append(folder)
    return LinkPlan(
        links=links,
        links_to_create={name: tuple(places) for name, places in created.items()},
        links_to_remove=_find_links_to_remove(folders, old_links),
        conflicts={folder: tuple(names) for folder, names in conflicts.items()},
        links_to_skip={name: tuple(places) for name, places in skipped.items()},
        links_to_adopt={name: tuple(places) for name, places in adopted.items()},
    )


def _find_links_to_remove(
    folders: Mapping[str, Collection[SkillName]], old_links: Mapping[str, Mapping[SkillName, str]]
) -> dict[SkillName, tuple[str, ...]]:
    """Return the recorded links that are not requested any more."""
    dropped: dict[SkillName, tuple[str, ...]] = {}
    for folder, old in old_links.items():
        for name in sorted(old):
            if name not in folders.get(folder, ()):
                dropped[name] = (*dropped.get(name, ()), folder)
    return dropped
