"""The permissions that a host keeps in files of its own, for serving what the host would see."""

import json
import os
from typing import Any

from skillpm.errors import DocumentError
from skillpm.files import read_text
from skillpm.serving.permissions import Rules
from skillpm.serving.rule_files import glm_rules, opencode_rules
from skillpm.settings import Settings


def host_rules(host: str, settings: Settings) -> Rules:
    """Give the rules of a host's own files, a layer for each; none for a host that has no such file.

    Raises `DocumentError` for a file that cannot be read: to pass over it would allow what it forbids.
    """
    rules = Rules()
    if host == "opencode":
        config = settings.environ.get("XDG_CONFIG_HOME") or os.path.join(settings.home, ".config")
        for folder in (os.path.join(config, "opencode"), settings.working_directory):
            path = os.path.join(folder, "opencode.json")
            rules = rules.with_layer(opencode_rules(_json(path), path))
    if host == "glm":
        path = os.path.join(settings.home, ".glm", "config.toml")
        rules = rules.with_layer(glm_rules(_toml(path), path))
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
