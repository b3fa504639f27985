"""`skillpm list` (ls)."""

from collections.abc import Iterator
from typing import Any

import click

from skillpm.adopt.flat_files import find_flat_files
from skillpm.cli.answer_preparation import prepare_list_answer
from skillpm.cli.color import Paint, unpainted
from skillpm.cli.options import Invocation, scope_options
from skillpm.cli.text_layout import (
    MAX_LISTED_NAME_WIDTH,
    description_width,
    display_width,
    truncate,
)
from skillpm.core.names import SKILL_FILE
from skillpm.core.suggestions import list_some
from skillpm.core.text import pluralize, sanitize
from skillpm.errors import UsageError
from skillpm.operations.inspect.list import (
    ListedSkill,
    Listing,
    body_tokens,
    display_version,
    filter_denied,
    list_skills,
    mark_blocked,
    startup_tokens,
)
from skillpm.operations.inspect.orphaned_skills import find_orphaned_skills
from skillpm.scope.project import Project
from skillpm.scope.project_files import read_project_files
from skillpm.scope.scope import Scope
from skillpm.scope.scope_permissions import load_rules, visible_scopes
from skillpm.scope.scope_policy import load_policies
from skillpm.vetting.acceptance import Acceptance, unchecked_message

MAX_MEMBERS = 12


@click.command(
    epilog="""\b
Examples:
  skillpm list           skills of this project, or of the user scope
  skillpm list -g        skills of the user scope
  skillpm list --path    names and paths, separated by a tab
  skillpm list --tokens  token costs at start and when loaded
  skillpm list --tokens --agent claude-code   what a host cuts
  skillpm list --group review   skills of a group
  skillpm ls --json      for programs"""
)
@click.option("--group", "groups", multiple=True, metavar="NAME", help="List only this group (repeatable).")
@click.option("--tokens", is_flag=True, help="Show approximate token costs.")
@click.option("--path", "paths", is_flag=True, help="Print each skill's name and the path of its SKILL.md.")
@click.option("--agent", metavar="ID", default="", help="With --tokens, what this agent host gives to the model.")
@click.option("--all", "include_hidden", is_flag=True, help="Include skills that permissions hide.")
@scope_options
def command(
    call: Invocation, *, groups: tuple[str, ...], tokens: bool, paths: bool, agent: str, include_hidden: bool
) -> None:
    """List installed skills: name, version, state, description."""
    scope = call.scope
    if agent:
        if not tokens:
            raise UsageError("--agent needs --tokens", hint="`skillpm discover --agent ID` lists what a host sees")
        _print_host_listing(call, agent)
        return
    settings = call.session.settings
    acceptance = Acceptance(scope, settings)
    listing = mark_blocked(list_skills(scope, acceptance), load_policies(visible_scopes(scope, settings), settings))
    if groups:
        from skillpm.change.groups import group_skills  # noqa: PLC0415  (imports the resolver)

        names = group_skills(read_project_files(Project(scope, call.session)), groups)
        listing = listing.replace(skills=tuple(skill for skill in listing.skills if skill.name in names), problems=())
    if paths and not call.console.as_json:
        shown = listing if include_hidden else filter_denied(listing, load_rules(scope, settings))[0]
        lines = (f"{sanitize(skill.name, 64)}\t{sanitize(skill.path)}/{SKILL_FILE}" for skill in shown.skills)
        call.console.print_raw("\n".join(lines))
        return
    _print_listing(call, scope, listing, tokens=tokens, include_hidden=include_hidden)
    if listing.unchecked and not call.console.as_json:
        call.console.print_message(unchecked_message(scope, listing.unchecked))
    elif not groups and not listing.unchecked:  # `sync` changes what is unchecked without changing a file here
        prepare_list_answer(call, scope)


def _print_listing(call: Invocation, scope: Scope, listing: Listing, *, tokens: bool, include_hidden: bool) -> None:
    hidden = 0
    if not include_hidden:
        listing, hidden = filter_denied(listing, load_rules(scope, call.session.settings))
    if call.console.as_json:
        call.console.print_json(_to_json(listing, tokens=tokens))
        return
    if listing.is_pending:
        call.console.print_message("a change is in progress or was interrupted; this is the state after it")
    if listing.skills:
        paint = call.console.paint if call.console.uses_color else unpainted
        has_header = call.console.is_terminal
        lines = _format_token_costs(listing, paint) if tokens else _format_lines(listing, paint, has_header=has_header)
        call.console.print_painted(lines)
    for problem in listing.problems:
        call.console.warn(problem)
    if count := sum(skill.state == "locked" for skill in listing.skills):
        state, them = ("matches", "it") if count == 1 else ("match", "them")
        call.console.print_message(
            f"{pluralize(count, 'skill')} on disk {state} the lockfile, not installed yet: `skillpm sync` adopts {them}"
        )
    if hidden:
        call.console.print_message(f"permissions hide {hidden} more; `skillpm list --all` shows them")
    elif not listing.skills:
        # A fresh clone has a lockfile and no skills.
        locked = len(read_project_files(Project(scope, call.session)).lockfile.skills)
        next_step = f"{locked} locked: `skillpm sync` installs them" if locked else "try `skillpm install code-review`"
        call.console.print_message(f"no skills in {listing.directory}; {next_step}")
    if not call.console.quiet:
        _print_members(call, listing)
        _print_flat_file_hint(call, listing)
        _print_orphan_hint(call)


