"""Live links: their targets, and whether they still point at the folder that they were installed from."""

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
    """Return the target of a live link: relative inside the project, so that a checkout can move, else absolute."""
    target = source_folder(scope, settings, pin)
    is_relative = isinstance(pin, PathPin) and pin.path[:1] == "."
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
    recorded = pin.path if isinstance(pin, PathPin) else ""
    path = settings.home + recorded[1:] if recorded.startswith("~/") else recorded
    return os.path.realpath(os.path.join(os.path.dirname(scope.manifest), path))
