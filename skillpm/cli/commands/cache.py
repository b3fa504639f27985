"""`skillpm cache dir|info|prune|clean`."""

import sys
from contextlib import suppress
from typing import Any

import click

from skillpm.cli.command_group import Family
from skillpm.cli.option_types import AMOUNT
from skillpm.cli.options import Call, call_of, reading
from skillpm.errors import ConflictError, DocumentError, UsageError
from skillpm.operations.cache.clean import clean
from skillpm.operations.cache.contents import Bucket, Thing, look_into, needed_by, root_of
from skillpm.operations.cache.prune import Removed, prune
from skillpm.operations.context.scope import Scope, user_scope

BUCKETS: tuple[tuple[Bucket, str], ...] = (
    ("store", "skills, by their content"),
    ("git", "repositories"),
    ("http", "answers of indexes"),
    ("search", "catalogues of indexes"),
)
UNUSED_FOR = 30.0


@click.group(
    cls=Family,
    default="info",
    epilog="""\b
Examples:
  skillpm cache                 the same as cache info
  skillpm cache info            what is in it, and how much
  skillpm cache prune           take out what was not used for 30 days
  du -sh "$(skillpm cache dir)"
  skillpm cache clean --yes     take out everything""",
)
def command() -> None:
    """Look at the cache, or make it smaller. All of it is fetched again when it is needed."""


@command.command("dir", epilog="\b\nExample:\n  skillpm cache dir")
@reading
def dir_command(**flags: Any) -> None:
    """Print the folder of the cache, whether it is there or not."""
    call = call_of(flags)
    root = root_of(call.tools.settings)
    if call.console.as_json:
        call.console.data({"directory": root})
    else:
        call.console.line(root)


@command.command("info", epilog="\b\nExamples:\n  skillpm cache info\n  skillpm cache info --json")
@reading
def info_command(**flags: Any) -> None:
    """Say what is in the cache, and what of it this scope and your own use. Changes nothing."""
    call = call_of(flags)
    settings = call.tools.settings
    contents, needed = look_into(settings), needed_by(settings, _scopes(call))
    rows = {bucket: _row(contents.of(bucket), needed) for bucket, _ in BUCKETS}
    if call.console.as_json:
        leftovers = {"entries": len(contents.leftovers), "bytes": _bytes(contents.leftovers)}
        others = {"older": list(contents.older), "newer": list(contents.newer)}
        call.console.data({"directory": contents.root, **rows, "leftovers": leftovers, **others})
        return
    call.console.line(contents.root)
    for bucket, about in BUCKETS:
        row = rows[bucket]
        used = (
            f"  {row['used']} of them named by the lockfiles here"
            if bucket in {"store", "git"} and row["entries"]
            else ""
        )
        call.console.line(f"  {bucket:6}  {row['entries']:6}  {size(row['bytes']):>9}  {about}{used}".rstrip())
    if contents.leftovers:
        call.console.line(f"  left over by commands that were killed: {len(contents.leftovers)}")
    for path in contents.older:
        call.console.line(f"  of an older skillpm: {path}")
    for path in contents.newer:
        call.console.line(f"  of a newer skillpm: {path}")


@command.command("prune", epilog="\b\nExamples:\n  skillpm cache prune --dry-run\n  skillpm cache prune --unused-for 7")
@click.option(
    "--unused-for",
    type=AMOUNT,
    default=UNUSED_FOR,
    metavar="DAYS",
    help="What was not used for so many days goes (30).",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@reading
def prune_command(**flags: Any) -> None:
    """Take out what nothing needs: unused, and named by no lockfile here.

    What commands left that were killed goes too, and what older versions of skillpm kept. Other commands may run.
    """
    call = call_of(flags)
    removed = prune(call.tools.settings, _scopes(call), unused_for=flags["unused_for"], dry_run=flags["dry_run"])
    _tell(call, removed)


@command.command("clean", epilog="\b\nExamples:\n  skillpm cache clean --yes\n  skillpm cache clean --dry-run")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@reading
def clean_command(**flags: Any) -> int:
    """Take everything out. Asks in a terminal; elsewhere it needs --yes."""
    call = call_of(flags)
    if not (flags["yes"] or flags["dry_run"]):
        _ask(call)
    removed = clean(call.tools.settings, dry_run=flags["dry_run"])
    _tell(call, removed)
    return 1 if removed.busy else 0


def size(count: int) -> str:
    """Write a number of bytes as people read it."""
    if count < 1000:  # noqa: PLR2004
        return f"{count} B"
    for power, unit in enumerate(("kB", "MB", "GB", "TB"), 1):
        if count < 1000 ** (power + 1) or unit == "TB":
            break
    return f"{count / 1000**power:.1f} {unit}"


def _scopes(call: Call) -> list[Scope]:
    """Give the scopes whose lockfiles count: this one and the user's, as far as they can be found."""
    settings = call.tools.settings
    if call.flags["user"]:
        return [call.scope]
    scopes = []
    with suppress(DocumentError, ConflictError):  # whatever is wrong there is no reason to keep a full cache
        scopes.append(call.scope)
    with suppress(ConflictError):
        scopes.append(user_scope(settings))
    return scopes


def _row(things: list[Thing], needed: set[str]) -> dict[str, int]:
    return {
        "entries": len(things),
        "bytes": _bytes(things),
        "used": sum(thing.path in needed for thing in things),
    }


def _bytes(things: list[Thing]) -> int:
    return sum(thing.bytes for thing in things)


def _ask(call: Call) -> None:
    root = root_of(call.tools.settings)
    if call.console.as_json or not sys.stdin.isatty():
        raise UsageError(f"nobody can be asked whether {root} is to be emptied", hint="say so with --yes")
    if not click.confirm(f"Empty {root}? It is all fetched again when it is needed.", err=True):
        raise click.Abort


def _tell(call: Call, removed: Removed) -> None:
    dry_run = call.flags["dry_run"]
    if call.console.as_json:
        value = {
            "changed": bool(removed.bytes or removed.paths) and not dry_run,
            "removed": list(removed.paths),
            "bytes": removed.bytes,
            "busy": list(removed.busy),
        }
        call.console.data({**value, "dryRun": True} if dry_run else value)
        return
    for path in removed.paths:
        if dry_run or call.console.verbose:
            call.console.line(f" - {path}")
    for path in removed.busy:
        call.console.warning(f"{path} is in use; it is left")
    left = f"; left {len(removed.busy)} in use" if removed.busy else ""
    if not removed.paths:
        call.console.say(f"nothing to remove{left}")
    elif not call.console.quiet:
        call.console.line(f"{'would free' if dry_run else 'freed'} {size(removed.bytes)}{left}")
