"""The folders that a host's own configuration in a project adds to its search. The project is not trusted."""

import os
from collections.abc import Sequence

from skillpm.agent_hosts.known_agents import expand_template
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, FileError
from skillpm.files import is_below, read_text
from skillpm.installer.escaping_links import boundary_of
from skillpm.settings import Settings
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


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
