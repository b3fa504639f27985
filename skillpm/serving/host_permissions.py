"""The permissions that a host keeps in files of its own, for serving what the host would see."""

import json
import os
from typing import Any

from skillpm.errors import DocumentError
from skillpm.files import read_text
from skillpm.serving.permission_files import glm_rules, opencode_rules
from skillpm.serving.permissions import Rules
from skillpm.settings import Settings


def rule_files(host: str, settings: Settings) -> tuple[str, ...]:
    """Give the files in which a host keeps permissions, whether they are there or not."""
    if host == "opencode":
        config = settings.environ.get("XDG_CONFIG_HOME") or os.path.join(settings.home, ".config")
        folders = (os.path.join(config, "opencode"), settings.working_directory)
        return tuple(os.path.join(folder, "opencode.json") for folder in folders)
    return (os.path.join(settings.home, ".glm", "config.toml"),) if host == "glm" else ()


def host_rules(host: str, settings: Settings) -> Rules:
    """Give the rules of a host's own files, a layer for each; none for a host that has no such file.

    Raises `DocumentError` for a file that cannot be read: to pass over it would allow what it forbids.
    """
    rules = Rules()
    for path in rule_files(host, settings):
        is_glm = host == "glm"
        rules = rules.with_layer(glm_rules(_toml(path), path) if is_glm else opencode_rules(_json(path), path))
    return rules


def _json(path: str) -> Any:
    text = read_text(path)
    try:
        return {} if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"this is not JSON: {error}", where=path) from error


def _toml(path: str) -> Any:
    text = read_text(path)
    if text is None:
        return {}
    import tomllib  # noqa: PLC0415  (most users have none)

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DocumentError(f"this is not TOML: {error}", where=path) from error
