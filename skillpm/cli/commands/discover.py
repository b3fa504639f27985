"""`skillpm discover`."""

import os
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import click

from skillpm.agent_hosts.discovery import Discovery
from skillpm.cli.columns import display_width, truncate
from skillpm.cli.options import create_invocation, scope_options
from skillpm.core.text import pluralize, sanitize
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
@scope_options
def command(agent: str, paths: tuple[str, ...], **flags: Any) -> None:
    """Show every skill an agent host would see here, and what hides what. Changes nothing."""
    call = create_invocation(flags)
    settings = call.context.settings
    found = discover(agent, directory=flags["project"] or "", paths=paths, user_only=flags["user"], settings=settings)
    if call.console.as_json:
        call.console.print_json(_to_json(found))
        return
    start = os.path.normpath(os.path.join(settings.working_directory, flags["project"] or ""))
    call.console.print_lines(_format_lines(found, _PathFormatter(start, settings)))
    for warning in found.warnings:
        call.console.warn(f"{_PathFormatter(start, settings).shorten(warning.path)}: {warning.message}")


def _to_json(discovery: Discovery) -> dict[str, Any]:
    return {
        "agent": discovery.agent,
        "roots": [
            {
                "path": place.path,
                "scope": place.profile_root.scope,
                "layout": place.profile_root.layout,
                "exists": place.exists,
                "off": place.disabled_by,
            }
            for place in discovery.roots
        ],
        "skills": [
            {"name": skill.name, "path": skill.path, "scope": skill.scope, "description": skill.description}
            for skill in discovery.skills
        ],
        "shadowed": [skill._asdict() for skill in discovery.shadowed],
        "warnings": [str(warning) for warning in discovery.warnings],
        "again": [skill._asdict() for skill in discovery.again],
    }


class _PathFormatter:
    """Paths as a person would write them: from the folder looked from, else from the home folder."""

    def __init__(self, base: str, settings: Settings) -> None:
        self.base = base
        self.home = settings.home

    def shorten(self, path: str) -> str:
        if path != self.base and is_below(path, self.base):
            path = path[len(self.base) :].lstrip(os.sep)
        elif is_below(path, self.home):
            path = "~" + path[len(self.home) :]
        return sanitize(path, 500)


def _format_lines(discovery: Discovery, paths: _PathFormatter) -> Iterator[str]:
    width = max(60, min(shutil.get_terminal_size((80, 24)).columns, 160))
    yield f"{discovery.agent} sees {pluralize(len(discovery.skills), 'skill')} from {paths.shorten(paths.base)}"
    if discovery.about:
        yield from textwrap.wrap(f"({sanitize(discovery.about, 500)})", width)
    yield from _format_roots(discovery, paths, width)
    yield from _format_skills(discovery, paths, width)
    if discovery.agent == "skillpm" and any(skill.scope == "bundled" for skill in discovery.skills):
        told = "Bundled skills are there to be installed (`skillpm install NAME`); until then `load`, `match` and"
        yield from ("", *textwrap.wrap(f"{told} `prompt` do not serve them.", width))
    yield from _format_shadowed(discovery, paths, width)
    if discovery.again:
        yield from ("", "one file, met again through a link and counted once:")
    for same in discovery.again:
        yield f"  {paths.shorten(same.path)}"
        yield f"    is {paths.shorten(same.winner)}"


def _format_shadowed(discovery: Discovery, paths: _PathFormatter, width: int) -> Iterator[str]:
    """Say what is hidden, under the skill that hides it, each with the reason."""
    if discovery.shadowed:
        yield from ("", "of skills with the same name, only the first counts:")
    winner = ""
    for hidden in discovery.shadowed:
        if hidden.winner != winner:
            winner = hidden.winner
            yield f"  {sanitize(hidden.name)} is {paths.shorten(winner)}, and hidden are"
        yield f"    {paths.shorten(hidden.path)}"
        yield from textwrap.wrap(hidden.why, width, initial_indent="      ", subsequent_indent="      ")


def _format_roots(discovery: Discovery, paths: _PathFormatter, width: int) -> Iterator[str]:
    """Say where the host looks: the folders that are there, in order, then the others in a few lines."""
    there = [(number, place) for number, place in enumerate(discovery.roots) if place.exists]
    if there:
        rule = "skills of one name are all shown" if discovery.shows_both else "the first that has a name counts"
        yield from ("", f"it looks into these folders, and {rule}:")
    longest = max((len(paths.shorten(place.path)) for _, place in there), default=0)
    for position, (number, place) in enumerate(there, 1):
        held = sum(skill.root == number for skill in discovery.skills)
        said = f"switched off by {place.disabled_by}" if place.disabled_by else pluralize(held, "skill")
        yield f"  {position:2} {place.profile_root.scope:8} {paths.shorten(place.path):{min(longest, 48)}}  {said}"
    missing = [paths.shorten(place.path) for place in discovery.roots if not place.exists]
    if missing:
        yield from _wrap_list("not there: ", missing, width)


def _wrap_list(label: str, items: Iterable[str], width: int) -> list[str]:
    return textwrap.wrap(
        label + ", ".join(items),
        width,
        initial_indent="     ",
        subsequent_indent="     ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _format_skills(discovery: Discovery, paths: _PathFormatter, width: int) -> Iterator[str]:
    """List the skills under the folder each came from."""
    longest = min(32, max((len(sanitize(skill.name)) for skill in discovery.skills), default=0))
    for number, place in enumerate(discovery.roots):
        here = [skill for skill in discovery.skills if skill.root == number]
        if here:
            yield from ("", f"{paths.shorten(place.path)} ({place.profile_root.scope})")
        for skill in here:
            head = f"  {sanitize(skill.name):{longest}}  "
            yield (
                head + (truncate(skill.description, max(10, width - display_width(head))) or "(no description)")
            ).rstrip()
