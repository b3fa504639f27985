"""`skillpm list` (ls)."""

from collections.abc import Iterator
from typing import Any

import click

from skillpm.cli.columns import cells, fitted, terminal_width
from skillpm.cli.options import Call, call_of, reading
from skillpm.core.text import counted, show
from skillpm.operations.context.project_files import read_paperwork
from skillpm.operations.context.scope_permissions import rules_here
from skillpm.operations.inspect.list import (
    Listed,
    Listing,
    list_skills,
    start_tokens_of,
    tokens_of,
    version_of,
    without_denied,
)
from skillpm.operations.inspect.orphaned_skills import homeless
from skillpm.operations.migrate.flat_files import flat_files_in

LONGEST_IN_COLUMN = 32


@click.command(
    epilog="""\b
Examples:
  skillpm list          the skills of this project, else your own
  skillpm list -g       your own
  skillpm list --tokens what a host loads at start, and what each skill costs
  skillpm ls --json     for programs"""
)
@click.option("--tokens", is_flag=True, help="Show about how many tokens each costs a model.")
@click.option("--all", "everything", is_flag=True, help="Those that permissions hide, too.")
@reading
def command(*, tokens: bool, everything: bool, **flags: Any) -> None:
    """List installed skills: name, version, state, description."""
    call = call_of(flags)
    listing = list_skills(call.scope)
    hidden = 0
    if not everything:
        listing, hidden = without_denied(listing, rules_here(call.scope, call.tools.settings))
    if call.console.as_json:
        call.console.data(_value(listing, tokens=tokens))
        return
    if listing.pending:
        call.console.say("a change is under way or was interrupted; this is what it leads to")
    if listing.skills:
        call.console.lines(_costs(listing) if tokens else _lines(listing))
    for problem in listing.problems:
        call.console.warning(problem)
    if here := [skill for skill in listing.skills if skill.state == "locked"]:
        lies, them = ("lies here as it is", "it") if len(here) == 1 else ("lie here as they are", "them")
        what = counted(len(here), "skill")
        call.console.say(f"{what} {lies} locked, not installed yet: `skillpm sync` takes {them} over")
    if hidden:
        call.console.say(f"permissions hide {hidden} more; `skillpm list --all` shows them")
    elif not listing.skills:
        # Whoever cloned a project has its lockfile and nothing else: what is locked is only a word away.
        locked = len(read_paperwork(call.scope, call.tools).lockfile.skills)
        start = (
            f"{locked} locked: `skillpm sync` installs them" if locked else "`skillpm install code-review` is a start"
        )
        call.console.say(f"no skills in {listing.directory}; {start}")
    if not call.console.quiet:
        _tell_flat(call, listing)
        _tell_homeless(call)


def _tell_flat(call: Call, listing: Listing) -> None:
    """Say that there are files which a `migrate` makes skills of."""
    flat = flat_files_in(listing.directory, {skill.name for skill in listing.skills}, call.tools.settings.limits)
    if flat:
        lies, of = ("lies", "it") if len(flat) == 1 else ("lie", "them")
        asked = f"`skillpm migrate{call.scope.flag} --dry-run` says what becomes of {of}"
        call.console.say(f"{counted(len(flat), 'flat file')} {lies} here: {asked}")


def _tell_homeless(call: Call) -> None:
    """Say that skills lie here which belong to no project, and so are not in the list."""
    if found := homeless(call.scope, call.tools.settings):
        lies = "lies" if found.count == 1 else "lie"
        skills, place = counted(found.count, "skill"), found.directory
        call.console.say(f"{skills} {lies} in {place}, which is no project's: `{found.cure}` makes it one")


def _value(listing: Listing, *, tokens: bool) -> dict[str, Any]:
    rows = [listed_value(skill) for skill in listing.skills]
    value: dict[str, Any] = {"scope": listing.scope, "directory": listing.directory, "skills": rows}
    if tokens:
        for row, skill in zip(rows, listing.skills, strict=True):
            row["startTokens"] = start_tokens_of(skill)
        value["startTokens"] = sum(row["startTokens"] for row in rows)
    return value


def _costs(listing: Listing) -> Iterator[str]:
    """Give a line for each skill: what its name and description cost at every start, and its body when loaded."""
    shown = [(show(skill.name, 64), start_tokens_of(skill), tokens_of(skill)) for skill in listing.skills]
    width = max(len("at start"), *(len(name) for name, _, _ in shown))
    yield f"{'':{width}}  at start  when loaded"
    for name, start, body in shown:
        yield f"{name:{width}} {start:9} {body:12}"
    yield f"{'':{width}} {sum(start for _, start, _ in shown):9} {sum(body for _, _, body in shown):12}"


def listed_value(skill: Listed) -> dict[str, Any]:
    """Give one skill as JSON."""
    return {
        "name": skill.name,
        "version": version_of(skill),
        "description": skill.entry["description"],
        "category": skill.entry["category"],
        "path": skill.path,
        "source": skill.source,
        "digest": skill.digest,
        "state": skill.state,
        "tokens": tokens_of(skill),
        "links": list(skill.links),
        **({"userOnly": True} if skill.entry.get("userOnly") else {}),
        **({"locked": skill.locked} if skill.locked else {}),
    }


def _lines(listing: Listing) -> Iterator[str]:
    width = terminal_width()
    shown = [(show(skill.name), show(version_of(skill), 12), skill) for skill in listing.skills]
    names = min(LONGEST_IN_COLUMN, max(len(name) for name, _, _ in shown))
    versions = max(len(version) for _, version, _ in shown)
    for name, version, skill in shown:
        mark = "" if skill.state == "installed" else f"[{skill.state}] "
        mark += f"[lock: {show(skill.locked, 20)}] " if skill.locked else ""
        head = f"{name:{names}} {version:{versions}}  {mark}"
        if len(name) > names:  # its description goes below, where all the others are
            yield f"{name} {version}  {mark}".rstrip()
            head = " " * (names + versions + 3)
        if said := fitted(skill.entry["description"], max(10, width - cells(head))):
            yield head + said
        elif len(name) <= names:
            yield head.rstrip()
