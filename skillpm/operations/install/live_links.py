"""Live links: what one says, and whether it still leads where it was installed from."""

import os
from collections.abc import Mapping

from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.formats.pin import PathPin, Pin
from skillpm.formats.receipt import InstalledSkill
from skillpm.installer.disk_state import InstalledState
from skillpm.operations.context.scope import Scope
from skillpm.settings import Settings


def live_target(scope: Scope, settings: Settings, pin: Pin) -> str:
    """Give what a live link says: relative inside the project, so that a checkout can move, else absolute."""
    target = source_folder(scope, settings, pin)
    is_relative = isinstance(pin, PathPin) and pin.path[:1] == "."
    return os.path.relpath(target, os.path.realpath(scope.layout.directory)) if is_relative else target


def link_targets(scope: Scope, settings: Settings, name: SkillName, pin: Pin) -> tuple[str, str]:
    """Give where a live link is to lead, and where it leads; what is no link leads nowhere."""
    place, target = scope.layout.skill_path(name), source_folder(scope, settings, pin)
    return (target, os.path.realpath(place)) if os.path.islink(place) else (target, target)


def wrong_target_message(scope: Scope, settings: Settings, name: SkillName, pin: Pin) -> str:
    """Say where a live link leads that does not lead where it was installed from; empty for one that does."""
    target, there = link_targets(scope, settings, name, pin)
    return "" if there == target else f"its link leads to {sanitize(there)}, not to {target}"


def mark_edited_links(
    scope: Scope,
    settings: Settings,
    disk: Mapping[SkillName, InstalledState],
    installed: Mapping[SkillName, InstalledSkill],
) -> dict[SkillName, InstalledState]:
    """Take live links that lead elsewhere for what they are: somebody's edit."""
    found = dict(disk)
    for name, skill in installed.items():
        if (
            skill.digest is None
            and disk[name].kind == "intact"
            and wrong_target_message(scope, settings, name, skill.pin)
        ):
            found[name] = InstalledState(kind="edited", reason=wrong_target_message(scope, settings, name, skill.pin))
    return found


def source_folder(scope: Scope, settings: Settings, pin: Pin) -> str:
    """Give the real folder of this machine that a skill comes from, to which a live link leads."""
    written = pin.path if isinstance(pin, PathPin) else ""
    path = settings.home + written[1:] if written.startswith("~/") else written
    return os.path.realpath(os.path.join(os.path.dirname(scope.manifest), path))
