"""The help of commands: options in groups, and every option once."""

import re

import click
import pytest
from commands.scene import CommandSandbox, expected_output

from skillpm.cli.main import COMMANDS, _load_command

WIDTH = 80  # the columns of a sandbox; a terminal breaks longer lines in the middle of a word


def _list_subcommands() -> list[list[str]]:
    """Return the words of `skillpm` itself and of each command below a group."""
    groups = {name: _load_command(name) for name in COMMANDS}
    return [[], *([name, each] for name, group in groups.items() for each in getattr(group, "commands", ()))]


@pytest.mark.parametrize("words", _list_subcommands(), ids=" ".join)
def test_no_line_of_a_help_is_wider_than_the_terminal(scene: CommandSandbox, words: list[str]) -> None:
    shown = scene.run(*words, "--help", check=True).stdout
    assert [line for line in shown.splitlines() if len(line) > WIDTH] == []


def test_shared_options_follow_those_of_the_command_in_groups(scene: CommandSandbox) -> None:
    shown = scene.run("lock", "--help", check=True).stdout

    assert re.findall(r"^(\S.*):$", shown, re.MULTILINE) == [
        "Options",
        "Scope options",
        "Network options",
        "Global options",
    ]
    assert "\nScope options:\n  -g, --global" in shown
    subcommand = scene.run("cache", "dir", "--help", check=True).stdout
    assert subcommand.partition("\nGlobal options:\n")[2].partition("\n\n")[0] == expected_output("""\
  --json         Print the result as one JSON object.
  -q, --quiet    Print errors only.
  -v, --verbose  Log network requests (-vv: also git commands).
  --color WHEN   Use colors: auto (in a terminal), always or never [default:
                 auto].
  --no-color     Disable colors: same as --color never.
  -h, --help     Show this message and exit.""")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_has_every_option_once(scene: CommandSandbox, name: str) -> None:
    command = _load_command(name)
    if isinstance(command, click.Group):
        return
    shown = scene.run(name, "--help", check=True).stdout
    assert [line for line in shown.splitlines() if len(line) > WIDTH] == []
    shown = shown.partition("Examples:")[0].partition("Example:")[0]
    shown = shown[shown.index(":\n  -") :]  # the description of the command may begin a line with an option
    listed = re.findall(r"^  (-[\w-]+(?:, --[\w-]+)*)", shown, re.MULTILINE)
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert sorted(listed) == sorted(["-h, --help", *(", ".join(option.opts) for option in options)])
