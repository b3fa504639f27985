"""The front door: the table of commands, and the one place where errors end.

The table holds each command's one-line help, in sections, so that `--help` loads no command, and a command only itself.
"""

import gc
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from skillpm import __version__
from skillpm.cli.streams import discard_output, is_unwritable, reopen_closed_streams

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SECTIONS = {
    "Skills": {
        "init": "Start a project: write skills.json.",
        "install": "Add skills and install them.",
        "uninstall": "Remove skills.",
        "sync": "Make the skills directory be what the lockfile says.",
        "lock": "Resolve only: write skills.lock.",
        "update": "Take the newest versions the manifest allows.",
        "migrate": "Make skills of flat .md files.",
        "import": "Take over from another tool.",
    },
    "What is there": {
        "list": "List installed skills.",
        "show": "Show one skill: metadata, source, files.",
        "search": "Find skills by words.",
        "outdated": "Show what could be newer.",
        "tree": "Show which skill needs which.",
        "why": "Show why a skill is there.",
        "diff": "Show your edits, or what an update would bring.",
        "verify": "Check every installed byte against the lockfile.",
    },
    "Agent hosts": {
        "agents": "List agent hosts and where they read skills.",
        "link": "Show installed skills to agent hosts.",
        "unlink": "Take the links for agent hosts away.",
        "enable": "Switch skills on again.",
        "disable": "Switch skills off without uninstalling them.",
        "discover": "Show what a host sees here, and what hides what.",
    },
    "What an agent gets": {
        "load": "Give a skill as an agent gets it.",
        "prompt": "Give the catalogue of skills for a system prompt.",
        "match": "Tell which skills a message calls for.",
        "projects": "List projects, or give the instructions of one.",
        "mcp": "Serve skills over the Model Context Protocol.",
    },
    "For authors and publishers": {
        "new": "Start a skill of your own.",
        "validate": "Check skills against the Agent Skills specification.",
        "pack": "Pack a skill as an archive.",
        "index": "Build and check an index for any web server.",
    },
    "Care": {
        "backup": "List or restore what --force set aside.",
        "doctor": "Find what is wrong, and repair it.",
        "registry": "Build or check the registry that loaders read.",
        "cache": "Look at the cache, or make it smaller.",
        "config": "Show and change your settings.",
        "completion": "Complete words in bash, zsh and fish.",
    },
}
COMMANDS = {name: said for section in SECTIONS.values() for name, said in section.items()}
ALIASES = {
    "add": "install",
    "remove": "uninstall",
    "rm": "uninstall",
    "ls": "list",
    "info": "show",
    "upgrade": "update",
    "ci": "sync",
}
# What other tools call it, or people do: too far from the right word to be found by its letters.
SUGGESTIONS = {
    "i": "install",
    "get": "install",
    "un": "uninstall",
    "delete": "uninstall",
    "restore": "sync",
    "fetch": "sync",
    "reinstall": "sync --force",
    "pull": "update",
    "undo": "backup restore",
    "status": "verify",
    "audit": "verify",
    "check": "outdated",
    "freeze": "lock",
    "graph": "tree",
    "find": "search",
    "use": "load",
    "cat": "load",
    "view": "show",
    "describe": "show",
    "inspect": "show",
    "where": "show",
    "which": "show",
    "create": "new",
    "lint": "validate",
    "format": "validate --fix",
    "fmt": "validate --fix",
    "build": "index build",
    "publish": "index build",
    "unpublish": "index yank",
    "yank": "index yank",
    "import-lock": "import",
    "convert": "migrate",
    "serve": "mcp",
    "clean": "cache clean",
    "purge": "cache clean",
}
# What people type before the command, since other tools take it there.
COMMON_FLAGS = {"--json", "-q", "--quiet", "-v", "-vv", "--verbose", "--no-color", "-g", "--global"}
COMPLETION_VARIABLE = "_SKILLPM_COMPLETE"
EXAMPLES = """\b
Examples:
  skillpm install code-review                 a skill that ships with the tool
  skillpm install anthropics/skills@pdf       one skill of a GitHub repository
  skillpm sync --frozen                       exactly what skills.lock says
  skillpm link claude-code                    show the skills to an agent

`skillpm COMMAND --help` says more about each, with examples."""


