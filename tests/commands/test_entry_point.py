"""The entry point: help, unknown commands, usage errors, exit codes, Ctrl-C."""

import os
import signal
import sys

import pytest
from commands.scene import CommandSandbox, expected_output

from skillpm.operations.mcp.hosts import MCP_HOSTS


def test_skillpm_without_arguments_prints_the_help(scene: CommandSandbox) -> None:
    bare, explicit = scene.run(), scene.run("--help")

    assert (bare.code, bare.stderr) == (0, "")
    assert bare.stdout == explicit.stdout
    assert bare.stdout.startswith("Usage: skillpm [OPTIONS] COMMAND [ARGS]...\n")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["syncc"], "unrecognized command `syncc`", "did you mean `sync`?"),
        (["zzzzzz"], "unrecognized command `zzzzzz`", "run `skillpm --help`"),
        (["i", "pdf"], "unrecognized command `i`", "did you mean `install`?"),
        (["status"], "unrecognized command `status`", "did you mean `verify`?"),
        (["publish"], "unrecognized command `publish`", "did you mean `index build`?"),
        (["fmt"], "unrecognized command `fmt`", "did you mean `validate --fix`?"),
        (["backup", "lst"], "unrecognized command `backup lst`", "did you mean `list`?"),
        (
            ["registry", "zzzz"],
            "unrecognized command `registry zzzz`",
            "available commands: build, check",
        ),
        (["--zzzz"], "No such option '--zzzz'", "run `skillpm --help`"),
        (["sync", "--nope"], "No such option '--nope'", "run `skillpm sync --help`"),
        (["sync", "--forc"], "No such option '--forc'", "run `skillpm sync --help`"),
        (["sync", "--froze"], "No such option '--froze'. Did you mean '--frozen'?", "run `skillpm sync --help`"),
        (["list", "--zzzz"], "No such option '--zzzz'", "run `skillpm list --help`"),
        (["list", "extra"], "Got unexpected extra argument (extra)", "run `skillpm list --help`"),
        (["sync", "--keep"], "Option '--keep' requires an argument", "run `skillpm sync --help`"),
        (
            ["prompt", "--budget", "many"],
            "Invalid value for '--budget': 'many' is not a valid integer range",
            "run `skillpm prompt --help`",
        ),
        (
            ["prompt", "--budget", "-1"],
            "Invalid value for '--budget': -1 is not in the range x>=0",
            "run `skillpm prompt --help`",
        ),
        (
            ["search", "x", "--limit", "0"],
            "Invalid value for '--limit': 0 is not in the range x>=1",
            "run `skillpm search --help`",
        ),
        (
            ["mcp", "--print-config"],
            f"--print-config needs a host; known hosts: {', '.join(MCP_HOSTS)}",
            "for any other host, configure a stdio server with the command `skillpm mcp`",
        ),
        (["show"], "Missing argument 'NAME'", "run `skillpm show --help`"),
        (["uninstall"], "Missing argument 'NAME...'", "run `skillpm uninstall --help`"),
        (
            ["sync", "--lock-timeout", "soon"],
            "Invalid value for '--lock-timeout': `soon` is not a number of 0 or more",
            "run `skillpm sync --help`",
        ),
        (
            ["install", "a", "--branch", "b", "--tag", "c"],
            "only one of --branch, --tag, --rev and --version can be used",
            "run `skillpm install --help`",
        ),
        (["install", "--as", "x"], "a SPEC is missing", "run `skillpm install --help`"),
        (["install", "--list"], "a SPEC is missing", "run `skillpm install --help`"),
        (["install", "--link"], "a SPEC is missing", "run `skillpm install --help`"),
        (["install", "--branch", "main"], "a SPEC is missing", "run `skillpm install --help`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_usage_error_is_two_lines_and_changes_nothing(
    scene: CommandSandbox, arguments: list[str], message: str, hint: str
) -> None:
    before = scene.full_snapshot
    on_path = {"PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}

    assert scene.output(*arguments, env=on_path) == f"! error: {message}\n!   hint: {hint}\n[2]\n"
    assert scene.full_snapshot == before


def test_commands_of_other_tools_are_accepted(scene: CommandSandbox) -> None:
    assert scene.output("version") == scene.output("--version")
    assert scene.output("help") == scene.output("--help")
    assert scene.output("help", "backup", "list") == scene.output("backup", "list", "--help")
    scene.run("install", "testing", check=True)
    assert scene.output("info", "testing") == scene.output("show", "testing")


@pytest.mark.parametrize("group", ["registry", "index"])
def test_a_command_group_without_a_default_prints_its_help(scene: CommandSandbox, group: str) -> None:
    assert scene.output(group) == scene.output(group, "--help")


def test_backup_without_a_command_lists_backups(scene: CommandSandbox) -> None:
    assert scene.output("backup") == "! no backups\n"
    assert scene.json_output("backup") == {"backups": []}


def test_cache_without_a_command_prints_its_info(scene: CommandSandbox) -> None:
    assert scene.output("cache") == scene.output("cache", "info")
    assert scene.output("cache", "--json") == scene.output("cache", "info", "--json")


def test_an_invalid_environment_variable_is_a_usage_error(scene: CommandSandbox) -> None:
    assert scene.output("list", env={"SKILLPM_LOCK_TIMEOUT": "soon"}) == expected_output("""\
! error: invalid number SKILLPM_LOCK_TIMEOUT=soon
!   hint: unset it, or use a number like 60
[2]
""")
    assert scene.output("list", env={"SKILLPM_LINK_MODE": "hardlink"}) == expected_output("""\
! error: invalid value `hardlink` for SKILLPM_LINK_MODE
!   hint: unset it, or use one of symlink, copy
[2]
""")


@pytest.mark.parametrize("arguments", [["agents", "--all"], ["list"], ["list", "--json"]], ids=" ".join)
def test_a_closed_pipe_is_not_an_error(scene: CommandSandbox, arguments: list[str]) -> None:
    scene.run("install", "testing", check=True)
    process = scene.spawn(*arguments)
    assert process.stdout
    assert process.stdin
    assert process.stderr
    process.stdout.close()
    process.stdin.close()

    assert (process.wait(30), process.stderr.read()) == (0, b"")
    process.stderr.close()


def test_output_that_the_terminal_cannot_encode_is_escaped(scene: CommandSandbox) -> None:
    scene.create_project()
    few = {"PYTHONIOENCODING": "latin-1"}

    assert scene.run("install", "testing", env=few, check=True)
    output = scene.run("link", "claude-code", env=few, check=True).stdout

    assert output.splitlines()[0] == " \\u2192 testing 1.0.0  (linked in .claude/skills)"
    assert scene.run("list", "--json", env=few).json["skills"][0]["name"] == "testing"


@pytest.mark.parametrize("words", [["--json", "list"], ["--project", ".", "--json", "list"], ["-v", "--json", "list"]])
def test_common_options_are_accepted_before_the_command(scene: CommandSandbox, words: list[str]) -> None:
    scene.create_project()

    assert scene.run(*words, check=True).json["skills"] == []


def test_common_options_without_a_command_are_a_usage_error(scene: CommandSandbox) -> None:
    assert scene.output("--quiet") == "! error: No such option '--quiet'\n!   hint: run `skillpm --help`\n[2]\n"


@pytest.mark.parametrize("group", ["backup", "cache", "config", "index", "registry"])
def test_the_help_of_a_command_group_does_not_cut_sentences(scene: CommandSandbox, group: str) -> None:
    commands = scene.run(group, "--help", check=True).stdout.partition("Commands:")[2].partition("Examples:")[0]

    assert "..." not in commands
    assert commands.rstrip().endswith(".")


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
            (-signal.SIGINT, "", "no skills in WORK/.agent-skills; try `skillpm install code-review`\n"),
        ),
    ],
    ids=["while the command line is imported", "while the command is imported", "after the command has ended"],
)
def test_ctrl_c_shows_no_traceback_at_any_moment(
    scene: CommandSandbox, moment: str, ends: tuple[int, str, str]
) -> None:
    scene.create_project().write("site/sitecustomize.py", moment)

    result = scene.run("list", env={"PYTHONPATH": str(scene.work / "site")})

    assert (result.code, result.stdout, scene.add_placeholders(result.stderr).lstrip()) == ends