def _print_members(invocation: Invocation, listing: Listing) -> None:
    """Print the folders of a workspace that have skills of their own."""
    if listing.members:
        members = list_some(listing.members, MAX_MEMBERS)
        invocation.console.print_message(f"{pluralize(len(listing.members), 'member')} with own skills: {members}")


def _print_flat_file_hint(invocation: Invocation, listing: Listing) -> None:
    """Print a hint if there are flat files that `migrate` can convert."""
    files = find_flat_files(
        listing.directory, {skill.name for skill in listing.skills}, invocation.session.settings.limits
    )
    if files:
        command = f"skillpm migrate{invocation.scope.flag} --dry-run"
        invocation.console.print_message(
            f"{pluralize(len(files), 'flat file')} may be meant as skills: `{command}` shows which can become some"
        )


def _print_orphan_hint(invocation: Invocation) -> None:
    """Print a hint if there are skills that are not listed, since their folder belongs to no project."""
    if orphans := find_orphaned_skills(invocation.scope, invocation.session.settings):
        invocation.console.print_message(
            f"{pluralize(orphans.count, 'skill')} in {orphans.directory}, which belongs to no project: "
            f"`{orphans.command}` makes it one"
        )


def _to_json(listing: Listing, *, tokens: bool) -> dict[str, Any]:
    rows = [listed_skill_to_json(skill) for skill in listing.skills]
    value: dict[str, Any] = {"scope": listing.scope, "directory": listing.directory, "skills": rows}
    if listing.members:
        value["members"] = list(listing.members)
    if listing.unchecked:
        value["unchecked"] = list(listing.unchecked)
    if tokens:
        for row, skill in zip(rows, listing.skills, strict=True):
            row["startTokens"] = startup_tokens(skill)
        value["startTokens"] = sum(row["startTokens"] for row in rows)
    return value


def _print_host_listing(call: Invocation, agent: str) -> None:
    """Print how much of each description a host gives to the model."""
    from skillpm.operations.host_listing import read_host_listing  # noqa: PLC0415  (only for --agent)

    listing = read_host_listing(call.scope, call.session.settings, agent)
    if call.console.as_json:
        rows = [{"name": skill.name, "characters": skill.length, "shown": skill.shown} for skill in listing.skills]
        value = {"agent": agent, "hasLimit": listing.has_limit, "skills": rows, "cut": len(listing.cut)}
        call.console.print_json(value)
        return
    width = max((len(skill.name) for skill in listing.skills), default=0)
    for skill in listing.skills:
        how = "" if not skill.is_cut else f"only {skill.shown}" if skill.shown else "only its name"
        call.console.print_line(f"{sanitize(skill.name, 64):{width}}  {skill.length:5} characters  {how}".rstrip())
    if listing.summary:
        call.console.print_message(listing.summary)
    elif listing.has_limit:
        call.console.print_message(f"{agent} shows all {pluralize(len(listing.skills), 'description')} whole")
    else:
        call.console.print_message(f"no limit of {agent} is known; it sees {pluralize(len(listing.skills), 'skill')}")


def _format_token_costs(listing: Listing, paint: Paint) -> Iterator[str]:
    """Format a table of token costs: name and description at each start of a host, and the body when loaded."""
    rows = [(sanitize(skill.name, 64), startup_tokens(skill), body_tokens(skill)) for skill in listing.skills]
    width = max(len("at start"), *(len(name) for name, _, _ in rows))
    yield paint(f"{'':{width}}  at start  when loaded", "header")
    for name, start, body in rows:
        yield f"{paint(name, 'name')}{' ' * (width - len(name))} {start:9} {body:12}"
    yield f"{'':{width}} {sum(start for _, start, _ in rows):9} {sum(body for _, _, body in rows):12}"


def listed_skill_to_json(skill: ListedSkill) -> dict[str, Any]:
    """Return the JSON object of a skill."""
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
        **({"include": skill.include} if skill.include else {}),
        **({"locked": skill.locked_version} if skill.locked_version else {}),
    }


def _format_lines(listing: Listing, paint: Paint, *, has_header: bool) -> Iterator[str]:
    rows = [(sanitize(skill.name), sanitize(display_version(skill), 12), skill) for skill in listing.skills]
    name_width = min(MAX_LISTED_NAME_WIDTH, max(len(name) for name, _, _ in rows))
    version_width = max(len(version) for _, version, _ in rows)
    if has_header:
        name_width, version_width = max(name_width, len("name")), max(version_width, len("version"))
        yield paint(f"{'name':{name_width}} {'version':{version_width}}  description", "header")
    for name, version, skill in rows:
        state = "" if skill.state == "installed" else f"[{skill.state}] "
        state += f"[lock: {sanitize(skill.locked_version, 20)}] " if skill.locked_version else ""
        is_long = len(name) > name_width  # the description goes on the next line, aligned with the others
        label = f"{'' if is_long else ' ' * (name_width - len(name))} {version:{0 if is_long else version_width}}  "
        indent = name_width + version_width + 3 if is_long else display_width(name + label + state)
        description = truncate(skill.entry["description"], description_width(indent))
        head = paint(name, "name") + label + paint(state, "notice")
        if is_long:
            yield head.rstrip()
            head = " " * indent
        if description or not is_long:
            yield (head + paint(description, "plain")).rstrip()
