"""Permissions that an agent host keeps in its own files, used when serving what that host would see."""

import json
import os
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
        is_glm = host == "glm"
        rules = rules.with_layer(
            parse_glm_rules(_read_toml(path), path) if is_glm else parse_opencode_rules(_read_json(path), path)
        )
    return rules


def _read_json(path: str) -> Any:
    text = read_text(path)
    try:
        return {} if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"invalid JSON: {error}", where=path) from error


def _read_toml(path: str) -> Any:
    text = read_text(path)
    if text is None:
        return {}
    import tomllib  # noqa: PLC0415  (most users have none)

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DocumentError(f"invalid TOML: {error}", where=path) from error
