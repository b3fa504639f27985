"""`skillpm index build|yank|unyank|prune|check`."""

from collections.abc import Sequence
from shlex import join
from typing import Any

import click

from skillpm.cli.command_group import Family
from skillpm.cli.option_types import AMOUNT
from skillpm.cli.options import Call, call_of, telling
from skillpm.core.names import skill_name
from skillpm.core.text import is_text, show
from skillpm.core.versions import is_version
from skillpm.errors import UsageError
from skillpm.indexes.publish.index_builder import Built
from skillpm.operations.context.scope_indexes import check_index
from skillpm.operations.publish import build_index, shelf_at

LINE = 2  # NAME@VERSION and DIR
WAIT = click.option("--lock-timeout", type=AMOUNT, metavar="SECONDS", help="How long to wait for another skillpm.")


@click.group(
    cls=Family,
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
@WAIT
@telling
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
    call = call_of(flags)
    _need_text("--name", name)
    with shelf_at(call.tools, out, page=not no_catalog) as shelf:
        built = build_index(call.tools, sources, shelf, name=name, version=default_version, skip_invalid=skip_invalid)
    _tell(call, built, out)


@command.command("yank", epilog="\b\nExample:\n  skillpm index yank pdf@1.2.0 public --reason 'deletes files'")
@click.argument("what", metavar="NAME@VERSION")
@click.argument("folder", metavar="DIR")
@click.argument("rest", nargs=-1, metavar="")
@click.option("--reason", metavar="TEXT", default="", help="Why, for those who have it.")
@WAIT
@telling
def yank_command(what: str, folder: str, rest: tuple[str, ...], reason: str, **flags: Any) -> None:
    """Offer a version to nobody new. Whoever has it locked still gets it."""
    call = call_of(flags)
    name, version = _named("yank", what, folder, rest)
    _need_text("--reason", reason)
    with shelf_at(call.tools, folder, must_exist=True) as shelf:
        built = shelf.yank(skill_name(name), version, reason=reason)
        now, why = shelf.offered(skill_name(name)), shelf.reason(skill_name(name), version)
    if built.written and not call.console.as_json:
        call.console.line(f"yanked {name} {version}: nobody new gets it, whoever has it locked still does")
        call.console.line(f"{name} is offered as {now} now" if now else f"no version of {name} is offered now")
    elif not call.console.as_json:
        call.console.line(f"{name} {version} is yanked already{f': {show(why)}' if why else ''}")
    _tell(call, built, folder)


@command.command("unyank", epilog="\b\nExample:\n  skillpm index unyank pdf@1.2.0 public")
@click.argument("what", metavar="NAME@VERSION")
@click.argument("folder", metavar="DIR")
@click.argument("rest", nargs=-1, metavar="")
@WAIT
@telling
def unyank_command(what: str, folder: str, rest: tuple[str, ...], **flags: Any) -> None:
    """Offer a yanked version again."""
    call = call_of(flags)
    name, version = _named("unyank", what, folder, rest)
    with shelf_at(call.tools, folder, must_exist=True) as shelf:
        built = shelf.yank(skill_name(name), version, back=True)
    if not call.console.as_json:
        call.console.line(f"{name} {version} is offered again" if built.written else f"{name} {version} is not yanked")
    _tell(call, built, folder)


@command.command(
    "prune", epilog="\b\nExamples:\n  skillpm index prune public --dry-run\n  skillpm index prune public --yanked"
)
@click.argument("folder", metavar="DIR")
@click.option("--yanked", "drop_yanked", is_flag=True, help="Remove yanked versions too; locks on them break.")
@click.option("--dry-run", "dry_run", is_flag=True, help="Only say what would be removed.")
@WAIT
@telling
def prune_command(folder: str, drop_yanked: bool, dry_run: bool, **flags: Any) -> None:  # noqa: FBT001  (flags)
    """Remove archives that no version names."""
    call = call_of(flags)
    with shelf_at(call.tools, folder, must_exist=True) as shelf:
        built = shelf.prune(drop_yanked=drop_yanked, dry_run=dry_run)
    _tell(call, built, folder, dry_run=dry_run)


@command.command(
    "check",
    epilog="""\b
Examples:
  skillpm index check public
  skillpm index check https://skills.acme.example/ --json""",
)
@click.argument("where", metavar="URL-or-DIR")
@click.option("--allow-insecure-host", "insecure", multiple=True, metavar="HOST", help="Allow plain http to HOST.")
@telling
def check_command(where: str, **flags: Any) -> int:
    """Prove an index: every document, every archive, every sum. Exit 1 if something is wrong."""
    call = call_of(flags)
    problems = check_index(call.tools, where)
    if call.console.as_json:
        found = [{"where": problem.where, "message": problem.message} for problem in problems]
        call.console.data({"ok": not problems, "problems": found})
        return 1 if problems else 0
    for problem in problems:
        call.console.line(f"{show(problem.where, 200)}: {show(problem.message, 300)}")
    call.console.say(f"{_counted(len(problems), 'problem')}" if problems else "the index is sound")
    return 1 if problems else 0


def _named(verb: str, what: str, folder: str, rest: Sequence[str]) -> tuple[str, str]:
    """Give name and version. What was typed in another order is told with the line that is meant."""
    if not rest and (named := _version_in(what)):
        return named
    words = [what, folder, *rest]
    meant = [[word, *words[:at], *words[at + 1 :]] for at, word in enumerate(words) if _version_in(word)]
    meant += [[f"{what}@{folder}", *rest], [f"{folder}@{rest[0]}", what, *rest[1:]]] if rest else []
    fits = next((line for line in meant if len(line) == LINE and _version_in(line[0])), None)
    hint = (
        f"did you mean `{join(['skillpm', 'index', verb, *fits])}`?" if fits else "write NAME@VERSION, e.g. pdf@1.2.0"
    )
    if rest and _version_in(what):
        raise UsageError(f"`{show(' '.join(rest), 60)}` is one word too many", hint=f"skillpm index {verb} --help")
    raise UsageError(f"`{show(what, 60)}` names no version", hint=hint)


def _version_in(what: str) -> tuple[str, str] | None:
    name, _, version = what.rpartition("@")
    return (name, version) if name and is_version(version) else None


def _need_text(option: str, text: str) -> None:
    if not is_text(text):
        raise UsageError(f"{option} is no UTF-8: `{show(text, 60)}`", hint="an index holds nothing else")


def _tell(call: Call, built: Built, out: str, *, dry_run: bool = False) -> None:
    if call.console.as_json:
        value = {
            "changed": bool(built.written or built.removed) and not dry_run,
            "skills": built.skills,
            "versions": built.versions,
            "files": len(built.written),
            "added": list(built.added),
            "removed": list(built.removed),
            "leftOut": [{"name": item.name, "where": item.where, "why": item.why} for item in built.left_out],
        }
        call.console.data({**value, "dryRun": True} if dry_run else value)
        return
    for line in built.added:
        call.console.line(f"+ {line}")
    for path in built.removed:
        call.console.line(f"- {path}")
    if dry_run:
        gone = _counted(len(built.removed), "file")
        call.console.line(f"would remove {gone if built.removed else 'nothing'}")
        return
    state = f"{_counted(len(built.written), 'file')} written" if built.written else "nothing to write"
    left = f"; {len(built.left_out)} left out" if built.left_out else ""
    call.console.say(f"{out}: {_counted(built.skills, 'skill')}, {_counted(built.versions, 'version')}; {state}{left}")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
