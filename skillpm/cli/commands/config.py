"""`skillpm config get|set|unset|list`."""

import json
from typing import Any

import click

from skillpm.cli.change_options import exclude_newer_option
from skillpm.cli.command_group import CommandGroup
from skillpm.cli.option_types import NUMBER
from skillpm.cli.options import Invocation, create_invocation, output_options, scope_options
from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import sanitize
from skillpm.operations.config import ConfigChange, find_settings, list_settings, set_setting, unset_setting
from skillpm.operations.config_origins import EffectiveSetting

LOCK_TIMEOUT_OPTION = click.option(
    "--lock-timeout", type=NUMBER, metavar="SECONDS", help="How long to wait for another skillpm."
)


@click.group(
    cls=CommandGroup,
    default="list",
    epilog="""\b
Examples:
  skillpm config                      the same as config list
  skillpm config list --show-origin   and who said it
  skillpm config set exclude-newer '7 days'
  skillpm config set indexes.acme.url https://skills.acme.example/
  skillpm config unset indexes.acme.url""",
)
def command() -> None:
    """Show and change your settings (config.toml)."""


@command.command(
    "list",
    epilog="""\b
Examples:
  skillpm config list                 every setting that counts here
  skillpm config list --show-origin   and whether the command line, the
                                      environment, skills.json, config.toml
                                      or nobody said it""",
)
@click.option("--show-origin", is_flag=True, help="Say who said it, and where.")
@exclude_newer_option
@scope_options
def list_command(show_origin: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """List every setting that counts here. Tokens are never shown."""
    call = create_invocation(flags)
    found = list_settings(call.scope, call.context, command_line_keys=_command_line_keys(flags))
    if call.console.as_json:
        call.console.print_json({"settings": [_to_json(setting) for setting in found]})
        return
    rows = [(f"{setting.key} = {_format_value(setting.value)}", _format_origin(setting)) for setting in found]
    width = max(len(said) for said, _ in rows)
    for said, origin in rows:
        line = f"{said:{min(width, 60)}}  {origin}" if show_origin else said
        for part in wrap_text(line, indent=2, is_stdout=True):
            call.console.print_line(part)


@command.command(
    "get",
    epilog="""\b
Examples:
  skillpm config get exclude-newer
  skillpm config get indexes         all that stands below a name
  skillpm config get agents --json   with who said it, and where""",
)
@click.argument("key")
@exclude_newer_option
@scope_options
def get_command(key: str, **flags: Any) -> None:
    """Give the value of a setting that counts here; nothing where it is not set."""
    call = create_invocation(flags)
    found = find_settings(call.scope, call.context, key, command_line_keys=_command_line_keys(flags))
    if call.console.as_json:
        call.console.print_json(_to_json(found[0]) if len(found) == 1 else {"settings": [_to_json(it) for it in found]})
        return
    for setting in found:
        if setting.key != key and len(found) > 1:
            call.console.print_line(f"{setting.key} = {_format_value(setting.value)}")
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
@click.argument("key")
@click.argument("values", nargs=-1, required=True, metavar="VALUE...")
@LOCK_TIMEOUT_OPTION
@output_options
def set_command(key: str, values: tuple[str, ...], **flags: Any) -> None:
    """Write a setting into your config.toml; all else in it stays as it is."""
    call = create_invocation(flags)
    _print_result(call, set_setting(call.context, key, values))


@command.command(
    "unset", epilog="\b\nExamples:\n  skillpm config unset exclude-newer\n  skillpm config unset indexes.acme"
)
@click.argument("key")
@LOCK_TIMEOUT_OPTION
@output_options
def unset_command(key: str, **flags: Any) -> None:
    """Take a setting out of your config.toml."""
    call = create_invocation(flags)
    _print_result(call, unset_setting(call.context, key))


def _command_line_keys(flags: dict[str, Any]) -> list[str]:
    return ["exclude-newer"] if flags["exclude_newer"] is not None else []


def _print_result(invocation: Invocation, change: ConfigChange) -> None:
    if invocation.console.as_json:
        value = {"changed": change.is_changed, "key": change.key, "value": change.value, "file": change.file}
        invocation.console.print_json(value | {"warnings": list(invocation.context.reporter.warnings)})
    elif change.value is None:
        invocation.console.print_message(f"{change.key} is no longer set in {change.file}")
    else:
        verb = "is now" if change.is_changed else "was already"
        invocation.console.print_message(f"{change.key} {verb} {_format_value(change.value)}, in {change.file}")


def _to_json(setting: EffectiveSetting) -> dict[str, Any]:
    return {"key": setting.key, "value": setting.value, "origin": setting.origin, "where": setting.location}


def _format_origin(setting: EffectiveSetting) -> str:
    return f"{setting.origin} ({sanitize(setting.location)})" if setting.location else setting.origin


def _format_value(value: Any) -> str:
    return "(not set)" if value is None else sanitize(json.dumps(value, ensure_ascii=False), 500)
