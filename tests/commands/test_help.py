"""The help in two lengths: `-h` fits on a screen, `--help` has every option once, in groups."""

import re
from collections.abc import Iterator

import click
import pytest
from commands.scene import CommandSandbox, expected_output

from skillpm.cli.main import COMMANDS, HIDDEN_COMMANDS, load_command

WIDTH = 80  # the columns of a sandbox; a terminal breaks longer lines in the middle of a word
FIRST_SCREEN, SHORT = 24, 45


def _list_commands() -> Iterator[tuple[str, click.Command]]:
    for name in (*COMMANDS, *HIDDEN_COMMANDS):
        yield name, (command := load_command(name))
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", each) for inner, each in command.commands.items())


ALL = dict(_list_commands())


def find_options(shown: str) -> list[str]:
    """Return the options that a help lists, each with its short name; not those in texts and examples."""
    rows = re.sub(r"\n  Examples?:\n.*", "", shown, flags=re.DOTALL)
    rows = rows[rows.index("ptions:\n") :]  # the description of a command may begin a line with an option
    return re.findall(r"^  (-[\w-]+(?:, --[\w-]+)*)", rows, re.MULTILINE)


def test_skillpm_alone_and_its_short_help_fit_on_a_screen(scene: CommandSandbox) -> None:
    first, short, full = (scene.run(*words, check=True).stdout for words in ([], ["-h"], ["--help"]))

    assert [line for line in (first + short + full).splitlines() if len(line) > WIDTH] == []
    assert (len(first.splitlines()) <= FIRST_SCREEN, len(short.splitlines()) <= SHORT) == (True, True)


@pytest.mark.parametrize("name", ALL)
def test_no_line_of_a_help_is_wider_than_the_terminal(scene: CommandSandbox, name: str) -> None:
    shown = [scene.run(*name.split(), option, check=True).stdout for option in ("-h", "--help")]

    assert [line for text in shown for line in text.splitlines() if len(line) > WIDTH] == []
    assert len(shown[0].splitlines()) <= SHORT


@pytest.mark.parametrize(("name", "command"), [each for each in ALL.items() if not isinstance(each[1], click.Group)])
def test_the_full_help_has_every_option_once_and_the_short_one_no_other(
    scene: CommandSandbox, name: str, command: click.Command
) -> None:
    short, full = (find_options(scene.run(*name.split(), option, check=True).stdout) for option in ("-h", "--help"))
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]

    assert sorted(full) == sorted(["-h, --help", *(", ".join(each.opts) for each in options)])
    assert len({*short}) == len(short)
    assert {*short} <= {*full}


# Options that several commands have, with those in whose help they are: where they can decide something.
SHARED = {
    "--allow": {"install", "sync", "update", "link", "enable", "lock", "import", "load"},
    "--allow-insecure-host": {
        *("install", "sync", "update", "lock", "import", "load", "show", "search", "outdated", "diff", "review"),
        *("verify", "audit", "mirror", "push", "doctor", "index page", "index check"),
        *("policy check", "policy refresh", "policy enforce"),
    },
    "--keep": {"install", "sync", "update", "link", "enable"},
    "--force": {"install", "sync", "update", "link", "enable", "uninstall", "backup restore"},
    "--agent": {"load", "prompt", "search", "mcp", "list", "discover", "fit", "install", "enable", "disable"},
    "--profile": {"load", "prompt", "search", "mcp"},
    "--exclude-newer": {"install", "sync", "update", "lock", "outdated", "load", "config list", "config get"},
    "--host": set[str](),
    "--style": set[str](),
}


@pytest.mark.parametrize("option", SHARED)
def test_an_option_is_in_the_help_of_the_commands_where_it_decides_something(option: str) -> None:
    listed = {
        name
        for name, command in ALL.items()
        for each in command.params
        if isinstance(each, click.Option) and option in each.opts and not each.hidden and name not in HIDDEN_COMMANDS
    }
    assert listed == SHARED[option]


def test_the_short_help_leads_to_the_full_one(scene: CommandSandbox) -> None:
    assert scene.run("outdated", "-h", check=True).stdout == expected_output("""\
Usage: skillpm outdated [OPTIONS] [NAME]...

  List outdated skills: the locked version, the one `update` would install,
  the latest one. Changes nothing.

Positional arguments:
  [NAME]...  The skills to check [default: all].

Options:
  --exit-code    Exit with 1 if a skill is outdated.
  -g, --global   Use the user scope (~/.agent-skills).
  --project DIR  Use the project in DIR.
  --json         Print the result as one JSON object.
  -h, --help     Show this message and exit.

  Examples:
    skillpm outdated               skills that have newer versions
    skillpm outdated pdf deploy    only these skills
    skillpm outdated --exit-code   exit 1 if there are any
    skillpm outdated --exclude-newer '0 days'   include today's versions

  Use `skillpm outdated --help` for all options and examples.
""")
    assert scene.output("help", "outdated") == scene.output("outdated", "--help")


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
