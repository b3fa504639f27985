"""The `skillpm` command line: the table of commands, and the one place that catches errors.

The table holds the summary of each command, so that `--help` imports no command, and a command imports only itself.
"""

import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, TextIO

import click

from skillpm import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def reopen_closed_streams() -> None:
    """Open /dev/null for every standard stream that is closed (`>&-`).

    Otherwise the next file to be opened gets its number, and messages are written into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The system assigns the lowest free number, which is this one.
            os.open(os.devnull, os.O_RDWR)
    for name, mode, number in (("stdin", "r", 0), ("stdout", "w", 1), ("stderr", "w", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


# What a write to a full disk raises. All that is written to files is translated into errors of our own.
FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def is_unwritable(stream: TextIO) -> bool:
    """Return whether flushing a stream fails: it is closed, its reader is gone, or the disk is full."""
    try:
        stream.flush()
    except (OSError, ValueError):
        return True
    return False


def discard_output(stream: TextIO) -> None:
    """Redirect a stream to /dev/null: Python flushes it at exit, and exits with 120 if that fails."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


# The commands that the help lists, in its order.
SECTIONS = {
    "Manage skills": {
        "init": "Start a project by creating skills.json.",
        "install": "Add skills to skills.json and install them.",
        "uninstall": "Remove skills.",
        "sync": "Install what the lockfile specifies.",
        "update": "Update skills to the newest allowed versions.",
        "lock": "Resolve skills.json and write skills.lock.",
        "import": "Import skills that another tool manages.",
        "migrate": "Convert flat .md files to skills.",
    },
    "Inspect": {
        "list": "List installed skills.",
        "show": "Show a skill's metadata, source and files.",
        "search": "Search for skills.",
        "outdated": "List skills that have newer versions.",
        "tree": "Show what depends on what, and why a skill is there.",
        "diff": "Show your edits, or what an update would change.",
        "review": "Show unreviewed skills, and record reviews.",
        "verify": "Verify installed files against the lockfile.",
        "audit": "Find hidden text, risky commands, and credential theft.",
    },
    "Agent hosts": {
        "agents": "List agent hosts and where they read skills.",
        "link": "Link skills into an agent host's skills folder.",
        "unlink": "Remove skill links from an agent host's folder.",
        "enable": "Enable disabled skills.",
        "disable": "Disable skills without uninstalling them.",
        "discover": "Show which skills an agent host sees.",
    },
    "What agents get": {
        "load": "Print a skill as an agent receives it, installed or not.",
        "prompt": "Print the skill catalog for a system prompt.",
        "mcp": "Serve skills over the Model Context Protocol.",
        "registry": "Build or check the registry that loaders read.",
        "fit": "Fit the skill list into an agent host's budget.",
    },
    "Author and publish": {
        "new": "Create a new skill.",
        "validate": "Check skills against the Agent Skills specification.",
        "version": "Raise the version of a skill.",
        "pack": "Create an archive of a skill.",
        "push": "Publish skills in an OCI registry.",
        "index": "Build and check an index of skills.",
        "mirror": "Copy locked skills for machines that cannot fetch them.",
    },
    "Maintenance": {
        "backup": "List or restore the backups that --force made.",
        "cache": "Inspect and clean the cache.",
        "config": "View and change your settings.",
        "policy": "Explain the policies in effect, and publish your own.",
        "completion": "Generate a shell completion script.",
        "doctor": "Diagnose problems and repair them.",
    },
}
COMMANDS = {name: summary for section in SECTIONS.values() for name, summary in section.items()}
# Commands that no help lists.
HIDDEN_COMMANDS = {"projects": "List projects, or print the instructions of one."}
ALIASES = {
    "add": "install",
    "remove": "uninstall",
    "rm": "uninstall",
    "ls": "list",
    "info": "show",
    "upgrade": "update",
    "ci": "sync --frozen",
}
# Earlier spellings, which no help lists.
OLD_SPELLINGS = {"why": "tree --why", "match": "search --triggers", "use": "load --fetch"}
CI_HELP = """Install exactly what the lockfile specifies, or fail: the same as `sync --frozen`.

A skill that was edited is kept, everything else is done, and the command fails."""
# Accepted before the command too, as other tools do.
COMMON_FLAGS = {"--json", "-q", "--quiet", "-v", "-vv", "--verbose", "--no-color", "-g", "--global"}
COMMON_FLAGS |= {"--color=auto", "--color=always", "--color=never"}
COMMON_OPTIONS = {"--project", "--color"}  # these take a value
COMPLETION_VARIABLE = "_SKILLPM_COMPLETE"


