"""Permissions that an agent host keeps in its own files, used when serving what that host would see."""

import json
import os
from collections.abc import Callable
from typing import Any

from skillpm.errors import DocumentError
from skillpm.files import read_text
from skillpm.serving.permission_files import parse_glm_rules, parse_opencode_rules
from skillpm.serving.permissions import Rules
from skillpm.settings import Settings


def find_permission_files(host: str, settings: Settings) -> tuple[str, ...]:
    """Return the files in which a host keeps permissions, whether they exist or not."""
    if host == "opencode":
        config = settings.environ.get("XDG_CONFIG_HOME") or os.path.join(settings.home, ".config")
        folders = (os.path.join(config, "opencode"), settings.working_directory)
        return tuple(os.path.join(folder, "opencode.json") for folder in folders)
    return (os.path.join(settings.home, ".glm", "config.toml"),) if host == "glm" else ()


def load_host_rules(host: str, settings: Settings) -> Rules:
    """Return the rules in a host's own files, one layer per file; no rules for a host without such files.

    Raises `DocumentError` for an unreadable file: ignoring it would allow what it forbids.
    """
    rules = Rules()
    for path in find_permission_files(host, settings):
        if host == "glm":
            import tomllib  # noqa: PLC0415  (most users have none)

            layer = parse_glm_rules(_read_config(path, "TOML", tomllib.loads), path)
        else:
            layer = parse_opencode_rules(_read_config(path, "JSON", json.loads), path)
        rules = rules.with_layer(layer)
    return rules


def _read_config(path: str, syntax: str, parse: Callable[[str], Any]) -> Any:
    text = read_text(path)
    try:
        return {} if text is None else parse(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"invalid {syntax}: {error}", where=path) from error
