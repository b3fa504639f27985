"""The folders that a host searches: the roots of its profile with all templates expanded."""

import os
import stat
from collections.abc import Sequence

from skillpm.agent_hosts.known_agents import abbreviate_home, expand_template
from skillpm.core.values import Value
from skillpm.files import is_below
from skillpm.formats.host_profile import HostProfile, ProfileRoot
from skillpm.formats.user_config import UserConfig
from skillpm.installer.escaping_links import boundary_of
from skillpm.settings import Settings

ADDITIONAL_PATHS = "$ADDITIONAL"


class SearchRoot(Value):
    """One folder to search."""

    path: str
    # How messages name it: relative in a project, else with `~`.
    label: str
    profile_root: ProfileRoot
    # The project folder that the profile's relative path was applied to.
    start_folder: str
    exists: bool
    # The variable or setting that switches it off; empty if it is on.
    disabled_by: str = ""
    # The folder that its links must not leave, if it is a project's.
    boundary: str = ""


def build_search_roots(
    profile: HostProfile,
    config: UserConfig,
    settings: Settings,
    *,
    extra_paths: Sequence[str] = (),
    user_only: bool = False,
) -> tuple[SearchRoot, ...]:
    """Return the folders to search, highest precedence first, each folder once in each layout.

    `extra_paths` come before the host's own folders and are searched completely, hidden folders included. `user_only`
    leaves out the folders of the project.
    """
    switch = _find_disabling_switch(config, settings)
    explicit = ProfileRoot(scope="explicit", paths=tuple(extra_paths), layout="tree", hidden=True)
    search_roots: list[SearchRoot] = []
    for root in (explicit, *profile.roots):
        if root.scope == "project":
            starts = [] if user_only else _find_start_folders(root, settings)
        else:
            starts = [settings.working_directory]
        for start in starts:
            for template in root.paths:
                templates = config.additional_paths if template == ADDITIONAL_PATHS else (template,)
                search_roots.extend(_expand_root(templates, start, root, profile, switch, settings))
    return _deduplicate(search_roots)


def _expand_root(
    templates: Sequence[str], start: str, root: ProfileRoot, profile: HostProfile, switch: str, settings: Settings
) -> list[SearchRoot]:
    roots = []
    for text in templates:
        path = expand_template(text, settings, home=profile.home, env=profile.env)
        if not path:
            continue
        path = os.path.normpath(os.path.join(start, path))
        label = text if root.scope == "project" else abbreviate_home(path, settings)
        disabled_by = switch if root.claude and ".claude" in text.split("/") else ""
        roots.append(
            SearchRoot(
                path=path,
                label=label,
                profile_root=root,
                start_folder=start,
                exists=_folder_exists(path),
                disabled_by=disabled_by,
                boundary=boundary_of(start, settings.home) if root.links == "project" else "",
            )
        )
    return roots


def _folder_exists(path: str) -> bool:
    """Return whether a folder exists; an inaccessible one does, so that reading it reports the reason."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def _find_start_folders(root: ProfileRoot, settings: Settings) -> list[str]:
    """Return the project folders that a root is searched in, highest precedence first."""
    folders = [settings.working_directory]
    if root.walk != "none":
        stop = _find_git_root(folders[0])
        if not stop and root.walk == "home" and is_below(folders[0], settings.home):
            stop = settings.home
        if not stop and root.walk == "top":
            stop = os.path.abspath(os.sep)
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
    """Return the switch that turns Claude's folders off, if any. The environment overrides the documents."""
    for name in ("SKILLPM_DISABLE_CLAUDE_PATHS", "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS"):
        if text := settings.environ.get(name, "").lower():
            return name if text in {"1", "true", "yes", "on"} else ""
    return config.disable_claude_paths


def _deduplicate(roots: list[SearchRoot]) -> tuple[SearchRoot, ...]:
    """Keep the first occurrence of each folder in each layout: one may have flat files next to folders of skills.

    A user folder that is also found on the way up from the working directory remains the user's, not the project's.
    """
    real_paths = [os.path.realpath(root.path) for root in roots]
    fixed_paths = {path for path, root in zip(real_paths, roots, strict=True) if root.profile_root.scope != "project"}
    seen: set[tuple[str, str]] = set()
    unique = []
    for path, root in zip(real_paths, roots, strict=True):
        key = (path, root.profile_root.layout)
        if key not in seen and not (root.profile_root.scope == "project" and path in fixed_paths):
            seen.add(key)
            unique.append(root)
    return tuple(unique)
