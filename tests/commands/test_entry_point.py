"""The entry point: help, unknown commands, usage errors, exit codes, Ctrl-C."""

import os
import re
import signal
import sys

import pytest
from commands.scene import CommandSandbox, expected_output

from skillpm.cli.main import COMMANDS
from skillpm.operations.mcp.hosts import MCP_HOSTS


def test_skillpm_without_arguments_prints_the_most_common_commands(scene: CommandSandbox) -> None:
    assert scene.output() == expected_output("""\
Usage: skillpm [OPTIONS] COMMAND [ARGS]...

  Install, lock and sync agent skills: folders that contain a SKILL.md.

Common commands:
  init       Start a project by creating skills.json.
  install    Add skills to skills.json and install them.
  uninstall  Remove skills.
  sync       Install what the lockfile specifies.
  update     Update skills to the newest allowed versions.
  list       List installed skills.
  search     Search for skills.
  link       Link skills into an agent host's skills folder.
  diff       Show your edits, or what an update would change.

  Examples:
    skillpm install code-review            install a bundled skill
    skillpm install anthropics/skills@pdf  install from a GitHub repository
    skillpm sync --frozen                  install what skills.lock specifies
    skillpm link claude-code               make the skills visible to an agent

  `skillpm -h` lists more commands, `skillpm COMMAND -h` a command's options.
""")
    assert scene.output("-C", ".") == scene.output()
    listed = re.findall(r"^  ([a-z]+)(?:,.*|  .*)$", scene.run("--help", check=True).stdout, re.MULTILINE)
    assert listed == [*COMMANDS]


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["syncc"], "unrecognized command `syncc`", "did you mean `sync`?"),
        (["zzzzzz"], "unrecognized command `zzzzzz`", "run `skillpm --help`"),
        (["i", "pdf"], "unrecognized command `i`", "did you mean `install`?"),
        (["status"], "unrecognized command `status`", "did you mean `verify`?"),
        (
            ["publish"],
            "unrecognized command `publish`",
            "run `skillpm index build` for a static site, or `skillpm push` for an OCI registry",
        ),
        (["fmt"], "unrecognized command `fmt`", "did you mean `validate --fix`?"),
        (["backup", "lst"], "unrecognized command `backup lst`", "did you mean `list`?"),
        (
            ["registry", "zzzz"],
            "unrecognized command `registry zzzz`",
            "available commands: build, check",
        ),
        (["--zzzz"], "no such option `--zzzz`", "run `skillpm --help`"),
        (["sync", "--nope"], "no such option `--nope`", "run `skillpm sync --help`"),
        (["sync", "--forc"], "no such option `--forc`", "run `skillpm sync --help`"),
        (["sync", "--froze"], "no such option `--froze`", "did you mean `--frozen`?"),
        (["list", "--zzzz"], "no such option `--zzzz`", "run `skillpm list --help`"),
        (["--json", "-v", "--zzzz"], "no such option `--zzzz`", "run `skillpm --help`"),
        (
            ["registry", "--quiet"],
            "a command is missing after `skillpm registry --quiet`",
            "available commands: build, check",
        ),
        (["--verbose"], "a command is missing after `--verbose`", "run `skillpm --help`"),
        (["list", "pdf"], "unexpected argument `pdf`", "run `skillpm show pdf`"),
        (["sync", "pdf"], "unexpected argument `pdf`", "to update single skills, run `skillpm update pdf`"),
        (["ci", "pdf"], "unexpected argument `pdf`", "to update single skills, run `skillpm update pdf`"),
        (
            ["lock", "a", "$(b)"],
            "unexpected arguments `a $(b)`",
            "to update single skills, run `skillpm update a '$(b)'`",
        ),
        (["discover", "codex"], "unexpected argument `codex`", "did you mean `skillpm discover --agent codex`?"),
        (["doctor", "pdf"], "unexpected argument `pdf`", "run `skillpm doctor --help`"),
        (["fit"], "missing option `--agent`", "run `skillpm fit --help`"),
        (["sync", "--keep"], "option `--keep` requires an argument", "run `skillpm sync --help`"),
        (
            ["prompt", "--budget", "many"],
            "invalid value for `--budget`: `many` is not a valid integer range",
            "run `skillpm prompt --help`",
        ),
        (
            ["prompt", "--budget", "-1"],
            "invalid value for `--budget`: -1 is not in the range x>=0",
            "run `skillpm prompt --help`",
        ),
        (
            ["search", "x", "--limit", "0"],
            "invalid value for `--limit`: 0 is not in the range x>=1",
            "run `skillpm search --help`",
        ),
        (
            ["mcp", "--print-config"],
            f"--print-config needs a host; known hosts: {', '.join(MCP_HOSTS)}",
            "for any other host, configure a stdio server with the command `skillpm mcp`",
        ),
        (["show"], "missing argument `NAME`", "run `skillpm show --help`"),
        (["enable"], "missing argument `NAME...`", "run `skillpm enable --help`"),
        (
            ["sync", "--lock-timeout", "soon"],
            "invalid value for `--lock-timeout`: `soon` is not a number of 0 or more",
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
    assert scene.output("--quiet") == expected_output("""\
! error: a command is missing after `--quiet`
!   hint: run `skillpm --help`
[2]
""")


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


def test_a_group_without_its_command_is_an_error_as_json(scene: CommandSandbox) -> None:
    result = scene.run("index", "--json")
    assert (result.code, result.json["error"]["message"]) == (2, "a command is missing after `skillpm index --json`")
