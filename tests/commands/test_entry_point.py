"""What happens before any command: help, mistyped words, exit codes."""

import os
import signal
import sys

import click
import pytest
from commands.scene import CommandSandbox, expected_output

from skillpm.cli.main import SUGGESTIONS, cli

BUDGET = "Invalid value for '--budget': `{}` is no whole number from 0 upwards"
LIMIT = "Invalid value for '--limit': `0` is no whole number from 1 upwards"


def test_the_bare_word_shows_the_help(scene: CommandSandbox) -> None:
    bare, asked = scene.run(), scene.run("--help")

    assert (bare.code, bare.stderr) == (0, "")
    assert bare.stdout == asked.stdout
    assert bare.stdout.startswith("Usage: skillpm [OPTIONS] COMMAND [ARGS]...\n")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["syncc"], "there is no command `syncc`. Did you mean sync?", "skillpm --help"),
        (["zzzzzz"], "there is no command `zzzzzz`", "skillpm --help"),
        (["i", "pdf"], "there is no command `i`. Did you mean install?", "skillpm --help"),
        (["status"], "there is no command `status`. Did you mean verify?", "skillpm --help"),
        (["publish"], "there is no command `publish`. Did you mean index build?", "skillpm --help"),
        (["fmt"], "there is no command `fmt`. Did you mean validate --fix?", "skillpm --help"),
        (["backup", "lst"], "there is no command `backup lst`. Did you mean list?", "skillpm backup --help"),
        (
            ["registry", "zzzz"],
            "there is no command `registry zzzz`. There are build, check",
            "skillpm registry --help",
        ),
        (["--zzzz"], "No such option '--zzzz'", "skillpm --help"),
        (["sync", "--nope"], "No such option '--nope'", "skillpm sync --help"),
        (["sync", "--forc"], "No such option '--forc'", "skillpm sync --help"),
        (["sync", "--froze"], "No such option '--froze'. Did you mean '--frozen'?", "skillpm sync --help"),
        (["list", "--zzzz"], "No such option '--zzzz'", "skillpm list --help"),
        (["list", "extra"], "Got unexpected extra argument (extra)", "skillpm list --help"),
        (["sync", "--keep"], "Option '--keep' requires an argument", "skillpm sync --help"),
        (["diff"], "of which skill?", "skillpm diff -g NAME; `skillpm verify -g` says which were edited"),
        (["prompt", "--budget", "many"], BUDGET.format("many"), "skillpm prompt --help"),
        (["prompt", "--budget", "-1"], BUDGET.format("-1"), "skillpm prompt --help"),
        (["search", "x", "--limit", "0"], LIMIT, "skillpm search --help"),
        (
            ["mcp", "--print-config"],
            "--print-config wants a host; known are claude-code, codex, cursor, opencode",
            "in the configuration of any other host, the server's command is `skillpm mcp`, over stdio",
        ),
        (["show"], "Missing argument 'NAME'", "skillpm show --help"),
        (["uninstall"], "Missing argument 'NAME...'", "skillpm uninstall --help"),
        (
            ["sync", "--lock-timeout", "soon"],
            "Invalid value for '--lock-timeout': `soon` is no number from 0 upwards",
            "skillpm sync --help",
        ),
        (
            ["install", "a", "--branch", "b", "--tag", "c"],
            "give one of --branch, --tag, --rev and --version",
            "skillpm install --help",
        ),
        (["install", "--as", "x"], "a SPEC is missing", "skillpm install --help"),
        (["install", "--list"], "a SPEC is missing", "skillpm install --help"),
        (["install", "--link"], "a SPEC is missing", "skillpm install --help"),
        (["install", "--branch", "main"], "a SPEC is missing", "skillpm install --help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_is_told_in_two_lines(
    scene: CommandSandbox, arguments: list[str], message: str, hint: str
) -> None:
    before = scene.full_snapshot
    on_path = {"PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}

    assert scene.output(*arguments, env=on_path) == f"! error: {message}\n!   try: {hint}\n[2]\n"
    assert scene.full_snapshot == before


def test_words_of_other_tools_are_understood(scene: CommandSandbox) -> None:
    assert scene.output("version") == scene.output("--version")
    assert scene.output("help") == scene.output("--help")
    assert scene.output("help", "backup", "list") == scene.output("backup", "list", "--help")
    scene.run("install", "testing", check=True)
    assert scene.output("info", "testing") == scene.output("show", "testing")


@pytest.mark.parametrize("family", ["registry", "index"])
def test_a_family_of_commands_called_alone_shows_what_it_has(scene: CommandSandbox, family: str) -> None:
    assert scene.output(family) == scene.output(family, "--help")


def test_backup_alone_lists(scene: CommandSandbox) -> None:
    assert scene.output("backup") == "! nothing is set aside\n"
    assert scene.json_output("backup") == {"backups": []}


def test_cache_alone_says_what_is_in_it(scene: CommandSandbox) -> None:
    assert scene.output("cache") == scene.output("cache", "info")
    assert scene.output("cache", "--json") == scene.output("cache", "info", "--json")


def test_a_value_in_the_environment_that_cannot_be_meant_is_told(scene: CommandSandbox) -> None:
    assert scene.output("list", env={"SKILLPM_LOCK_TIMEOUT": "soon"}) == expected_output("""\
! error: SKILLPM_LOCK_TIMEOUT=soon is no number
!   try: unset it, or give a number like 60
[2]
""")
    assert scene.output("list", env={"SKILLPM_LINK_MODE": "hardlink"}) == expected_output("""\
! error: SKILLPM_LINK_MODE=hardlink means nothing
!   try: unset it, or give one of symlink, copy
[2]
""")


@pytest.mark.parametrize("arguments", [["agents", "--all"], ["list"], ["list", "--json"]], ids=" ".join)
def test_a_reader_that_goes_away_is_no_failure(scene: CommandSandbox, arguments: list[str]) -> None:
    scene.run("install", "testing", check=True)
    process = scene.spawn(*arguments)
    assert process.stdout
    assert process.stdin
    assert process.stderr
    process.stdout.close()
    process.stdin.close()

    assert (process.wait(30), process.stderr.read()) == (0, b"")
    process.stderr.close()


def test_a_terminal_of_few_letters_is_no_failure(scene: CommandSandbox) -> None:
    scene.create_project()
    few = {"PYTHONIOENCODING": "latin-1"}

    assert scene.run("install", "testing", env=few, check=True)
    said = scene.run("link", "claude-code", env=few, check=True).stdout

    assert said.splitlines()[0] == " \\u2192 testing 1.0.0  (linked in .claude/skills)"
    assert scene.run("list", "--json", env=few).json["skills"][0]["name"] == "testing"


@pytest.mark.parametrize("words", [["--json", "list"], ["--project", ".", "--json", "list"], ["-v", "--json", "list"]])
def test_what_every_command_understands_may_stand_before_it(scene: CommandSandbox, words: list[str]) -> None:
    scene.create_project()

    assert scene.run(*words, check=True).json["skills"] == []


def test_before_no_command_it_means_nothing(scene: CommandSandbox) -> None:
    assert scene.output("--quiet") == "! error: No such option '--quiet'\n!   try: skillpm --help\n[2]\n"


@pytest.mark.parametrize("group", ["backup", "cache", "config", "index", "registry"])
def test_the_help_of_a_family_ends_no_sentence_early(scene: CommandSandbox, group: str) -> None:
    commands = scene.run(group, "--help", check=True).stdout.partition("Commands:")[2].partition("Examples:")[0]

    assert "..." not in commands
    assert commands.rstrip().endswith(".")


@pytest.mark.parametrize("meant", sorted(set(SUGGESTIONS.values())))
def test_what_is_guessed_for_a_word_of_another_tool_is_there(meant: str) -> None:
    command: click.Command | None = cli
    for part in meant.split():
        if part.startswith("--"):
            assert command is not None
            assert part in {option for parameter in command.params for option in parameter.opts}
        else:
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), part)
    assert command is not None


WHILE_LOADING = """
import os, signal, sys
def interrupt(event, words):
    if event == "import" and words[0] == "{}":
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(interrupt)
"""
AT_THE_END = "import atexit, os, signal\natexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"


@pytest.mark.parametrize(
    ("moment", "ends"),
    [
        (WHILE_LOADING.format("click"), (-signal.SIGINT, "", "")),
        (WHILE_LOADING.format("skillpm.operations.inspect.list"), (130, "", "interrupted\n")),
        (
            AT_THE_END,
            (-signal.SIGINT, "", "no skills in WORK/.agent-skills; `skillpm install code-review` is a start\n"),
        ),
    ],
    ids=["while the command line is loaded", "while the command is loaded", "when the command has ended"],
)
def test_ctrl_c_shows_no_traceback_at_any_moment(
    scene: CommandSandbox, moment: str, ends: tuple[int, str, str]
) -> None:
    scene.create_project().write("site/sitecustomize.py", moment)

    result = scene.run("list", env={"PYTHONPATH": str(scene.work / "site")})

    assert (result.code, result.stdout, scene.add_placeholders(result.stderr).lstrip()) == ends
