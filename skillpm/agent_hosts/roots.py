"""The folders a host looks into from here: a profile's roots, with every template filled in."""

import os
import stat
from collections.abc import Sequence

from skillpm.agent_hosts.path_templates import filled, shortened
from skillpm.core.values import Value
from skillpm.files import is_below
from skillpm.formats.host_profile import Profile, Root
from skillpm.formats.user_config import Config
from skillpm.settings import Settings

ADDITIONAL = "$ADDITIONAL"


class Place(Value):
    """One folder to look into. `label` is what people call it; `off` is the switch that turns it off, or empty.

    `start` is the folder of the project that it was looked for in.
    """

    path: str
    label: str
    root: Root
    start: str
    exists: bool
    off: str = ""


def places_of(
    profile: Profile, config: Config, settings: Settings, *, extra: Sequence[str] = (), user_only: bool = False
) -> tuple[Place, ...]:
    """Give the folders in order, highest precedence first; each folder once.

    `extra` folders come before all of the host's own, and are searched whole, hidden folders too; `user_only` leaves
    out those of a project.
    """
    named = Root(scope="explicit", paths=tuple(extra), layout="tree", hidden=True)
    found: list[Place] = []
    for root in (named, *profile.roots):
        if root.scope == "project":
            starts = [] if user_only else _folders(root, settings)
        else:
            starts = [settings.working_directory]
        for start in starts:
            for template in root.paths:
                found.extend(_places(template, start, root, profile, config, settings))
    return _each_once(found)


def _places(template: str, start: str, root: Root, profile: Profile, config: Config, settings: Settings) -> list[Place]:
    templates = config.additional_paths if template == ADDITIONAL else (template,)
    places = []
    for text in templates:
        path = filled(text, settings, home=profile.home, env=profile.env)
        if not path:
            continue
        path = os.path.normpath(os.path.join(start, path))
        label = text if root.scope == "project" else shortened(path, settings)
        off = _switched_off(config, settings) if root.claude and ".claude" in text.split("/") else ""
        places.append(Place(path=path, label=label, root=root, start=start, exists=_is_there(path), off=off))
    return places


def _is_there(path: str) -> bool:
    """Tell whether there is a folder; one that may not even be looked at counts, so that somebody says so."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def _folders(root: Root, settings: Settings) -> list[str]:
    """Give the folders of the project that a root is looked for in, in the order in which they count."""
    folders = [settings.working_directory]
    if root.walk != "none":
        stop = _git_root(folders[0])
        if not stop and root.walk == "home" and is_below(folders[0], settings.home):
            stop = settings.home
        while stop and folders[-1] != stop:
            folders.append(os.path.dirname(folders[-1]))
    return folders[::-1] if root.order == "outermost" else folders


def _git_root(folder: str) -> str:
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return ""
    return folder


def _switched_off(config: Config, settings: Settings) -> str:
    """Give the switch that turns Claude's folders off, or nothing. The environment comes before config.toml."""
    for name in ("SKILLPM_DISABLE_CLAUDE_PATHS", "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS"):
        if text := settings.environ.get(name, "").lower():
            return name if text in {"1", "true", "yes", "on"} else ""
    return "disable-claude-paths" if config.disable_claude_paths else ""


def _each_once(found: list[Place]) -> tuple[Place, ...]:
    """Leave out what comes twice: a folder of the user met on the way up is the user's, not the project's."""
    real = [os.path.realpath(place.path) for place in found]
    others = {path for path, place in zip(real, found, strict=True) if place.root.scope != "project"}
    seen: set[str] = set()
    kept = []
    for path, place in zip(real, found, strict=True):
        if path not in seen and not (place.root.scope == "project" and path in others):
            seen.add(path)
            kept.append(place)
    return tuple(kept)
