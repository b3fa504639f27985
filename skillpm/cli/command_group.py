"""Commands with subcommands, which run a default or print their help without one."""

from typing import Any

import click

from skillpm.core.suggestions import suggestion_hint
from skillpm.core.text import sanitize
from skillpm.errors import UsageError

MAX_HELP_LENGTH = 400  # longer than any first sentence, which click would else cut at 45 characters


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
