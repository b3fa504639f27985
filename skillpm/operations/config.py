"""`config`: list the settings in effect, and change those of the user."""

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from skillpm.agent_hosts.known_agents import find_agents
from skillpm.cachedir import tag_cache_folder
from skillpm.core.git_syntax import has_credentials
from skillpm.core.json_text.decoder import JsonNode, parse_toml
from skillpm.core.names import SkillName
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import redact_credentials, sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentChanged, DocumentError, NotFoundError, SkillpmError, UsageError
from skillpm.fetchers.mirrors.layout import read_replacement
from skillpm.files import is_writable, read_text, translate_os_errors, write_document
from skillpm.formats.lockfile import LockedSkill
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
from skillpm.scope.audit_settings import load_audit_settings
from skillpm.scope.effective_settings import absolute_address, load_manifest, user_config_path
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import read_project_files, retry_if_changed
from skillpm.scope.scope_permissions import load_rules, load_serving_settings
from skillpm.scope.trusted_signers import read_trust_rules
from skillpm.settings import Settings


class ConfigChange(Value):
    """The outcome of `config set` or `config unset`."""

    is_changed: bool
    key: str
    value: Any
    file: str


def list_settings(project: Project, *, command_line_keys: Sequence[str] = ()) -> list[EffectiveSetting]:
    """Return all settings in effect in a scope, sorted; `command_line_keys` were set by options of this command.

    Raises `DocumentError` for a document that cannot be read.
    """
    settings, manifest = project.settings, load_manifest(project.scope)
    file = user_config_path(settings)
    top = _parse_config(file)
    read_config(read_text(file) or "", file)
    load_rules(project.scope, settings)
    load_serving_settings(settings)
    load_audit_settings(project.scope, settings)
    rules = read_trust_rules(settings)
    _warn_unknown_tables(top, project.session)
    pins = {name: skill.pin for name, skill in _read_locked(project).items()} if rules else {}
    origins = SettingOrigins(
        scope=project.scope,
        manifest=manifest,
        config=top,
        settings=settings,
        command_line_keys=command_line_keys,
        pins=pins,
    )
    return sorted(origins.all(), key=lambda setting: setting.key)


def _read_locked(project: Project) -> Mapping[SkillName, LockedSkill]:
    """Return the locked skills of a scope; none if its lockfile cannot be read, which is not about settings."""
    try:
        return read_project_files(project).lockfile.skills
    except SkillpmError:
        return {}


def find_settings(project: Project, key_text: str, *, command_line_keys: Sequence[str] = ()) -> list[EffectiveSetting]:
    """Return one setting, or all settings of a table.

    Raises `UsageError` for an unknown key, `NotFoundError` for an unset key of a table with free keys.
    """
    known = list_settings(project, command_line_keys=command_line_keys)
    if matches := [setting for setting in known if setting.key == key_text or setting.key.startswith(f"{key_text}.")]:
        return matches
    if key_text in {*OPEN_GROUPS, "trust"}:
        return []
    key = parse_key(key_text)
    if matches := [setting for setting in known if setting.key == key.text]:
        return matches
    raise NotFoundError(f"`{sanitize(key.text)}` is not set", hint="run `skillpm config list` to see what is")


def set_setting(session: Session, key_text: str, values: Sequence[str]) -> ConfigChange:
    """Set a key in the user's `config.toml`; everything else in the file is preserved.

    Raises `UsageError` for an unknown key or an invalid value, `DocumentError` for a file that cannot be read.
    """
    from skillpm.formats.editing.toml_edit import set_key, set_row  # noqa: PLC0415  (tomlkit)

    key = parse_key(key_text)
    if key.kind in {"index", "trust"}:
        values = [_absolute_path(word, session.settings.working_directory) for word in values]
    if key.text == "replace":
        values = [word if word.startswith("[") else absolute_address(word, session.settings) for word in values]
    # Of the URL of an index, the user info is dropped with a warning.
    if any(redact_credentials(word) != word and not (key.kind == "index" and "://" in word) for word in values):
        raise UsageError(
            f"the value of {key.text} has credentials: {', '.join(map(sanitize, values))}",
            hint="documents store none; put them into ~/.netrc, or into a variable (docs/guides/private-sources.md)",
        )
    value = parse_value(key, values, session.settings.now)
    if key.text == "agents":
        find_agents(value)
    if key.text == "replace":
        _check_mirrors(value)
    if key.kind == "index" and has_credentials(values[0]):
        session.reporter.warn(
            f"the credentials in the URL are not kept; use {parse_index(key, value).token_variable} or ~/.netrc"
        )

    def edit(old: str, file: str) -> str:
        if key.kind == "index":
            return set_row(old, file, "indexes", {"name": key.path[1], "url": value})
        return set_key(old, file, key.path, value)

    return _edit_config(session, key, value, edit)


