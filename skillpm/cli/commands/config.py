"""`skillpm config get|set|unset|list`."""

import json
from collections.abc import Mapping
from typing import Any

import click

from skillpm.cli.command_group import CommandGroup
from skillpm.cli.options import Invocation, exclude_newer_option, lock_timeout_option, output_options, scope_options
from skillpm.core.text import sanitize
from skillpm.operations.config import ConfigChange, find_settings, list_settings, set_setting, unset_setting
from skillpm.operations.config_origins import EffectiveSetting


@click.group(
    cls=CommandGroup,
    default="list",
    epilog="""\b
Examples:
  skillpm config                      same as config list
  skillpm config list --show-origin   also where each is set
  skillpm config set exclude-newer '7 days'
  skillpm config set indexes.acme.url https://skills.acme.example/
  skillpm config unset indexes.acme.url""",
)
def command() -> None:
    """View and change your settings (config.toml)."""


@command.command(
    "list",
    epilog="""\b
Examples:
  skillpm config list                 every setting in effect here
  skillpm config list --show-origin   also whether the command line, the
                                      environment, skills.json or
                                      config.toml sets it""",
)
@click.option("--show-origin", is_flag=True, help="Show where each setting is set.")
@exclude_newer_option
@scope_options
def list_command(call: Invocation, show_origin: bool) -> None:  # noqa: FBT001  (a flag of the command line)
    """List all settings in effect here. Tokens are never shown."""
    settings = list_settings(call.project, command_line_keys=_command_line_keys(call.flags))
    if call.console.as_json:
        call.console.print_json({"settings": [_to_json(setting) for setting in settings]})
        return
    rows = [(_format_setting(setting), _format_origin(setting)) for setting in settings]
    width = min(60, max(len(assignment) for assignment, _ in rows))
    for assignment, origin in rows:
        call.console.print_wrapped(f"{assignment:{width}}  {origin}" if show_origin else assignment)


@command.command(
    "get",
    epilog="""\b
Examples:
  skillpm config get exclude-newer
  skillpm config get indexes         all settings below a key
  skillpm config get agents --json   also where it is set""",
)
@click.argument("key", help="A setting such as exclude-newer, or a group such as indexes.")
@exclude_newer_option
@scope_options
def get_command(call: Invocation, key: str) -> None:
    """Print the value of a setting in effect here, or nothing if it is not set."""
    settings = find_settings(call.project, key, command_line_keys=_command_line_keys(call.flags))
    if call.console.as_json:
        rows = [_to_json(setting) for setting in settings]
        call.console.print_json(rows[0] if len(rows) == 1 else {"settings": rows})
        return
    if not settings:
        call.console.print_message(f"`{key}` is not set")
    for setting in settings:
        if setting.key != key and len(settings) > 1:
            call.console.print_line(_format_setting(setting))
        elif setting.value is not None:
            values = setting.value if isinstance(setting.value, list) else [setting.value]
            for value in values:
                call.console.print_line(sanitize(value, 1000) if isinstance(value, str) else _format_value(value))


@command.command(
    "set",
    epilog="""\b
Examples:
  skillpm config set exclude-newer '7 days'
  skillpm config set agents claude-code opencode
  skillpm config set agents '[]'
  skillpm config set indexes.acme.url https://skills.acme.example/
  skillpm config set permissions.'experimental-*' ask
  skillpm config set discovery.disable-claude-paths true""",
)
@click.argument("key", help="The setting to change.")
@click.argument("values", nargs=-1, required=True, metavar="VALUE...", help="Its value; for a list, all values.")
@lock_timeout_option
@output_options
def set_command(call: Invocation, key: str, values: tuple[str, ...]) -> None:
    """Set a value in your config.toml. Everything else in the file is preserved."""
    _print_result(call, set_setting(call.session, key, values))


@command.command(
    "unset", epilog="\b\nExamples:\n  skillpm config unset exclude-newer\n  skillpm config unset indexes.acme"
)
@click.argument("key", help="The setting to remove, or a group such as indexes.acme.")
@lock_timeout_option
@output_options
def unset_command(call: Invocation, key: str) -> None:
    """Remove a setting from your config.toml."""
    _print_result(call, unset_setting(call.session, key))


def _command_line_keys(flags: Mapping[str, Any]) -> list[str]:
    return ["exclude-newer"] if flags["exclude_newer"] is not None else []


def _print_result(invocation: Invocation, change: ConfigChange) -> None:
    if invocation.console.as_json:
        value = {"changed": change.is_changed, "key": change.key, "value": change.value, "file": change.file}
        invocation.console.print_json(value | {"warnings": list(invocation.session.reporter.warnings)})
    elif change.value is None:
        invocation.console.print_message(f"{change.key} is no longer set in {change.file}")
    else:
        verb = "is now" if change.is_changed else "was already"
        invocation.console.print_message(f"{change.key} {verb} {_format_value(change.value)}, in {change.file}")


def _to_json(setting: EffectiveSetting) -> dict[str, Any]:
    value = {"key": setting.key, "value": setting.value, "origin": setting.origin, "where": setting.location}
    return value if setting.skills is None else value | {"skills": list(setting.skills)}


def _format_setting(setting: EffectiveSetting) -> str:
    skills = "" if setting.skills is None else f" (here: {', '.join(setting.skills) or 'no skill'})"
    return f"{setting.key} = {_format_value(setting.value)}{skills}"


def _format_origin(setting: EffectiveSetting) -> str:
    return f"{setting.origin} ({sanitize(setting.location)})" if setting.location else setting.origin


def _format_value(value: Any) -> str:
    return "(not set)" if value is None else sanitize(json.dumps(value, ensure_ascii=False), 500)
