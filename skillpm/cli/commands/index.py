"""`skillpm index build|yank|unyank|prune|check`."""

from collections.abc import Sequence
from shlex import join
from typing import Any

import click

from skillpm.cli.command_group import CommandGroup
from skillpm.cli.option_types import NUMBER
from skillpm.cli.options import Invocation, create_invocation, output_options
from skillpm.core.names import parse_skill_name
from skillpm.core.text import is_encodable, sanitize
from skillpm.core.versions import is_version
from skillpm.errors import UsageError
from skillpm.indexes.publish.index_builder import IndexBuildResult
from skillpm.operations.context.scope_indexes import check_index
from skillpm.operations.publish import build_index, open_index_writer

ARGUMENT_COUNT = 2  # NAME@VERSION and DIR
LOCK_TIMEOUT_OPTION = click.option(
    "--lock-timeout", type=NUMBER, metavar="SECONDS", help="How long to wait for another skillpm."
)


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  skillpm index build skills --out public   publish every skill below skills/
  skillpm index yank pdf@1.2.0 public       offer that version to nobody new
  skillpm index check public                prove what is there""",
)
def command() -> None:
    """Build and check an index: a folder of static files that any web server can serve."""


@command.command(
    "build",
    epilog="""\b
Examples:
  skillpm index build skills --out public              folders with a SKILL.md
  skillpm index build dist/pdf-1.2.0.tar.gz --out public  archives
  skillpm index build acme/skills --out public         all tagged versions
  skillpm index build skills --out public --skip-invalid  all that are valid""",
)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--out", metavar="DIR", required=True, help="The folder of the index.")
@click.option("--name", metavar="NAME", default="", help="What the index calls itself.")
@click.option("--default-version", metavar="VERSION", default="", help="The version of skills that say none.")
@click.option("--skip-invalid", is_flag=True, help="Leave out what is not valid, and publish the rest.")
@click.option("--no-catalog", is_flag=True, help="Write no catalog.html, the page for people.")
@LOCK_TIMEOUT_OPTION
@output_options
def build_command(
    sources: tuple[str, ...],
    out: str,
    name: str,
    default_version: str,
    skip_invalid: bool,  # noqa: FBT001  (a flag)
    no_catalog: bool,  # noqa: FBT001
    **flags: Any,
) -> None:
    """Publish skills beside what the index holds already. Versions that are published never change."""
    call = create_invocation(flags)
    _check_utf8("--name", name)
    with open_index_writer(call.context, out, page=not no_catalog) as shelf:
        built = build_index(call.context, sources, shelf, name=name, version=default_version, skip_invalid=skip_invalid)
    _print_result(call, built, out)


@command.command("yank", epilog="\b\nExample:\n  skillpm index yank pdf@1.2.0 public --reason 'deletes files'")
@click.argument("what", metavar="NAME@VERSION")
@click.argument("folder", metavar="DIR")
@click.argument("rest", nargs=-1, metavar="")
@click.option("--reason", metavar="TEXT", default="", help="Why, for those who have it.")
@LOCK_TIMEOUT_OPTION
@output_options
def yank_command(what: str, folder: str, rest: tuple[str, ...], reason: str, **flags: Any) -> None:
    """Offer a version to nobody new. Whoever has it locked still gets it."""
    call = create_invocation(flags)
    name, version = _parse_name_and_version("yank", what, folder, rest)
    _check_utf8("--reason", reason)
    with open_index_writer(call.context, folder, must_exist=True) as shelf:
        built = shelf.yank(parse_skill_name(name), version, reason=reason)
        now, why = shelf.latest_version(parse_skill_name(name)), shelf.yank_reason(parse_skill_name(name), version)
    if built.written and not call.console.as_json:
        call.console.print_line(f"yanked {name} {version}: nobody new gets it, whoever has it locked still does")
        call.console.print_line(f"{name} is offered as {now} now" if now else f"no version of {name} is offered now")
    elif not call.console.as_json:
        call.console.print_line(f"{name} {version} is yanked already{f': {sanitize(why)}' if why else ''}")
    _print_result(call, built, folder)


@command.command("unyank", epilog="\b\nExample:\n  skillpm index unyank pdf@1.2.0 public")
@click.argument("what", metavar="NAME@VERSION")
@click.argument("folder", metavar="DIR")
@click.argument("rest", nargs=-1, metavar="")
@LOCK_TIMEOUT_OPTION
@output_options
def unyank_command(what: str, folder: str, rest: tuple[str, ...], **flags: Any) -> None:
    """Offer a yanked version again."""
    call = create_invocation(flags)
    name, version = _parse_name_and_version("unyank", what, folder, rest)
    with open_index_writer(call.context, folder, must_exist=True) as shelf:
        built = shelf.yank(parse_skill_name(name), version, undo=True)
    if not call.console.as_json:
        call.console.print_line(
            f"{name} {version} is offered again" if built.written else f"{name} {version} is not yanked"
        )
    _print_result(call, built, folder)


@command.command(
    "prune", epilog="\b\nExamples:\n  skillpm index prune public --dry-run\n  skillpm index prune public --yanked"
)
@click.argument("folder", metavar="DIR")
@click.option("--yanked", "drop_yanked", is_flag=True, help="Remove yanked versions too; locks on them break.")
@click.option("--dry-run", "dry_run", is_flag=True, help="Only say what would be removed.")
@LOCK_TIMEOUT_OPTION
@output_options
def prune_command(folder: str, drop_yanked: bool, dry_run: bool, **flags: Any) -> None:  # noqa: FBT001  (flags)
    """Remove archives that no version names."""
    call = create_invocation(flags)
    with open_index_writer(call.context, folder, must_exist=True) as shelf:
        built = shelf.prune(drop_yanked=drop_yanked, dry_run=dry_run)
    _print_result(call, built, folder, dry_run=dry_run)


@command.command(
    "check",
    epilog="""\b
