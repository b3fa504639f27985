"""Commands with subcommands, which run a default or print their help without one; groups of options in every help."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import UsageError

MAX_HELP_LENGTH = 400  # longer than any first sentence, which click would else cut at 45 characters

# The names of parameters, by the title of their group; options of no group are the command's own.
GROUPS = {
    "Source options": ("bundled", "link", "path", "files", "index", "branch", "tag", "rev", "version", "exclude_newer"),
    "Lockfile options": ("locked", "frozen"),
    "Options for edited and conflicting files": ("keep", "merge", "conflicts", "force"),
    "Viewer options": ("profile", "agent", "host"),
    "Scope options": ("user", "project"),
    "Network options": ("offline", "insecure"),
    "Global options": ("as_json", "quiet", "verbose", "color", "no_color", "lock_timeout", "help"),
}
# A group with fewer options of a command is not worth a title; its options are listed as the command's own.
MIN_GROUP_SIZE = 2


class CommandGroup(click.Group):
    """A group that runs its `default` subcommand if none is given, or prints its help if it has no default."""

    def __init__(self, *arguments: Any, default: str = "", **settings: Any) -> None:
        super().__init__(*arguments, **{"no_args_is_help": False, **settings})
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default subcommand if there are only options."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if all(word.startswith("-") for word in args) and not {"-h", "--help"} & {*args}:
            if not self.default and args:
                problem = f"a command is missing after `{ctx.command_path} {sanitize(' '.join(args), 60)}`"
                raise UsageError(problem, hint=f"available commands: {', '.join(sorted(self.commands))}")
            if not self.default:
                click.echo(ctx.get_help())
                ctx.exit()
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the subcommands, each with its whole first sentence."""
        with formatter.section("Commands"):
            rows = [
                (name, command.get_short_help_str(MAX_HELP_LENGTH)) for name, command in sorted(self.commands.items())
            ]
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand to run; raise `UsageError` with a suggestion for an unknown one."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            name = f"{ctx.command_path.removeprefix('skillpm ')} {args[0][:60]}"
            commands = f"available commands: {', '.join(sorted(self.commands))}"
            raise UsageError(f"unrecognized command `{name}`", hint=suggestion_hint(args[0], self.commands, commands))
        return super().resolve_command(ctx, args)


def group_options(command: click.Command) -> None:
    """Let the help of a command, and of its subcommands, show options in groups."""
    for each in getattr(command, "commands", {}).values():
        group_options(each)
    if not isinstance(command, click.Group):
        vars(command)["format_options"] = partial(_format_options, command)


def _format_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    for title, rows in _collect_groups(command, ctx):
        with formatter.section(title):
            formatter.write_dl(rows)


def _collect_groups(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the groups that have options, each with the name and help of these options."""
    options = [each for each in command.get_params(ctx) if isinstance(each, click.Option)]
    # `--help` itself, the last one, has a name that click may change.
    names = [*(each.name for each in options[:-1]), "help"]
    found = zip(names, (each.get_help_record(ctx) for each in options), strict=True)
    records = {name: record for name, record in found if record is not None}
    groups = {title: [name for name in names if name in records] for title, names in GROUPS.items()}
    shared = {title: names for title, names in groups.items() if len(names) >= MIN_GROUP_SIZE}
    grouped = {name for names in shared.values() for name in names}
    if own := [record for name, record in records.items() if name not in grouped]:
        yield "Options", own
    for title, names in shared.items():
        yield title, [records[name] for name in names]