def unset_setting(session: Session, key_text: str) -> ConfigChange:
    """Remove a key from the user's `config.toml`. Raises `NotFoundError` if it is not set."""
    from skillpm.formats.editing.toml_edit import remove_key, remove_row  # noqa: PLC0415

    key = parse_key(key_text)

    def edit(old: str, file: str) -> str:
        if key.kind == "index":
            return remove_row(old, file, "indexes", key.path[1])
        return remove_key(old, file, key.path)

    edited = _edit_config(session, key, None, edit)
    if not edited.is_changed:
        raise NotFoundError(f"`{sanitize(key.text)}` is not set in config.toml", where=edited.file)
    return edited


def _check_mirrors(addresses: Sequence[str]) -> None:
    try:
        read_replacement(JsonNode(addresses, "replace"))
    except DocumentError as error:
        raise UsageError(error.message, hint=error.hint) from error


def _absolute_path(value: str, directory: str) -> str:
    """Resolve `./DIR` and `../DIR`: the settings of the user apply in all folders."""
    is_relative = value.partition(os.sep)[0] in {os.curdir, os.pardir}
    return os.path.normpath(os.path.join(directory, value)) if is_relative else value


def _edit_config(session: Session, key: ConfigKey, value: Any, edit: Any) -> ConfigChange:
    """Edit the file atomically, under a lock."""
    from skillpm.locks import hold_lock  # noqa: PLC0415

    settings, file = session.settings, user_config_path(session.settings)
    lock = os.path.join(settings.cache_dir, "config.lock")
    has_cache = is_writable(settings.cache_dir)
    if has_cache:
        with translate_os_errors("mark the cache", settings.cache_dir):
            tag_cache_folder(settings.cache_dir)  # else `cache clean` would refuse the folder as not skillpm's
    with hold_lock(lock, settings.lock_timeout, file, session.reporter.warn) if has_cache else nullcontext():
        changed = retry_if_changed(lambda: _rewrite_config(settings, key, value, edit))
    return ConfigChange(is_changed=changed, key=key.text, value=value, file=file)


def _rewrite_config(settings: Settings, key: ConfigKey, value: Any, edit: Any) -> bool:
    """Read, edit and write the file. Raises `DocumentChanged` if another process has written it meanwhile."""
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
                link_boundary="",
                before_rename=lambda path: _check_unchanged(path, old),
            )
    return bool(new != (old or ""))


def _check_unchanged(file: str, original_text: str | None) -> None:
    if read_text(file) != original_text:
        raise DocumentChanged(file)


def _check_edit(old: str, new: str, key: ConfigKey, value: Any, file: str) -> None:
    """Refuse an edit that changes anything but the key. Nothing has been written then."""
    before, after = parse_toml(old, file).value, parse_toml(new, file).value
    for document in (before, after):
        table = document
        for part in key.path[:-1]:
            table = table.get(part, {}) if isinstance(table, dict) else {}
        if key.kind == "index":
            document["indexes"] = [row for row in document.get("indexes", []) if row.get("name") != key.path[1]]
        else:
            table.pop(key.path[-1], None)
    written = parse_toml(new, file).value
    for part in key.path if key.kind != "index" else ():
        written = written.get(part) if isinstance(written, dict) else None
    if _without_empty(before) != _without_empty(after) or (key.kind != "index" and written != value):
        raise SkillpmError("this file cannot be edited safely", where=file, hint=f"set `{key.text}` in an editor")


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: inner for key, part in value.items() if (inner := _without_empty(part)) not in ({}, [])}


def _parse_config(file: str) -> JsonNode:
    return parse_toml(read_text(file) or "", file)


def _warn_unknown_tables(config: JsonNode, session: Session) -> None:
    tables = {key.partition(".")[0] for key in FIXED_KEYS} | {*OPEN_GROUPS, "profiles", "trust"}
    for key, node in config.items():
        if key not in tables:
            hint = suggestion_hint(key, tables)
            session.reporter.warn("; ".join(filter(None, (f"{node.where}: unknown setting", hint))))