Examples:
  skillpm index check public
  skillpm index check https://skills.acme.example/ --json""",
)
@click.argument("where", metavar="URL-or-DIR")
@click.option("--allow-insecure-host", "insecure", multiple=True, metavar="HOST", help="Allow plain http to HOST.")
@output_options
def check_command(where: str, **flags: Any) -> int:
    """Prove an index: every document, every archive, every sum. Exit 1 if something is wrong."""
    call = create_invocation(flags)
    problems = check_index(call.context, where)
    if call.console.as_json:
        found = [{"where": problem.where, "message": problem.message} for problem in problems]
        call.console.print_json({"ok": not problems, "problems": found})
        return 1 if problems else 0
    for problem in problems:
        call.console.print_line(f"{sanitize(problem.where, 200)}: {sanitize(problem.message, 300)}")
    call.console.print_message(f"{_format_count(len(problems), 'problem')}" if problems else "the index is sound")
    return 1 if problems else 0


def _parse_name_and_version(subcommand: str, spec: str, folder: str, extra: Sequence[str]) -> tuple[str, str]:
    """Give name and version. What was typed in another order is told with the line that is meant."""
    if not extra and (named := _split_version(spec)):
        return named
    words = [spec, folder, *extra]
    meant = [[word, *words[:at], *words[at + 1 :]] for at, word in enumerate(words) if _split_version(word)]
    meant += [[f"{spec}@{folder}", *extra], [f"{folder}@{extra[0]}", spec, *extra[1:]]] if extra else []
    fits = next((line for line in meant if len(line) == ARGUMENT_COUNT and _split_version(line[0])), None)
    hint = (
        f"did you mean `{join(['skillpm', 'index', subcommand, *fits])}`?"
        if fits
        else "write NAME@VERSION, e.g. pdf@1.2.0"
    )
    if extra and _split_version(spec):
        raise UsageError(
            f"`{sanitize(' '.join(extra), 60)}` is one word too many", hint=f"skillpm index {subcommand} --help"
        )
    raise UsageError(f"`{sanitize(spec, 60)}` names no version", hint=hint)


def _split_version(spec: str) -> tuple[str, str] | None:
    name, _, version = spec.rpartition("@")
    return (name, version) if name and is_version(version) else None


def _check_utf8(option: str, text: str) -> None:
    if not is_encodable(text):
        raise UsageError(f"{option} is no UTF-8: `{sanitize(text, 60)}`", hint="an index holds nothing else")


def _print_result(invocation: Invocation, result: IndexBuildResult, folder: str, *, dry_run: bool = False) -> None:
    if invocation.console.as_json:
        value = {
            "changed": bool(result.written or result.removed) and not dry_run,
            "skills": result.skill_count,
            "versions": result.version_count,
            "files": len(result.written),
            "added": list(result.added),
            "removed": list(result.removed),
            "leftOut": [{"name": item.name, "where": item.where, "why": item.reason} for item in result.left_out],
        }
        invocation.console.print_json({**value, "dryRun": True} if dry_run else value)
        return
    for line in result.added:
        invocation.console.print_line(f"+ {line}")
    for path in result.removed:
        invocation.console.print_line(f"- {path}")
    if dry_run:
        gone = _format_count(len(result.removed), "file")
        invocation.console.print_line(f"would remove {gone if result.removed else 'nothing'}")
        return
    state = f"{_format_count(len(result.written), 'file')} written" if result.written else "nothing to write"
    left = f"; {len(result.left_out)} left out" if result.left_out else ""
    invocation.console.print_message(
        f"{folder}: {_format_count(result.skill_count, 'skill')}, {_format_count(result.version_count, 'version')}; {state}{left}"
    )


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
