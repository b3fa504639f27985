"""Ask before a whole repository is installed as one skill."""

import sys
from collections.abc import Callable

import click

from skillpm.cli.options import Invocation
from skillpm.core.text import sanitize
from skillpm.operations.pipeline.change import ChangeOptions, ChangeResult

yes_option = click.option(
    "-y", "--yes", is_flag=True, help="Install a repository of more than 200 files without asking."
)


def run_confirmed(
    call: Invocation, options: ChangeOptions, run: Callable[[ChangeOptions], ChangeResult]
) -> ChangeResult:
    """Run a change. In a terminal, ask if it would install a whole repository; elsewhere `--yes` is required."""
    from skillpm.operations.pipeline.whole_repositories import WholeRepository  # noqa: PLC0415  (imports the store)

    try:
        return run(options)
    except WholeRepository as error:
        if call.console.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise
        if not click.confirm(f"{sanitize(error.message, 300)}. Install all of them?", err=True):
            raise
        return run(options.replace(allows_whole_repositories=True))
