"""`discover`: every skill that an agent host would see from a folder, and which skills are shadowed."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from skillpm.agent_hosts.discovery import Discovery, DiscoveryWarning, scan_roots
from skillpm.agent_hosts.known_agents import expand_template
from skillpm.agent_hosts.profiles import load_profile
from skillpm.agent_hosts.roots import SearchRoot, build_search_roots
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, FileError, NotFoundError
from skillpm.files import is_below, read_text
from skillpm.formats.user_config import UserConfig, read_config
from skillpm.installer.escaping_links import boundary_of
from skillpm.installer.folder_manifests import find_folder_manifests
from skillpm.registry.frontmatter_cache import HeadCache
from skillpm.settings import Settings, current_settings
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

CONFIG_FILE = "config.toml"
FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


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


class HostConfig(Value):
    """What a host's configuration says about skills."""

    # Folders to search, as absolute paths.
    additional_paths: tuple[str, ...] = ()
    disables_claude_paths: bool = False
    # What of it is ignored, and why.
    warnings: tuple[str, ...] = ()


def load_host_config(file: str, settings: Settings, permitted: Sequence[str]) -> HostConfig:
    """Return what a YAML file in the working directory says about skills. Problems become warnings.

    A folder outside the project is ignored, unless it is in one of those that the user `permitted` (templates): a
    checkout could otherwise give an agent skills from anywhere on the machine.
    """
    try:
        skill = _read_skill_section(file)
        disabled = skill.get("disable_claude_paths")
        paths = _expand_paths(skill, settings)
        is_disabled = disabled is not None and _is_on(disabled)
    except (DocumentError, FileError) as error:
        keys = error.where.removeprefix(file).removeprefix(": ")
        return HostConfig(warnings=(f"{f'{keys}: ' if keys else ''}{error.message}; the file is ignored",))
    start = settings.working_directory
    allowed = [boundary_of(start, settings.home), *(_resolve(path, settings) for path in permitted)]
    boundaries = [os.path.realpath(folder) for folder in allowed]
    outside = {
        where: path
        for where, path in paths.items()
        if not any(is_below(os.path.realpath(path), boundary) for boundary in boundaries)
    }
    return HostConfig(
        additional_paths=tuple(path for where, path in paths.items() if where not in outside),
        disables_claude_paths=is_disabled,
        warnings=tuple(
            f"{where} is outside the project; to search it, add it to `additional-paths` in config.toml"
            for where in outside
        ),
    )


def _read_skill_section(file: str) -> JsonNode:
    """Return the member `skill`; an empty object if there is none."""
    try:
        document = JsonNode(read_yaml(read_text(file) or "", []) or {}, file)
    except YamlError as error:
        raise DocumentError(f"line {error.line}: {error.message}", where=file) from error
    skill = document.get("skill")
    return document.with_value({}) if skill is None or skill.value is None else skill


def _expand_paths(skill: JsonNode, settings: Settings) -> dict[str, str]:
    """Return the absolute paths of the additional folders by their key and text."""
    paths = skill.get("additional_paths")
    if paths is None or paths.value is None:
        return {}
    nodes = [(f"{'.'.join(node.keys)}: {sanitize(node.path(), 200)}", node.path()) for node in paths.elements()]
    return {where: path for where, text in nodes if (path := _resolve(text, settings))}


def _resolve(template: str, settings: Settings) -> str:
    path = expand_template(template, settings)
    return path and os.path.normpath(os.path.join(settings.working_directory, path))


def _is_on(flag: JsonNode) -> bool:
    """Return a flag, which is read as text; one without a value is off."""
    if flag.value is None:
        return False
    word = flag.value.lower() if isinstance(flag.value, str) else ""
    return FLAGS[word] if word in FLAGS else flag.raise_expected("true or false")
