"""Colors: the option, the variables of the environment, and what tables look like in a terminal and in a pipe."""

import pytest
from commands.scene import CommandSandbox
from commands.test_skill_chooser import run_in_terminal
from kit.sandbox import Environment

RESET = "\x1b[0m"
NAME, HEADER, DETAIL = "\x1b[36m", "\x1b[1m", "\x1b[2m"
UNSET: Environment = dict.fromkeys(("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"))

pytestmark = pytest.mark.slow


@pytest.fixture
def installed(project: CommandSandbox) -> CommandSandbox:
    project.run("install", "testing", check=True)
    return project


@pytest.mark.parametrize(
    ("variables", "options", "is_colored"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"CLICOLOR_FORCE": "1"}, [], True),
        ({"FORCE_COLOR": "0", "CLICOLOR_FORCE": ""}, [], False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
        ({"FORCE_COLOR": "1"}, ["--color=never"], False),
        ({"FORCE_COLOR": "1"}, ["--no-color"], False),
        ({}, ["--color", "auto"], False),
    ],
    ids=str,
)
def test_the_option_decides_before_the_environment(
    installed: CommandSandbox, variables: Environment, options: list[str], *, is_colored: bool
) -> None:
    environment = {**UNSET, **variables}
    for words in (["list", *options], [*options, "list"]):
        assert ("\x1b[" in installed.run(*words, env=environment, check=True).stdout) is is_colored
    assert ("\x1b[" in installed.run("show", "nope", *options, env=environment).stderr) is is_colored
    # A command line that cannot be parsed.
    assert ("\x1b[" in installed.run("show", *options, "--nope", env=environment).stderr) is is_colored


def test_a_table_has_a_header_and_colors_in_a_terminal(installed: CommandSandbox) -> None:
    _, shown = run_in_terminal(installed, [], "list", env={**UNSET, "COLUMNS": "40"})
    assert shown == (
        f"{HEADER}name    version  description{RESET}\n{NAME}testing{RESET} 1.0.0    Writes, repairs and re…\n"
    )
    _, plain = run_in_terminal(installed, [], "list", "--no-color", env={**UNSET, "COLUMNS": "40"})
    assert plain == "name    version  description\ntesting 1.0.0    Writes, repairs and re…\n"
    piped = installed.run("list", env={**UNSET, "COLUMNS": "40"}, check=True)
    assert piped.stdout == "testing 1.0.0  Writes, repairs and revi…\n"


def test_a_tree_has_colors_in_a_terminal(installed: CommandSandbox) -> None:
    assert run_in_terminal(installed, [], "tree", env=UNSET)[1] == f"{NAME}testing{RESET} 1.0.0\n"
    assert installed.run("tree", env=UNSET, check=True).stdout == "testing 1.0.0\n"


def test_an_unknown_terminal_gets_no_escape_codes(installed: CommandSandbox) -> None:
    assert "\x1b" not in run_in_terminal(installed, [], "list", env={**UNSET, "TERM": "dumb"})[1]


def test_escape_codes_of_a_skill_are_not_interpreted(project: CommandSandbox) -> None:
    text = '---\nname: sly\ndescription: "\\e[31mred\\e[0m [bold]rich[/bold]"\n---\nText.\n'
    project.write(".agent-skills/sly/SKILL.md", text)
    shown = run_in_terminal(project, [], "list", "--color", "always")[1]
    assert "\x1b[31m" not in shown
    assert "red" in shown
    assert "[bold]rich[/bold]" in shown
