"""`skillpm cache dir|info|prune|clean`."""

import sys
from contextlib import suppress

import click
from rich.filesize import decimal

from skillpm.cli.command_group import CommandGroup
from skillpm.cli.options import NUMBER, Invocation, dry_run_option, hide_options, scope_options
from skillpm.errors import ConflictError, DocumentError, UsageError
from skillpm.operations.cache.contents import Bucket, CacheEntry, cache_root, find_locked_paths, inspect_cache
from skillpm.operations.cache.prune import PruneResult, clean, prune
from skillpm.scope.scope import Scope, user_scope

BUCKETS: tuple[tuple[Bucket, str], ...] = (
    ("store", "skills, by content digest"),
    ("git", "repositories"),
    ("http", "responses of indexes"),
    ("search", "catalogs of indexes"),
    ("unpacked", "skills that were used without installing them"),
)
DEFAULT_UNUSED_DAYS = 30.0


@click.group(
    cls=CommandGroup,
    default="info",
    epilog="""\b
Examples:
  skillpm cache                 same as cache info
  skillpm cache info            show contents and sizes
  skillpm cache prune           remove entries unused for 30 days
  du -sh "$(skillpm cache dir)"
  skillpm cache clean --yes     remove everything""",
)
def command() -> None:
    """Inspect and clean the cache. Everything in it can be fetched again."""


@hide_options("user", "project")
@command.command("dir", epilog="\b\nExample:\n  skillpm cache dir")
@scope_options
def dir_command(call: Invocation) -> None:
    """Print the path of the cache, whether or not it exists."""
    root = cache_root(call.session.settings)
    if call.console.as_json:
        call.console.print_json({"directory": root})
    else:
        call.console.print_line(root)


@command.command("info", epilog="\b\nExamples:\n  skillpm cache info\n  skillpm cache info --json")
@scope_options
def info_command(call: Invocation) -> None:
    """Show the contents of the cache, and how much of it this scope and the user scope need."""
    settings = call.session.settings
    contents, needed = inspect_cache(settings), find_locked_paths(settings, _find_scopes(call))
    rows = {bucket: _bucket_to_json(contents.in_bucket(bucket), needed) for bucket, _ in BUCKETS}
    if call.console.as_json:
        leftovers = {"entries": len(contents.leftovers), "bytes": _total_bytes(contents.leftovers)}
        others = {"older": list(contents.older_formats), "newer": list(contents.newer_formats)}
        call.console.print_json({"directory": contents.root, **rows, "leftovers": leftovers, **others})
        return
    call.console.print_line(contents.root)
    for bucket, description in BUCKETS:
        row = rows[bucket]
        has_used = bucket in {"store", "git"} and row["entries"]
        used = f"  {row['used']} of them needed by the lockfiles here" if has_used else ""
        call.console.print_line(
            f"  {bucket:8}  {row['entries']:6}  {decimal(row['bytes']):>9}  {description}{used}".rstrip()
        )
    if contents.leftovers:
        call.console.print_line(f"  left behind by killed commands: {len(contents.leftovers)}")
    for path in contents.older_formats:
        call.console.print_line(f"  from an older skillpm: {path}")
    for path in contents.newer_formats:
        call.console.print_line(f"  from a newer skillpm: {path}")


@command.command("prune", epilog="\b\nExamples:\n  skillpm cache prune --dry-run\n  skillpm cache prune --unused-for 7")
@click.option(
    "--unused-for",
    type=NUMBER,
    default=DEFAULT_UNUSED_DAYS,
    metavar="DAYS",
    help="Remove entries not used for DAYS days [default: 30].",
)
@dry_run_option
@scope_options
def prune_command(call: Invocation) -> None:
    """Remove entries that are unused and that no lockfile here needs.

    Also removes leftovers of killed commands and caches of older versions of skillpm. Safe while other commands run.
    """
    removed = prune(
        call.session.settings, _find_scopes(call), unused_for=call.flags["unused_for"], dry_run=call.flags["dry_run"]
    )
    _print_result(call, removed)


@hide_options("user", "project")
@command.command("clean", epilog="\b\nExamples:\n  skillpm cache clean --yes\n  skillpm cache clean --dry-run")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@dry_run_option
@scope_options
def clean_command(call: Invocation) -> int:
    """Remove everything. Asks for confirmation in a terminal; elsewhere --yes is required."""
    if not (call.flags["yes"] or call.flags["dry_run"]):
        _confirm(call)
    removed = clean(call.session.settings, dry_run=call.flags["dry_run"])
    _print_result(call, removed)
    return 1 if removed.busy else 0


def _find_scopes(invocation: Invocation) -> list[Scope]:
    """Return the scopes whose lockfiles protect entries: the selected one and the user's, if they can be found."""
    settings = invocation.session.settings
    if invocation.flags["user"]:
        return [invocation.scope]
    scopes = []
    with suppress(DocumentError, ConflictError):  # a broken project must not prevent cleaning the cache
        scopes.append(invocation.scope)
    with suppress(ConflictError):
        scopes.append(user_scope(settings))
    return scopes


def _bucket_to_json(entries: list[CacheEntry], needed: set[str]) -> dict[str, int]:
    return {
        "entries": len(entries),
        "bytes": _total_bytes(entries),
        "used": sum(entry.path in needed for entry in entries),
    }


def _total_bytes(entries: list[CacheEntry]) -> int:
    return sum(entry.size for entry in entries)


def _confirm(invocation: Invocation) -> None:
    root = cache_root(invocation.session.settings)
    if not invocation.can_ask(sys.stderr):
        raise UsageError(f"refusing to empty {root} without confirmation", hint="pass --yes")
    if not click.confirm(f"Empty {root}? Everything in it can be fetched again.", err=True):
        raise click.Abort


def _print_result(invocation: Invocation, result: PruneResult) -> None:
    dry_run = invocation.flags["dry_run"]
    if invocation.console.as_json:
        value = {
            "changed": bool(result.size or result.paths) and not dry_run,
            "removed": list(result.paths),
            "bytes": result.size,
            "busy": list(result.busy),
        }
        invocation.console.print_json({**value, "dryRun": True} if dry_run else value)
        return
    for path in result.paths:
        if dry_run or invocation.console.verbose:
            invocation.console.print_line(f" - {path}")
    for path in result.busy:
        invocation.console.warn(f"{path} is in use; skipped")
    skipped = f"; skipped {len(result.busy)} in use" if result.busy else ""
    if not result.paths:
        invocation.console.print_message(f"nothing to remove{skipped}")
    elif not invocation.console.quiet:
        invocation.console.print_line(f"{'would free' if dry_run else 'freed'} {decimal(result.size)}{skipped}")
