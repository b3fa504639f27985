"""`skillpm discover`."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import click

from skillpm.agent_hosts.discover import discover, find_plugins
from skillpm.agent_hosts.discovery import Discovery
from skillpm.agent_hosts.known_agents import abbreviate_home
from skillpm.cli.options import Invocation, scope_options
from skillpm.cli.text_layout import format_skills, wrap_text
from skillpm.core.text import pluralize, sanitize
from skillpm.files import is_below
from skillpm.settings import Settings

Shorten = Callable[[str], str]


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
def command(call: Invocation, agent: str, paths: tuple[str, ...]) -> None:
    """Show which skills an agent host sees here, and which are hidden by others. Changes nothing."""
    settings, project = call.session.settings, call.flags["project"] or ""
    discovery = discover(agent, directory=project, paths=paths, user_only=call.flags["user"], settings=settings)
    discovery = discovery.replace(warnings=(*find_plugins(discovery.roots), *discovery.warnings))
    if call.console.as_json:
        call.console.print_json(_to_json(discovery))
        return
    base = os.path.normpath(os.path.join(settings.working_directory, project))
    shorten = partial(_shorten, base=base, settings=settings)
    if call.console.quiet:
        call.console.print_lines(sanitize(skill.name) for skill in discovery.skills)
        return
    call.console.print_lines(_format_lines(discovery, shorten, base))
    for warning in discovery.warnings:
        call.console.warn(f"{shorten(warning.path)}: {warning.message}")


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


def _shorten(path: str, base: str, settings: Settings) -> str:
    """Return a path relative to a base folder, else to the home folder (`~`)."""
    if path != base and is_below(path, base):
        path = path[len(base) :].lstrip(os.sep)
    return sanitize(abbreviate_home(path, settings), 500)


def _format_lines(discovery: Discovery, shorten: Shorten, base: str) -> Iterator[str]:
    yield f"{discovery.agent} sees {pluralize(len(discovery.skills), 'skill')} from {shorten(base)}"
    if discovery.about:
        yield from wrap_text(f"({sanitize(discovery.about, 500)})", indent=0, force=True)
    yield from _format_roots(discovery, shorten)
    yield from _format_skills(discovery, shorten)
    if discovery.agent == "skillpm" and any(skill.scope == "bundled" for skill in discovery.skills):
        note = "Bundled skills can be installed (`skillpm install NAME`); until then, `load` and `prompt`"
        yield from ("", *wrap_text(f"{note} do not serve them.", indent=0, force=True))
    yield from _format_shadowed(discovery, shorten)
    if discovery.again:
        yield from ("", "the same file, found again through a link:")
    for same in discovery.again:
        yield f"  {shorten(same.path)}"
        yield f"    is {shorten(same.winner)}"


def _format_shadowed(discovery: Discovery, shorten: Shorten) -> Iterator[str]:
    """List the hidden skills with the reason, grouped by the skill that hides them."""
    if discovery.shadowed:
        yield from ("", "of several skills with one name, only the first is used:")
    winner = ""
    for hidden in discovery.shadowed:
        if hidden.winner != winner:
            winner = hidden.winner
            yield f"  {sanitize(hidden.name)} is {shorten(winner)}, which hides"
        yield f"    {shorten(hidden.path)}"
        yield from wrap_text(f"      {hidden.why}", indent=6, force=True)


def _format_roots(discovery: Discovery, shorten: Shorten) -> Iterator[str]:
    """List the folders that the host searches: those that exist, in order, then the missing ones."""
    existing = [(number, root) for number, root in enumerate(discovery.roots) if root.exists]
    if existing:
        rule = "it shows all skills with one name" if discovery.shows_both else "the first skill with a name is used"
        yield from ("", f"it searches these folders; {rule}:")
    longest = max((len(shorten(root.path)) for _, root in existing), default=0)
    for position, (number, root) in enumerate(existing, 1):
        count = sum(skill.root == number for skill in discovery.skills)
        state = f"disabled by {root.disabled_by}" if root.disabled_by else pluralize(count, "skill")
        yield f"  {position:2} {root.profile_root.scope:8} {shorten(root.path):{min(longest, 48)}}  {state}"
    missing = [shorten(root.path) for root in discovery.roots if not root.exists]
    if missing:
        yield from wrap_text(f"     missing: {', '.join(missing)}", indent=5, force=True)


def _format_skills(discovery: Discovery, shorten: Shorten) -> Iterator[str]:
    """List the skills, grouped by folder."""
    for number, root in enumerate(discovery.roots):
        skills = [skill for skill in discovery.skills if skill.root == number]
        if skills:
            yield from ("", f"{shorten(root.path)} ({root.profile_root.scope})")
            rows = [([f"  {sanitize(skill.name)}"], skill.description or "(no description)") for skill in skills]
            yield from format_skills(rows)
