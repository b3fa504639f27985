"""`skillpm discover`."""

import os
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import click

from skillpm.agent_hosts.discovery import Discovery
from skillpm.cli.columns import display_width, terminal_width, truncate
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
  skillpm discover --path ./drafts      search this folder first"""
)
@click.option(
    "--agent", metavar="ID", default="skillpm", help="The agent host (see `skillpm agents --all`) [default: skillpm]."
)
@click.option("--path", "paths", metavar="DIR", multiple=True, help="Search this folder first (repeatable).")
@scope_options
def command(agent: str, paths: tuple[str, ...], **flags: Any) -> None:
    """Show which skills an agent host sees here, and which are hidden by others. Changes nothing."""
    call = create_invocation(flags)
    settings, project = call.context.settings, flags["project"] or ""
    discovery = discover(agent, directory=project, paths=paths, user_only=flags["user"], settings=settings)
    if call.console.as_json:
        call.console.print_json(_to_json(discovery))
        return
    formatter = _PathFormatter(os.path.normpath(os.path.join(settings.working_directory, project)), settings)
    call.console.print_lines(_format_lines(discovery, formatter))
    for warning in discovery.warnings:
        call.console.warn(f"{formatter.shorten(warning.path)}: {warning.message}")


def _to_json(discovery: Discovery) -> dict[str, Any]:
    return {
        "agent": discovery.agent,
        "roots": [
            {
                "path": root.path,
                "scope": root.profile_root.scope,
                "layout": root.profile_root.layout,
                "exists": root.exists,
                "off": root.disabled_by,
            }
            for root in discovery.roots
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
    """Shortens paths: relative to a base folder, else to the home folder (`~`)."""

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
    width = terminal_width()
    yield f"{discovery.agent} sees {pluralize(len(discovery.skills), 'skill')} from {paths.shorten(paths.base)}"
    if discovery.about:
        yield from textwrap.wrap(f"({sanitize(discovery.about, 500)})", width)
    yield from _format_roots(discovery, paths, width)
    yield from _format_skills(discovery, paths, width)
    if discovery.agent == "skillpm" and any(skill.scope == "bundled" for skill in discovery.skills):
        note = "Bundled skills can be installed (`skillpm install NAME`); until then, `load`, `match` and `prompt`"
        yield from ("", *textwrap.wrap(f"{note} do not serve them.", width))
    yield from _format_shadowed(discovery, paths, width)
    if discovery.again:
        yield from ("", "the same file, found again through a link:")
    for same in discovery.again:
        yield f"  {paths.shorten(same.path)}"
        yield f"    is {paths.shorten(same.winner)}"


def _format_shadowed(discovery: Discovery, paths: _PathFormatter, width: int) -> Iterator[str]:
    """List the hidden skills with the reason, grouped by the skill that hides them."""
    if discovery.shadowed:
        yield from ("", "of several skills with one name, only the first is used:")
    winner = ""
    for hidden in discovery.shadowed:
        if hidden.winner != winner:
            winner = hidden.winner
            yield f"  {sanitize(hidden.name)} is {paths.shorten(winner)}, which hides"
        yield f"    {paths.shorten(hidden.path)}"
        yield from textwrap.wrap(hidden.why, width, initial_indent="      ", subsequent_indent="      ")


def _format_roots(discovery: Discovery, paths: _PathFormatter, width: int) -> Iterator[str]:
    """List the folders that the host searches: those that exist, in order, then the missing ones."""
    existing = [(number, root) for number, root in enumerate(discovery.roots) if root.exists]
    if existing:
        rule = "it shows all skills with one name" if discovery.shows_both else "the first skill with a name is used"
        yield from ("", f"it searches these folders; {rule}:")
    longest = max((len(paths.shorten(root.path)) for _, root in existing), default=0)
    for position, (number, root) in enumerate(existing, 1):
        count = sum(skill.root == number for skill in discovery.skills)
        state = f"disabled by {root.disabled_by}" if root.disabled_by else pluralize(count, "skill")
        yield f"  {position:2} {root.profile_root.scope:8} {paths.shorten(root.path):{min(longest, 48)}}  {state}"
    missing = [paths.shorten(root.path) for root in discovery.roots if not root.exists]
    if missing:
        yield from _wrap_list("missing: ", missing, width)


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
    """List the skills, grouped by folder."""
    longest = min(32, max((len(sanitize(skill.name)) for skill in discovery.skills), default=0))
    for number, root in enumerate(discovery.roots):
        skills = [skill for skill in discovery.skills if skill.root == number]
        if skills:
            yield from ("", f"{paths.shorten(root.path)} ({root.profile_root.scope})")
        for skill in skills:
            head = f"  {sanitize(skill.name):{longest}}  "
            description = truncate(skill.description, max(10, width - display_width(head)))
            yield (head + (description or "(no description)")).rstrip()
