"""`discover`: every skill that an agent host would see from a folder, and which skills are shadowed."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from skillpm.agent_hosts.discovery import Discovery, DiscoveryWarning, scan_roots
from skillpm.agent_hosts.profiles import load_profile
from skillpm.agent_hosts.roots import SearchRoot, build_search_roots
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError
from skillpm.files import read_text
from skillpm.formats.user_config import UserConfig, read_config
from skillpm.installer.folder_manifests import find_folder_manifests
from skillpm.registry.frontmatter_cache import HeadCache
from skillpm.settings import Settings, current_settings

CONFIG_FILE = "config.toml"


def discover(
    agent: str = "skillpm",
    *,
    directory: str | os.PathLike[str] = "",
    paths: Sequence[str | os.PathLike[str]] = (),
    user_only: bool = False,
    cache: HeadCache | None = None,
    settings: Settings | None = None,
) -> Discovery:
    """Return every skill that an agent host would see from a folder. Reads only frontmatter, writes nothing.

    `agent` is the id of a host (`skillpm agents --all`, docs/guides/discovery.md). `directory` is the folder to look
    from; the default is the working directory. `paths` are additional folders of skills, searched before all others.
    `user_only` leaves out the project's folders. Pass the same `cache` to repeated calls to reread only changed files.

    Problems with the skills found are reported in `warnings`, never raised. Raises `NotFoundError` for an unknown agent
    or folder, and `DocumentError` for a config.toml that cannot be read.
    """
    settings = settings or current_settings()
    if directory:
        settings = settings.replace(working_directory=_resolve_folder(directory, settings))
    config = read_user_config(settings)
    profile = load_profile(agent, config.profiles)
    if not config.skills_enabled:
        file = os.path.join(settings.config_dir, CONFIG_FILE)
        warning = DiscoveryWarning(file, "skills are turned off: `enabled = false` in `[skills]`")
        return Discovery(agent=profile.id, about=profile.about, warnings=(warning,))
    warnings: tuple[DiscoveryWarning, ...] = ()
    if profile.config and not user_only:
        config, warnings = _add_host_config(config, profile.config, settings)
    extra = [os.fspath(path) for path in paths]
    roots = build_search_roots(profile, config, settings, extra_paths=extra, user_only=user_only)
    found = scan_roots(profile, roots, HeadCache() if cache is None else cache)
    return found.replace(warnings=(*warnings, *found.warnings))


def find_plugins(roots: Iterable[SearchRoot]) -> Iterator[DiscoveryWarning]:
    """Yield a warning for each folder that a host would start, also for those that are not skills."""
    for root in roots:
        if root.exists and root.profile_root.scope != "bundled":
            yield from find_plugins_in(root.path)


def find_plugins_in(folder: str) -> Iterator[DiscoveryWarning]:
    """Yield a warning for each folder in a folder of skills that a host would start."""
    names: list[str] = []
    with suppress(OSError):
        names = sorted(os.listdir(folder))
    for name in names:
        path = os.path.join(folder, name)
        with suppress(OSError):  # not a folder
            for manifest in find_folder_manifests(path):
                yield DiscoveryWarning(path, f"{manifest.summary}; with it, a host starts programs by itself")


def _add_host_config(
    config: UserConfig, name: str, settings: Settings
) -> tuple[UserConfig, tuple[DiscoveryWarning, ...]]:
    """Return the user's settings with those of a host's configuration in the project, and what is wrong with these."""
    from skillpm.agent_hosts.host_config import load_host_config  # noqa: PLC0415  (only one host has such a file)

    file = os.path.join(settings.working_directory, name)
    host_config = load_host_config(file, settings, config.additional_paths)
    merged = config.replace(
        additional_paths=(*config.additional_paths, *host_config.additional_paths),
        disable_claude_paths=config.disable_claude_paths or (name if host_config.disables_claude_paths else ""),
    )
    return merged, tuple(DiscoveryWarning(file, message) for message in host_config.warnings)


def read_user_config(settings: Settings) -> UserConfig:
    """Read the user's config.toml; the defaults if it does not exist."""
    path = os.path.join(settings.config_dir, CONFIG_FILE)
    text = read_text(path)
    return UserConfig() if text is None else read_config(text, path)


def _resolve_folder(directory: str | os.PathLike[str], settings: Settings) -> str:
    text = os.fspath(directory)
    if text == "~" or text.startswith("~/"):
        text = settings.home + text[1:]
    path = os.path.normpath(os.path.join(settings.working_directory, text))
    if not os.path.isdir(path):
        raise NotFoundError(f"the folder {sanitize(path)} does not exist")
    return path
