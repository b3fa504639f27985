"""The folders a host looks into from here: a profile's roots, with every template filled in."""

import os
import stat
from collections.abc import Sequence

from skillpm.agent_hosts.path_templates import abbreviate_home, expand_template
from skillpm.core.values import Value
from skillpm.files import is_below
from skillpm.formats.host_profile import HostProfile, ProfileRoot
from skillpm.formats.user_config import UserConfig
from skillpm.settings import Settings

ADDITIONAL_PATHS = "$ADDITIONAL"


class SearchRoot(Value):
    """One folder to look into. `label` is what people call it; `off` is the switch that turns it off, or empty.

    `start` is the folder of the project that it was looked for in.
    """

    path: str
    label: str
    profile_root: ProfileRoot
    start_folder: str
    exists: bool
    disabled_by: str = ""


def build_search_roots(
    profile: HostProfile,
    config: UserConfig,
    settings: Settings,
    *,
    extra_paths: Sequence[str] = (),
    user_only: bool = False,
) -> tuple[SearchRoot, ...]:
    """Give the folders in order, highest precedence first; each folder once.

    `extra` folders come before all of the host's own, and are searched whole, hidden folders too; `user_only` leaves
    out those of a project.
    """
    named = ProfileRoot(scope="explicit", paths=tuple(extra_paths), layout="tree", hidden=True)
    found: list[SearchRoot] = []
    for root in (named, *profile.roots):
        if root.scope == "project":
            starts = [] if user_only else _find_start_folders(root, settings)
        else:
            starts = [settings.working_directory]
        for start in starts:
            for template in root.paths:
                found.extend(_expand_root(template, start, root, profile, config, settings))
    return _deduplicate(found)


def _expand_root(
    template: str, start: str, root: ProfileRoot, profile: HostProfile, config: UserConfig, settings: Settings
) -> list[SearchRoot]:
    templates = config.additional_paths if template == ADDITIONAL_PATHS else (template,)
    places = []
    for text in templates:
        path = expand_template(text, settings, home=profile.home, env=profile.env)
        if not path:
            continue
        path = os.path.normpath(os.path.join(start, path))
        label = text if root.scope == "project" else abbreviate_home(path, settings)
        off = _find_disabling_switch(config, settings) if root.claude and ".claude" in text.split("/") else ""
        places.append(
            SearchRoot(
                path=path,
                label=label,
                profile_root=root,
                start_folder=start,
                exists=_folder_exists(path),
                disabled_by=off,
            )
        )
    return places


def _folder_exists(path: str) -> bool:
    """Tell whether there is a folder; one that may not even be looked at counts, so that somebody says so."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def _find_start_folders(root: ProfileRoot, settings: Settings) -> list[str]:
    """Give the folders of the project that a root is looked for in, in the order in which they count."""
    folders = [settings.working_directory]
    if root.walk != "none":
        stop = _find_git_root(folders[0])
        if not stop and root.walk == "home" and is_below(folders[0], settings.home):
            stop = settings.home
        while stop and folders[-1] != stop:
            folders.append(os.path.dirname(folders[-1]))
    return folders[::-1] if root.order == "outermost" else folders


def _find_git_root(folder: str) -> str:
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return ""
    return folder


def _find_disabling_switch(config: UserConfig, settings: Settings) -> str:
    """Give the switch that turns Claude's folders off, or nothing. The environment comes before config.toml."""
    for name in ("SKILLPM_DISABLE_CLAUDE_PATHS", "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS"):
        if text := settings.environ.get(name, "").lower():
            return name if text in {"1", "true", "yes", "on"} else ""
    return "disable-claude-paths" if config.disable_claude_paths else ""


def _deduplicate(roots: list[SearchRoot]) -> tuple[SearchRoot, ...]:
    """Leave out what comes twice: a folder of the user met on the way up is the user's, not the project's."""
    real = [os.path.realpath(place.path) for place in roots]
    others = {path for path, place in zip(real, roots, strict=True) if place.profile_root.scope != "project"}
    seen: set[str] = set()
    kept = []
    for path, place in zip(real, roots, strict=True):
        if path not in seen and not (place.profile_root.scope == "project" and path in others):
            seen.add(path)
            kept.append(place)
    return tuple(kept)
