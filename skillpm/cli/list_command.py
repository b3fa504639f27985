"""`skillpm list` (ls)."""

import shutil
from collections.abc import Iterator
from typing import Any

import click

from skillpm.cli.common import call_of, reading
from skillpm.documents.text import show
from skillpm.operations.listing import Listed, Listing, list_skills, tokens_of, version_of


@click.command(
    epilog="""\b
Examples:
  skillpm list          the skills of this project, else your own
  skillpm list -g       your own
  skillpm ls --json     for programs"""
)
@reading
def command(**flags: Any) -> None:
    """List installed skills: name, version, state, description."""
    call = call_of(flags)
    listing = list_skills(call.scope)
    if call.console.as_json:
        rows = [listed_value(skill) for skill in listing.skills]
        call.console.data({"scope": listing.scope, "directory": listing.directory, "skills": rows})
        return
    if listing.pending:
        call.console.say("a change is under way or was interrupted; this is what it leads to")
    if listing.skills:
        call.console.lines(_lines(listing))
    for problem in listing.problems:
        call.console.warning(problem)
    if not listing.skills:
        call.console.say(f"no skills in {listing.directory}; `skillpm install code-review` is a start")


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
    }


def _lines(listing: Listing) -> Iterator[str]:
    width = max(60, min(shutil.get_terminal_size((80, 24)).columns, 160))
    shown = [(show(skill.name), show(version_of(skill), 12), skill) for skill in listing.skills]
    names = min(32, max(len(name) for name, _, _ in shown))
    versions = max(len(version) for _, version, _ in shown)
    for name, version, skill in shown:
        mark = "" if skill.state == "installed" else f"[{skill.state}] "
        head = f"{name:{names}} {version:{versions}}  {mark}"
        room = max(10, width - len(head))
        yield (head + show(skill.entry["description"][: room + 1], room)).rstrip()