class LazyGroup(click.Group):
    """The commands of the table, each loaded when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """Give the names in the table's order: the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command."""
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        if COMPLETION_VARIABLE in os.environ:
            from skillpm.cli.shell_completion import add_completions, create_stub  # noqa: PLC0415  (only for a shell that asks)

            return create_stub(name) or add_completions(name, _load_command(name))
        return _load_command(name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Offer commands by the table, without loading any."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415

        names = {**COMMANDS, **{alias: f"The same as {name}." for alias, name in ALIASES.items()}}
        found = [CompletionItem(name, help=said) for name, said in names.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a mistyped one is told with the nearest ones."""
        known = ctx.resilient_parsing or args[0] in {*COMMANDS, *ALIASES}
        if not known and not args[0].startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415  (only after a mistake)

            word = args[0]
            near = get_close_matches(word, [*COMMANDS, *ALIASES], n=2)
            if SUGGESTIONS.get(word, "").partition(" ")[0] in COMMANDS:
                near = [SUGGESTIONS[word]]
            more = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"there is no command `{word[:60]}`.{more}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without loading any."""
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(_format_names(name), said) for name, said in section.items()])


def _move_leading_options(arguments: list[str]) -> list[str]:
    """Put options that every command has behind it, where somebody typed them before it (`skillpm --json list`)."""
    number = 0
    while number < len(arguments) and (arguments[number] in COMMON_FLAGS or arguments[number] == "--project"):
        number += 2 if arguments[number] == "--project" else 1
    ahead, rest = arguments[:number], arguments[number:]
    if not ahead or not rest or rest[0].startswith("-"):
        return arguments
    end = rest.index("--") if "--" in rest else len(rest)
    return [*rest[:end], *ahead, *rest[end:]]


def _format_names(name: str) -> str:
    """Give all names of a command, in a column as wide in each section."""
    return f"{', '.join([name, *(alias for alias, meant in ALIASES.items() if meant == name)]):21}"


def _load_command(name: str) -> click.Command:
    command: click.Command = import_module(f"skillpm.cli.commands.{name}").command
    return command


@click.group(
    cls=LazyGroup,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="skillpm", message="%(prog)s %(version)s")
def cli() -> None:
    """Install, lock and sync agent skills: folders with a SKILL.md."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; give the exit code. The one place that catches."""
    # A command lives for a moment: looking for cycles among its values only costs time (30 ms at 10,000 skills).
    gc.disable()
    reopen_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal of few letters is no reason to fail
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] in (["help"], ["version"]):  # words of many tools, which are options here
        words = ["--version"] if words[0] == "version" else [*words[1:], "--help"]
    words = _move_leading_options(words)
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
        result = cli.main(args=arguments or ["--help"], prog_name="skillpm", standalone_mode=False, obj=arguments)
        stdout.flush()
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        return 130
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and sys.stdout is stdout:
            raise
        # Whoever read us has gone: click then puts another stdout in place and leaves. Nothing may be written any more.
        discard_output(stdout)
        return 0
    except Exception as error:  # noqa: BLE001  (this is the edge)
        from skillpm.cli.error_output import report_error, to_output_error  # noqa: PLC0415

        as_json = "--json" in arguments
        if isinstance(error, OSError) and is_unwritable(stdout):
            error, as_json = to_output_error(error), False
        command = ["skillpm", *(word for word in arguments[:1] if word in {*COMMANDS, *ALIASES})]
        colour = "--no-color" not in arguments
        return report_error(error, as_json=as_json, color=colour, command=" ".join(command), arguments=arguments)
    return result if isinstance(result, int) else 0