class LazyGroup(click.Group):
    """The commands of `COMMANDS`, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """Return the command names, in the order of the help."""
        return [*COMMANDS, *HIDDEN_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command; None if there is none with this name."""
        name = ALIASES.get(cmd_name, cmd_name).partition(" ")[0]
        if name not in COMMANDS and name not in HIDDEN_COMMANDS:
            return None
        if COMPLETION_VARIABLE in os.environ:
            from skillpm.cli.shell_completion import add_completions, create_stub  # noqa: PLC0415  (only while a shell completes)

            return create_stub(name) or add_completions(name, load_command(name))
        return load_command(name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete command names from the table, without importing any command."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415

        summaries = {**COMMANDS, **{alias: f"Alias of {name}." for alias, name in ALIASES.items()}}
        items = [CompletionItem(name, help=text) for name, text in summaries.items() if name.startswith(incomplete)]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command to run; raise `UsageError` with a suggestion for an unknown one."""
        args = [*OLD_SPELLINGS[args[0]].split(), *args[1:]] if args[0] in OLD_SPELLINGS else args
        name = args[0]
        if not (_is_command(name) or name.startswith("-") or ctx.resilient_parsing):
            from skillpm.cli.other_tools import command_hint  # noqa: PLC0415  (only after a mistake)
            from skillpm.errors import UsageError  # noqa: PLC0415

            raise UsageError(f"unrecognized command `{name[:60]}`", hint=command_hint(name, [*COMMANDS, *ALIASES]))
        command_name, command, rest = super().resolve_command(ctx, args)
        if command is not None and (asked := {"-h", "--help"} & {*rest}):
            from skillpm.cli.help import prepare_help  # noqa: PLC0415  (only for the help)

            prepare_help(command, f"skillpm {name}", is_short="--help" not in asked)
            if name == "ci":
                command.help = CI_HELP
        return command_name, command, [*ALIASES.get(name, name).split()[1:], *rest]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands without importing any."""
        from skillpm.cli.help import format_overview  # noqa: PLC0415  (only for the help)

        if ctx.obj is None or "--help" in ctx.obj:  # the words of the command line
            click.Command.format_options(self, ctx, formatter)
        format_overview(formatter, SECTIONS, ALIASES, words=ctx.obj)


def _move_leading_options(arguments: list[str]) -> list[str]:
    """Move common options from before the command to its end: `skillpm --json list` is `skillpm list --json`."""
    count = 0
    while count < len(arguments) and arguments[count] in COMMON_FLAGS | COMMON_OPTIONS:
        count += 2 if arguments[count] in COMMON_OPTIONS else 1
    leading, rest = arguments[:count], arguments[count:]
    if leading and not rest:
        from skillpm.errors import UsageError  # noqa: PLC0415  (only after a mistake)

        raise UsageError(f"a command is missing after `{' '.join(leading)}`", hint="run `skillpm --help`")
    if not leading or rest[0].startswith("-"):
        return rest
    end = rest.index("--") if "--" in rest else len(rest)
    return [*rest[:end], *leading, *rest[end:]]


def _change_directory(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Change to the folders of `-C DIR` before the command, as git does; return these options and the other words."""
    options: list[str] = []
    while (at := next((i for i, word in enumerate(arguments) if word not in COMMON_FLAGS), 0)) < len(arguments):
        if arguments[at] != "-C":
            break
        folder = "".join(arguments[at + 1 : at + 2])
        try:
            os.chdir(folder)
        except OSError as error:
            from skillpm.core.text import sanitize  # noqa: PLC0415  (only after a mistake)
            from skillpm.errors import UsageError  # noqa: PLC0415

            problem = f"cannot change to `{sanitize(folder)}`: {error.strerror}" if folder else "-C requires a folder"
            raise UsageError(problem, hint="use `skillpm -C DIR COMMAND` with a folder that exists") from error
        options += ["-C", folder]
        arguments = [*arguments[:at], *arguments[at + 2 :]]
    return options, arguments


def _is_command(name: str) -> bool:
    return name in COMMANDS or name in HIDDEN_COMMANDS or name in ALIASES


def load_command(name: str) -> click.Command:
    """Import and return a command of the table."""
    module = "import_" if name == "import" else name  # a keyword cannot be the name of a module
    command: click.Command = import_module(f"skillpm.cli.commands.{module}").command
    return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("-C", metavar="DIR", expose_value=False, help="Run the command as if started in DIR.")
@click.version_option(__version__, prog_name="skillpm", message="%(prog)s %(version)s")
def cli() -> None:
    """Install, lock and sync agent skills: folders that contain a SKILL.md."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code. The only place that catches all errors."""
    reopen_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Under LC_ALL=C or latin-1, `→` and foreign descriptions cannot be encoded: escape them, don't crash.
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:  # a command in many tools, an option in this one
        words = [*words[1:], "--help"]
    if words == ["version"]:  # starts faster than the command, which prints the same
        words = ["--version"]
    stdout = sys.stdout
    try:
        return _run(words)
    finally:
        for stream in (stdout, sys.stderr):
            if is_unwritable(stream):
                discard_output(stream)


def _run(arguments: list[str]) -> int:
    stdout = sys.stdout
    try:
        folder_options, arguments = _change_directory(arguments)
        arguments = _move_leading_options(arguments)
        typed = [*folder_options, *arguments]
        result = cli.main(args=arguments or ["--help"], prog_name="skillpm", standalone_mode=False, obj=typed)
        stdout.flush()
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        return 130
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and sys.stdout is stdout:
            raise
        # The reader of our pipe is gone (`skillpm list | head`): click replaced stdout and exited with 1. Like other
        # filters we stop without an error, and write nothing more.
        discard_output(stdout)
        return 0
    except Exception as error:  # noqa: BLE001  (nothing above catches)
        from skillpm.cli.color import find_color_choice  # noqa: PLC0415
        from skillpm.cli.error_output import report_error, to_output_error  # noqa: PLC0415

        as_json = "--json" in arguments
        # Of an unbuffered or a long text that could not be written, nothing is left to flush.
        if isinstance(error, OSError) and (is_unwritable(stdout) or error.errno in FULL_ERRNOS):
            error, as_json = to_output_error(error), False
        words = [OLD_SPELLINGS.get(word, word).partition(" ")[0] for word in arguments[:1]]
        command = ["skillpm", *filter(_is_command, words)]
        color = find_color_choice(arguments)
        return report_error(error, as_json=as_json, color=color, command=" ".join(command))
    return result if isinstance(result, int) else 0
