"""Commands and options of other tools: taken where they mean the same, else answered with skillpm's."""

import re

import click
import pytest
from commands.scene import CommandSandbox, expected_output

from skillpm.cli.main import cli
from skillpm.cli.other_tools import COMMAND_HINTS, OPTION_HINTS
from skillpm.cli.other_tools import COMMANDS as FOREIGN_COMMANDS


def commands_in(hint: str) -> list[str]:
    """Return the command lines of skillpm in a hint, without the name of the program."""
    return [line.partition(" | ")[0] for line in re.findall(r"`skillpm (?:-C DIR )?([a-z][^`]*)`", hint)]


SKILL = (
    "run `skillpm list` (`skillpm list --path`: with paths), `skillpm show NAME` for details of one skill, or "
    "`skillpm load NAME` for its text"
)
HINTED = {line for hint in [*COMMAND_HINTS.values(), *OPTION_HINTS.values()] for line in commands_in(hint)}


@pytest.mark.parametrize("command_line", sorted({*FOREIGN_COMMANDS.values(), *HINTED}))
def test_every_suggested_command_exists(command_line: str) -> None:
    command: click.Command | None = cli
    for part in command_line.split():
        if part.startswith("--"):
            assert command is not None
            assert part in {option for parameter in command.params for option in parameter.opts}
        elif isinstance(command, click.Group):
            command = command.get_command(click.Context(command), part)
    assert command not in {None, cli}


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["i", "pdf"], "did you mean `install`?"),
        (["experimental_install"], "did you mean `sync`?"),
        (
            ["pin", "pdf"],
            "skills.lock pins every skill; to stay at a tag or commit, run `skillpm install OWNER/REPO#REF@SKILL`",
        ),
        (["skill", "--list"], SKILL),
        (["skill", "-l", "--path"], SKILL),
        (["skill", "code-review"], SKILL),
        (["skills"], SKILL),
        (
            ["rollback"],
            "restore skills.lock (`git checkout REV -- skills.json skills.lock`), then run `skillpm sync`",
        ),
    ],
)
def test_a_command_of_another_tool_is_answered_with_ours(scene: CommandSandbox, words: list[str], hint: str) -> None:
    error = scene.run(*words, env={"COLUMNS": "300"}).stderr
    assert error == f"error: unrecognized command `{words[0]}`\n  hint: {hint}\n"


@pytest.mark.parametrize("option", ["--copy", "--pin", "--scope", "--editable", "-C", "-D"])
def test_an_option_of_another_tool_is_answered_with_ours(scene: CommandSandbox, option: str) -> None:
    result = scene.run("install", "pdf", option, env={"COLUMNS": "300"})
    assert (result.code, result.stderr) == (2, f"error: no such option `{option}`\n  hint: {OPTION_HINTS[option]}\n")


@pytest.mark.parametrize(
    ("words", "option"),
    [(["remove", "-s", "pdf"], "-s"), (["upgrade", "--all"], "--all"), (["list", "--outdated"], "--outdated")],
)
def test_an_option_that_another_command_has_is_answered_too(
    scene: CommandSandbox, words: list[str], option: str
) -> None:
    result = scene.run(*words, env={"COLUMNS": "300"})
    assert (result.code, result.stderr) == (2, f"error: no such option `{option}`\n  hint: {OPTION_HINTS[option]}\n")


def test_no_answered_option_exists_in_every_command() -> None:
    sync = cli.get_command(click.Context(cli), "sync")
    assert sync is not None
    assert {option for parameter in sync.params for option in parameter.opts} & {*OPTION_HINTS} <= {"-y", "--yes"}


def test_a_folder_before_the_command_is_the_working_directory(scene: CommandSandbox) -> None:
    (scene.work / "a/b").mkdir(parents=True)

    assert scene.output("-C", "a", "-q", "-C", "b", "init") == ""
    assert scene.exists("a/b/skills.json")
    assert scene.output("-C", "a/b", "list", "--json").startswith('{\n  "scope": "project",\n')
    assert scene.output("-C", "nope", "list") == expected_output("""\
! error: cannot change to `nope`: No such file or directory
!   hint: use `skillpm -C DIR COMMAND` with a folder that exists
[2]
""")
    assert scene.output("-C") == expected_output("""\
! error: -C requires a folder
!   hint: use `skillpm -C DIR COMMAND` with a folder that exists
[2]
""")


def test_a_repeated_command_in_a_hint_names_the_folder(scene: CommandSandbox) -> None:
    (scene.work / "a").mkdir()
    scene.run("-C", "a", "init", check=True)
    scene.run("-C", "a", "install", "code-review", check=True)
    scene.write("a/.agent-skills/code-review/SKILL.md", "my own words")

    assert "`skillpm -C a ci --keep code-review`" in scene.run("-C", "a", "ci", env={"COLUMNS": "300"}).stderr
