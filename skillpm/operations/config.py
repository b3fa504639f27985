"""`config`: the settings that count here, and setting those of the user."""

import os
import stat
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from skillpm.agent_hosts.known_agents import chosen_agents
from skillpm.cachedir import mark
from skillpm.core.decoder import Node, parse_toml
from skillpm.core.git_syntax import has_credentials
from skillpm.core.suggestions import near
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import DocumentMoved, NotFoundError, SkillpmError
from skillpm.files import read_text, told, write_document
from skillpm.formats.user_config import FIXED, OPEN, Key, place_of, read_config, read_key, read_value
from skillpm.operations.config_origins import Origins, Setting
from skillpm.operations.context.project_files import again_where_moved
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_permissions import manifest_of, rules_here
from skillpm.operations.context.scope_settings import config_file
from skillpm.operations.context.temporary_cache import can_be_written
from skillpm.settings import Settings


class Edited(Value):
    """What `set` and `unset` did."""

    changed: bool
    key: str
    value: Any
    file: str


def settings_here(scope: Scope, tools: Tools, *, given: Sequence[str] = ()) -> list[Setting]:
    """Give all settings that count in a scope, sorted; `given` are the keys that the command line speaks of.

    Raises `DocumentError` for a document that cannot be read.
    """
    settings, manifest = tools.settings, manifest_of(scope)
    file = config_file(settings)
    top = _config(file)
    read_config(read_text(file) or "", file)
    rules_here(scope, settings)
    _warn_of_unknown(top, tools)
    here = Origins(scope, manifest, top, settings, given)
    return sorted(here.all(), key=lambda setting: setting.key)


def one_setting(scope: Scope, tools: Tools, text: str, *, given: Sequence[str] = ()) -> list[Setting]:
    """Give one setting, or all below the name of a table. Raises `UsageError` for a key that nobody knows,
    `NotFoundError` for one of an open table that is not there.
    """
    known = settings_here(scope, tools, given=given)
    if found := [setting for setting in known if setting.key == text or setting.key.startswith(f"{text}.")]:
        return found
    if text in OPEN:
        return []
    key = read_key(text)
    if found := [setting for setting in known if setting.key == key.text]:
        return found
    raise NotFoundError(f"`{show(key.text)}` is not set", hint="`skillpm config list` shows what is")


def set_setting(tools: Tools, text: str, words: Sequence[str]) -> Edited:
    """Write a setting of the user into `config.toml`; all else in it stays as it was.

    Raises `UsageError` for a key or a value that means nothing, `DocumentError` for a file that cannot be read.
    """
    from skillpm.formats.toml_edit import set_key, set_row  # noqa: PLC0415  (tomlkit)

    key = read_key(text)
    if key.kind == "index":
        words = [_whole(word, tools.settings.working_directory) for word in words]
    value = read_value(key, words, tools.settings.now)
    if key.text == "agents":
        chosen_agents(value)
    if key.kind == "index" and has_credentials(words[0]):
        tools.reporter.warning(
            f"the credentials in the URL are not kept; use {place_of(key, value).token_variable} or ~/.netrc"
        )

    def edit(old: str, file: str) -> str:
        if key.kind == "index":
            return set_row(old, file, "indexes", {"name": key.path[1], "url": value})
        return set_key(old, file, key.path, value)

    return _edited(tools, key, value, edit)


def unset_setting(tools: Tools, text: str) -> Edited:
    """Take a setting of the user out of `config.toml`. Raises `NotFoundError` where it is not there."""
    from skillpm.formats.toml_edit import drop_key, drop_row  # noqa: PLC0415

    key = read_key(text)

    def edit(old: str, file: str) -> str:
        if key.kind == "index":
            return drop_row(old, file, "indexes", key.path[1])
        return drop_key(old, file, key.path)

    edited = _edited(tools, key, None, edit)
    if not edited.changed:
        raise NotFoundError(f"`{show(key.text)}` is not set in config.toml", where=edited.file)
    return edited


def _whole(word: str, directory: str) -> str:
    """Give a folder whole that was typed from where one stands: these settings count everywhere."""
    is_from_here = word.partition(os.sep)[0] in {os.curdir, os.pardir}
    return os.path.normpath(os.path.join(directory, word)) if is_from_here else word


def _edited(tools: Tools, key: Key, value: Any, edit: Any) -> Edited:
    """Change the file under a lock, whole or not at all."""
    from skillpm.locks import locked  # noqa: PLC0415

    settings, file = tools.settings, config_file(tools.settings)
    lock = os.path.join(settings.cache_dir, "config.lock")
    has_cache = can_be_written(settings.cache_dir)
    if has_cache:
        with told("mark the cache", settings.cache_dir):
            mark(settings.cache_dir)  # else `cache clean` would take it for a folder of somebody else's
    with locked(lock, settings.lock_timeout, file, tools.reporter.warning) if has_cache else nullcontext():
        changed = again_where_moved(lambda: _rewritten(settings, key, value, edit))
    return Edited(changed=changed, key=key.text, value=value, file=file)


def _rewritten(settings: Settings, key: Key, value: Any, edit: Any) -> bool:
    """Read the file, change it, write it; raises `DocumentMoved` where somebody saved it meanwhile."""
    file = config_file(settings)
    old = read_text(file)
    new = edit(old or "", file)
    _prove(old or "", new, key, value, file)
    if new != (old or ""):
        with told("write the settings", file):
            mode = stat.S_IMODE(os.stat(file).st_mode) if old is not None else 0o644
            write_document(
                file,
                new.encode(),
                fsync=settings.fsync,
                mode=mode,
                follow=True,
                at_last=lambda: _refuse_moved(file, old),
            )
    return bool(new != (old or ""))


def _refuse_moved(file: str, read: str | None) -> None:
    if read_text(file) != read:
        raise DocumentMoved(file)


def _prove(old: str, new: str, key: Key, value: Any, file: str) -> None:
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


def _config(file: str) -> Node:
    return parse_toml(read_text(file) or "", file)


def _warn_of_unknown(top: Node, tools: Tools) -> None:
    tables = {key.partition(".")[0] for key in FIXED} | {*OPEN, "profiles"}
    for key, node in top.items():
        if key not in tables:
            similar = near(key, tables)
            hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
            tools.reporter.warning(f"{node.where}: no setting is called so{hint}")
