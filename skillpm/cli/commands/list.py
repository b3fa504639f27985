"""`skillpm list` (ls)."""

from collections.abc import Iterator
from typing import Any

import click

from skillpm.cli.columns import display_width, terminal_width, truncate
from skillpm.cli.options import Invocation, create_invocation, scope_options
from skillpm.core.text import pluralize, sanitize
from skillpm.operations.context.project_files import read_project_files
from skillpm.operations.context.scope_permissions import load_rules
from skillpm.operations.inspect.list import (
    ListedSkill,
    Listing,
    body_tokens,
    display_version,
    filter_denied,
    list_skills,
    startup_tokens,
)
from skillpm.operations.inspect.orphaned_skills import find_orphaned_skills
from skillpm.operations.migrate.flat_files import find_flat_files

MAX_NAME_WIDTH = 32


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
@scope_options
def command(*, tokens: bool, everything: bool, **flags: Any) -> None:
    """List installed skills: name, version, state, description."""
    call = create_invocation(flags)
    listing = list_skills(call.scope)
    hidden = 0
    if not everything:
        listing, hidden = filter_denied(listing, load_rules(call.scope, call.context.settings))
    if call.console.as_json:
        call.console.print_json(_to_json(listing, tokens=tokens))
        return
    if listing.is_pending:
        call.console.print_message("a change is under way or was interrupted; this is what it leads to")
    if listing.skills:
        call.console.print_lines(_format_token_costs(listing) if tokens else _format_lines(listing))
    for problem in listing.problems:
        call.console.warn(problem)
    if here := [skill for skill in listing.skills if skill.state == "locked"]:
        lies, them = ("lies here as it is", "it") if len(here) == 1 else ("lie here as they are", "them")
        what = pluralize(len(here), "skill")
        call.console.print_message(f"{what} {lies} locked, not installed yet: `skillpm sync` takes {them} over")
    if hidden:
        call.console.print_message(f"permissions hide {hidden} more; `skillpm list --all` shows them")
    elif not listing.skills:
        # Whoever cloned a project has its lockfile and nothing else: what is locked is only a word away.
        locked = len(read_project_files(call.scope, call.context).lockfile.skills)
        start = (
            f"{locked} locked: `skillpm sync` installs them" if locked else "`skillpm install code-review` is a start"
        )
        call.console.print_message(f"no skills in {listing.directory}; {start}")
    if not call.console.quiet:
        _print_flat_file_hint(call, listing)
        _print_orphan_hint(call)


def _print_flat_file_hint(invocation: Invocation, listing: Listing) -> None:
    """Say that there are files which a `migrate` makes skills of."""
    flat = find_flat_files(
        listing.directory, {skill.name for skill in listing.skills}, invocation.context.settings.limits
    )
    if flat:
        lies, of = ("lies", "it") if len(flat) == 1 else ("lie", "them")
        asked = f"`skillpm migrate{invocation.scope.flag} --dry-run` says what becomes of {of}"
        invocation.console.print_message(f"{pluralize(len(flat), 'flat file')} {lies} here: {asked}")


def _print_orphan_hint(invocation: Invocation) -> None:
    """Say that skills lie here which belong to no project, and so are not in the list."""
    if found := find_orphaned_skills(invocation.scope, invocation.context.settings):
        lies = "lies" if found.count == 1 else "lie"
        skills, place = pluralize(found.count, "skill"), found.directory
        invocation.console.print_message(
            f"{skills} {lies} in {place}, which is no project's: `{found.command}` makes it one"
        )


def _to_json(listing: Listing, *, tokens: bool) -> dict[str, Any]:
    rows = [listed_skill_to_json(skill) for skill in listing.skills]
    value: dict[str, Any] = {"scope": listing.scope, "directory": listing.directory, "skills": rows}
    if tokens:
        for row, skill in zip(rows, listing.skills, strict=True):
            row["startTokens"] = startup_tokens(skill)
        value["startTokens"] = sum(row["startTokens"] for row in rows)
    return value


def _format_token_costs(listing: Listing) -> Iterator[str]:
    """Give a line for each skill: what its name and description cost at every start, and its body when loaded."""
    shown = [(sanitize(skill.name, 64), startup_tokens(skill), body_tokens(skill)) for skill in listing.skills]
    width = max(len("at start"), *(len(name) for name, _, _ in shown))
    yield f"{'':{width}}  at start  when loaded"
    for name, start, body in shown:
        yield f"{name:{width}} {start:9} {body:12}"
    yield f"{'':{width}} {sum(start for _, start, _ in shown):9} {sum(body for _, _, body in shown):12}"


def listed_skill_to_json(skill: ListedSkill) -> dict[str, Any]:
    """Give one skill as JSON."""
    return {
        "name": skill.name,
        "version": display_version(skill),
        "description": skill.entry["description"],
        "category": skill.entry["category"],
        "path": skill.path,
        "source": skill.source,
        "digest": skill.digest,
        "state": skill.state,
        "tokens": body_tokens(skill),
        "links": list(skill.links),
        **({"userOnly": True} if skill.entry.get("userOnly") else {}),
        **({"locked": skill.locked_version} if skill.locked_version else {}),
    }


def _format_lines(listing: Listing) -> Iterator[str]:
    width = terminal_width()
    shown = [(sanitize(skill.name), sanitize(display_version(skill), 12), skill) for skill in listing.skills]
    names = min(MAX_NAME_WIDTH, max(len(name) for name, _, _ in shown))
    versions = max(len(version) for _, version, _ in shown)
    for name, version, skill in shown:
        mark = "" if skill.state == "installed" else f"[{skill.state}] "
        mark += f"[lock: {sanitize(skill.locked_version, 20)}] " if skill.locked_version else ""
        head = f"{name:{names}} {version:{versions}}  {mark}"
        if len(name) > names:  # its description goes below, where all the others are
            yield f"{name} {version}  {mark}".rstrip()
            head = " " * (names + versions + 3)
        if said := truncate(skill.entry["description"], max(10, width - display_width(head))):
            yield head + said
        elif len(name) <= names:
            yield head.rstrip()
