"""A command with commands of its own (`backup list`): called alone it does not scold, it shows what there is."""

from typing import Any

import click

from skillpm.core.suggestions import closest_matches

MAX_HELP_LENGTH = 400  # characters: more than any of our sentences has


class CommandGroup(click.Group):
    """A group that, called without a command, runs its `default`, or else shows its help; both end with 0."""

    def __init__(self, *arguments: Any, default: str = "", **settings: Any) -> None:
        super().__init__(*arguments, **{"no_args_is_help": False, **settings})
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read a call without a command as one of the default, whatever options it has."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if all(word.startswith("-") for word in args) and not {"-h", "--help"} & {*args}:
            if not self.default:
                click.echo(ctx.get_help())
                ctx.exit()
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands, each with its whole first sentence."""
        with formatter.section("Commands"):
            rows = [
                (name, command.get_short_help_str(MAX_HELP_LENGTH)) for name, command in sorted(self.commands.items())
            ]
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a mistyped one is told with the nearest ones."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            found = closest_matches(args[0], self.commands)
            more = f"Did you mean {' or '.join(found)}?" if found else f"There are {', '.join(sorted(self.commands))}."
            ctx.fail(f"there is no command `{ctx.command_path.removeprefix('skillpm ')} {args[0][:60]}`. {more}")
        return super().resolve_command(ctx, args)
