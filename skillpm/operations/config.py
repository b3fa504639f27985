"""`config`: the settings that count here, and setting those of the user."""

import os
import stat
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from skillpm.agent_hosts.known_agents import find_agents
from skillpm.cachedir import tag_cache_folder
from skillpm.core.decoder import JsonNode, parse_toml
from skillpm.core.git_syntax import has_credentials
from skillpm.core.suggestions import closest_matches
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentChanged, NotFoundError, SkillpmError
from skillpm.files import read_text, translate_os_errors, write_document
from skillpm.formats.user_config import (
    FIXED_KEYS,
    OPEN_GROUPS,
    ConfigKey,
    parse_index,
    parse_key,
    parse_value,
    read_config,
)
from skillpm.operations.config_origins import EffectiveSetting, SettingOrigins
from skillpm.operations.context.project_files import retry_if_changed
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_permissions import load_manifest, load_rules
from skillpm.operations.context.scope_settings import user_config_path
from skillpm.operations.context.temporary_cache import is_writable
from skillpm.settings import Settings


class ConfigChange(Value):
    """What `set` and `unset` did."""

    is_changed: bool
    key: str
    value: Any
    file: str


def list_settings(scope: Scope, context: Context, *, command_line_keys: Sequence[str] = ()) -> list[EffectiveSetting]:
    """Give all settings that count in a scope, sorted; `given` are the keys that the command line speaks of.

    Raises `DocumentError` for a document that cannot be read.
    """
    settings, manifest = context.settings, load_manifest(scope)
    file = user_config_path(settings)
    top = _parse_config(file)
    read_config(read_text(file) or "", file)
    load_rules(scope, settings)
    _warn_unknown_tables(top, context)
    here = SettingOrigins(scope, manifest, top, settings, command_line_keys)
    return sorted(here.all(), key=lambda setting: setting.key)


def find_settings(
    scope: Scope, context: Context, key_text: str, *, command_line_keys: Sequence[str] = ()
) -> list[EffectiveSetting]:
    """Give one setting, or all below the name of a table. Raises `UsageError` for a key that nobody knows,
    `NotFoundError` for one of an open table that is not there.
    """
    known = list_settings(scope, context, command_line_keys=command_line_keys)
    if found := [setting for setting in known if setting.key == key_text or setting.key.startswith(f"{key_text}.")]:
        return found
    if key_text in OPEN_GROUPS:
        return []
    key = parse_key(key_text)
    if found := [setting for setting in known if setting.key == key.text]:
        return found
    raise NotFoundError(f"`{sanitize(key.text)}` is not set", hint="`skillpm config list` shows what is")


def set_setting(context: Context, key_text: str, values: Sequence[str]) -> ConfigChange:
    """Write a setting of the user into `config.toml`; all else in it stays as it was.

    Raises `UsageError` for a key or a value that means nothing, `DocumentError` for a file that cannot be read.
    """
    from skillpm.formats.toml_edit import set_key, set_row  # noqa: PLC0415  (tomlkit)

    key = parse_key(key_text)
    if key.kind == "index":
        values = [_absolute_path(word, context.settings.working_directory) for word in values]
    value = parse_value(key, values, context.settings.now)
    if key.text == "agents":
        find_agents(value)
    if key.kind == "index" and has_credentials(values[0]):
        context.reporter.warn(
            f"the credentials in the URL are not kept; use {parse_index(key, value).token_variable} or ~/.netrc"
        )

    def edit(old: str, file: str) -> str:
        if key.kind == "index":
            return set_row(old, file, "indexes", {"name": key.path[1], "url": value})
        return set_key(old, file, key.path, value)

    return _edit_config(context, key, value, edit)


