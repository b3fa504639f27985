"""`skillpm discover`."""

import os
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import click

from skillpm.agent_hosts.discovery import Discovery
from skillpm.cli.columns import cells, fitted
from skillpm.cli.options import call_of, reading
from skillpm.core.text import counted, show
from skillpm.files import is_below
from skillpm.operations.discover import discover
from skillpm.settings import Settings


@click.command(
    epilog="""\b
Examples:
  skillpm discover                      what skillpm itself sees here
  skillpm discover --agent claude-code  what Claude Code sees here
  skillpm discover --agent codex -g     only what it sees everywhere
  skillpm discover --path ./drafts      with this folder before all others"""
)
@click.option("--agent", metavar="ID", default="skillpm", help="The agent host (skillpm agents --all lists them).")
@click.option("--path", "paths", metavar="DIR", multiple=True, help="Look into this folder first (repeatable).")
@reading
def command(agent: str, paths: tuple[str, ...], **flags: Any) -> None:
    """Show every skill an agent host would see here, and what hides what. Changes nothing."""
    call = call_of(flags)
    settings = call.tools.settings
    found = discover(agent, directory=flags["project"] or "", paths=paths, user_only=flags["user"], settings=settings)
    if call.console.as_json:
        call.console.data(_value(found))
        return
    start = os.path.normpath(os.path.join(settings.working_directory, flags["project"] or ""))
    call.console.lines(_lines(found, _Names(start, settings)))
    for warning in found.warnings:
        call.console.warning(f"{_Names(start, settings).short(warning.path)}: {warning.message}")


def _value(found: Discovery) -> dict[str, Any]:
    return {
        "agent": found.agent,
        "roots": [
            {
                "path": place.path,
                "scope": place.root.scope,
                "layout": place.root.layout,
                "exists": place.exists,
                "off": place.off,
            }
            for place in found.roots
        ],
        "skills": [
            {"name": skill.name, "path": skill.path, "scope": skill.scope, "description": skill.description}
            for skill in found.skills
        ],
        "shadowed": [skill._asdict() for skill in found.shadowed],
        "warnings": [str(warning) for warning in found.warnings],
        "again": [skill._asdict() for skill in found.again],
    }


class _Names:
    """Paths as a person would write them: from the folder looked from, else from the home folder."""

    def __init__(self, start: str, settings: Settings) -> None:
        self.start = start
        self.home = settings.home

    def short(self, path: str) -> str:
        if path != self.start and is_below(path, self.start):
            path = path[len(self.start) :].lstrip(os.sep)
        elif is_below(path, self.home):
            path = "~" + path[len(self.home) :]
        return show(path, 500)


def _lines(found: Discovery, names: _Names) -> Iterator[str]:
    width = max(60, min(shutil.get_terminal_size((80, 24)).columns, 160))
    yield f"{found.agent} sees {counted(len(found.skills), 'skill')} from {names.short(names.start)}"
    if found.about:
        yield from textwrap.wrap(f"({show(found.about, 500)})", width)
    yield from _roots(found, names, width)
    yield from _skills(found, names, width)
    if found.agent == "skillpm" and any(skill.scope == "bundled" for skill in found.skills):
        told = "Bundled skills are there to be installed (`skillpm install NAME`); until then `load`, `match` and"
        yield from ("", *textwrap.wrap(f"{told} `prompt` do not serve them.", width))
    yield from _shadowed(found, names, width)
    if found.again:
        yield from ("", "one file, met again through a link and counted once:")
    for same in found.again:
        yield f"  {names.short(same.path)}"
        yield f"    is {names.short(same.winner)}"


def _shadowed(found: Discovery, names: _Names, width: int) -> Iterator[str]:
    """Say what is hidden, under the skill that hides it, each with the reason."""
    if found.shadowed:
        yield from ("", "of skills with the same name, only the first counts:")
    winner = ""
    for hidden in found.shadowed:
        if hidden.winner != winner:
            winner = hidden.winner
            yield f"  {show(hidden.name)} is {names.short(winner)}, and hidden are"
        yield f"    {names.short(hidden.path)}"
        yield from textwrap.wrap(hidden.why, width, initial_indent="      ", subsequent_indent="      ")


def _roots(found: Discovery, names: _Names, width: int) -> Iterator[str]:
    """Say where the host looks: the folders that are there, in order, then the others in a few lines."""
    there = [(number, place) for number, place in enumerate(found.roots) if place.exists]
    if there:
        rule = "skills of one name are all shown" if found.shows_both else "the first that has a name counts"
        yield from ("", f"it looks into these folders, and {rule}:")
    longest = max((len(names.short(place.path)) for _, place in there), default=0)
    for position, (number, place) in enumerate(there, 1):
        held = sum(skill.root == number for skill in found.skills)
        said = f"switched off by {place.off}" if place.off else counted(held, "skill")
        yield f"  {position:2} {place.root.scope:8} {names.short(place.path):{min(longest, 48)}}  {said}"
    missing = [names.short(place.path) for place in found.roots if not place.exists]
    if missing:
        yield from _wrapped("not there: ", missing, width)


def _wrapped(head: str, words: Iterable[str], width: int) -> list[str]:
    return textwrap.wrap(
        head + ", ".join(words),
        width,
        initial_indent="     ",
        subsequent_indent="     ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _skills(found: Discovery, names: _Names, width: int) -> Iterator[str]:
    """List the skills under the folder each came from."""
    longest = min(32, max((len(show(skill.name)) for skill in found.skills), default=0))
    for number, place in enumerate(found.roots):
        here = [skill for skill in found.skills if skill.root == number]
        if here:
            yield from ("", f"{names.short(place.path)} ({place.root.scope})")
        for skill in here:
            head = f"  {show(skill.name):{longest}}  "
            yield (head + (fitted(skill.description, max(10, width - cells(head))) or "(no description)")).rstrip()
