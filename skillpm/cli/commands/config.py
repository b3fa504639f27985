"""`skillpm config get|set|unset|list`."""

import json
from typing import Any

import click

from skillpm.cli.change_options import dated
from skillpm.cli.command_group import Family
from skillpm.cli.option_types import AMOUNT
from skillpm.cli.options import Call, call_of, reading, telling
from skillpm.cli.text_layout import wrapped
from skillpm.core.text import show
from skillpm.operations.config import Edited, one_setting, set_setting, settings_here, unset_setting
from skillpm.operations.config_origins import Setting

WAIT = click.option("--lock-timeout", type=AMOUNT, metavar="SECONDS", help="How long to wait for another skillpm.")


@click.group(
    cls=Family,
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
@dated
@reading
def list_command(show_origin: bool, **flags: Any) -> None:  # noqa: FBT001  (a flag of the command line)
    """List every setting that counts here. Tokens are never shown."""
    call = call_of(flags)
    found = settings_here(call.scope, call.tools, given=_given(flags))
    if call.console.as_json:
        call.console.data({"settings": [_value(setting) for setting in found]})
        return
    rows = [(f"{setting.key} = {_said(setting.value)}", _origin(setting)) for setting in found]
    width = max(len(said) for said, _ in rows)
    for said, origin in rows:
        line = f"{said:{min(width, 60)}}  {origin}" if show_origin else said
        for part in wrapped(line, indent=2, is_output=True):
            call.console.line(part)


@command.command(
    "get",
    epilog="""\b
Examples:
  skillpm config get exclude-newer
  skillpm config get indexes         all that stands below a name
  skillpm config get agents --json   with who said it, and where""",
)
@click.argument("key")
@dated
@reading
def get_command(key: str, **flags: Any) -> None:
    """Give the value of a setting that counts here; nothing where it is not set."""
    call = call_of(flags)
    found = one_setting(call.scope, call.tools, key, given=_given(flags))
    if call.console.as_json:
        call.console.data(_value(found[0]) if len(found) == 1 else {"settings": [_value(it) for it in found]})
        return
    for setting in found:
        if setting.key != key and len(found) > 1:
            call.console.line(f"{setting.key} = {_said(setting.value)}")
        elif setting.value is not None:
            values = setting.value if isinstance(setting.value, list) else [setting.value]
            for value in values:
                call.console.line(show(value, 1000) if isinstance(value, str) else _said(value))


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
@WAIT
@telling
def set_command(key: str, values: tuple[str, ...], **flags: Any) -> None:
    """Write a setting into your config.toml; all else in it stays as it is."""
    call = call_of(flags)
    _tell(call, set_setting(call.tools, key, values))


@command.command(
    "unset", epilog="\b\nExamples:\n  skillpm config unset exclude-newer\n  skillpm config unset indexes.acme"
)
@click.argument("key")
@WAIT
@telling
def unset_command(key: str, **flags: Any) -> None:
    """Take a setting out of your config.toml."""
    call = call_of(flags)
    _tell(call, unset_setting(call.tools, key))


def _given(flags: dict[str, Any]) -> list[str]:
    return ["exclude-newer"] if flags["exclude_newer"] is not None else []


def _tell(call: Call, edited: Edited) -> None:
    if call.console.as_json:
        value = {"changed": edited.changed, "key": edited.key, "value": edited.value, "file": edited.file}
        call.console.data(value | {"warnings": list(call.tools.reporter.warnings)})
    elif edited.value is None:
        call.console.say(f"{edited.key} is no longer set in {edited.file}")
    else:
        verb = "is now" if edited.changed else "was already"
        call.console.say(f"{edited.key} {verb} {_said(edited.value)}, in {edited.file}")


def _value(setting: Setting) -> dict[str, Any]:
    return {"key": setting.key, "value": setting.value, "origin": setting.origin, "where": setting.where}


def _origin(setting: Setting) -> str:
    return f"{setting.origin} ({show(setting.where)})" if setting.where else setting.origin


def _said(value: Any) -> str:
    return "(not set)" if value is None else show(json.dumps(value, ensure_ascii=False), 500)