def unset_setting(context: Context, key_text: str) -> ConfigChange:
    """Take a setting of the user out of `config.toml`. Raises `NotFoundError` where it is not there."""
    from skillpm.formats.toml_edit import remove_key, remove_row  # noqa: PLC0415

    key = parse_key(key_text)

    def edit(old: str, file: str) -> str:
        if key.kind == "index":
            return remove_row(old, file, "indexes", key.path[1])
        return remove_key(old, file, key.path)

    edited = _edit_config(context, key, None, edit)
    if not edited.is_changed:
        raise NotFoundError(f"`{sanitize(key.text)}` is not set in config.toml", where=edited.file)
    return edited


def _absolute_path(value: str, directory: str) -> str:
    """Give a folder whole that was typed from where one stands: these settings count everywhere."""
    is_from_here = value.partition(os.sep)[0] in {os.curdir, os.pardir}
    return os.path.normpath(os.path.join(directory, value)) if is_from_here else value


def _edit_config(context: Context, key: ConfigKey, value: Any, edit: Any) -> ConfigChange:
    """Change the file under a lock, whole or not at all."""
    from skillpm.locks import hold_lock  # noqa: PLC0415

    settings, file = context.settings, user_config_path(context.settings)
    lock = os.path.join(settings.cache_dir, "config.lock")
    has_cache = is_writable(settings.cache_dir)
    if has_cache:
        with translate_os_errors("mark the cache", settings.cache_dir):
            tag_cache_folder(settings.cache_dir)  # else `cache clean` would take it for a folder of somebody else's
    with hold_lock(lock, settings.lock_timeout, file, context.reporter.warn) if has_cache else nullcontext():
        changed = retry_if_changed(lambda: _rewrite_config(settings, key, value, edit))
    return ConfigChange(is_changed=changed, key=key.text, value=value, file=file)


def _rewrite_config(settings: Settings, key: ConfigKey, value: Any, edit: Any) -> bool:
    """Read the file, change it, write it; raises `DocumentMoved` where somebody saved it meanwhile."""
    file = user_config_path(settings)
    old = read_text(file)
    new = edit(old or "", file)
    _check_edit(old or "", new, key, value, file)
    if new != (old or ""):
        with translate_os_errors("write the settings", file):
            mode = stat.S_IMODE(os.stat(file).st_mode) if old is not None else 0o644
            write_document(
                file,
                new.encode(),
                fsync=settings.fsync,
                mode=mode,
                follow_links=True,
                before_rename=lambda: _check_unchanged(file, old),
            )
    return bool(new != (old or ""))


def _check_unchanged(file: str, original_text: str | None) -> None:
    if read_text(file) != original_text:
        raise DocumentChanged(file)


def _check_edit(old: str, new: str, key: ConfigKey, value: Any, file: str) -> None:
    """Refuse an edit that would say anything else than what was meant: nothing is written then."""
    before, after = parse_toml(old, file).value, parse_toml(new, file).value
    for said in (before, after):
        here = said
        for part in key.path[:-1]:
            here = here.get(part, {}) if isinstance(here, dict) else {}
        if key.kind == "index":
            said["indexes"] = [row for row in said.get("indexes", []) if row.get("name") != key.path[1]]
        else:
            here.pop(key.path[-1], None)
    found = parse_toml(new, file).value
    for part in key.path if key.kind != "index" else ():
        found = found.get(part) if isinstance(found, dict) else None
    if _without_empty(before) != _without_empty(after) or (key.kind != "index" and found != value):
        raise SkillpmError("this file cannot be edited safely", where=file, hint=f"set `{key.text}` by hand")


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: inner for key, part in value.items() if (inner := _without_empty(part)) not in ({}, [])}


def _parse_config(file: str) -> JsonNode:
    return parse_toml(read_text(file) or "", file)


def _warn_unknown_tables(config: JsonNode, context: Context) -> None:
    tables = {key.partition(".")[0] for key in FIXED_KEYS} | {*OPEN_GROUPS, "profiles"}
    for key, node in config.items():
        if key not in tables:
            similar = closest_matches(key, tables)
            hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
            context.reporter.warn(f"{node.where}: no setting is called so{hint}")
