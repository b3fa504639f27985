"""`skillpm show`."""

import sys
from typing import Any

import click

from skillpm.cli.commands.list import listed_skill_to_json
from skillpm.cli.options import Invocation, fetch_options
from skillpm.cli.text_layout import display_width, line_width, wrap_text
from skillpm.core.names import is_only_spec
from skillpm.core.text import sanitize
from skillpm.errors import ManySkillsError
from skillpm.operations.inspect.list import body_tokens, display_version
from skillpm.operations.inspect.show import SkillDetails, show_skill
from skillpm.registry.metadata_overlay import DEFAULT_CATEGORY

INDENT = 15  # the column of values
MAX_FILES = 20


@click.command(
    epilog="""\b
Examples:
  skillpm show code-review          metadata, source and files
  skillpm show code-review --json   for programs
  skillpm show anthropics/skills@pdf   before you install it"""
)
@click.argument("name", help="A skill in the skills directory, or a SPEC as for `install`.")
@fetch_options
def command(call: Invocation, name: str) -> None:
    """Show a skill: metadata, source, files and size in tokens; of a SPEC, also what it may do."""
    if is_only_spec(name):
        _show_remote(call, name)
        return
    details = show_skill(call.project, name)
    if call.console.as_json:
        call.console.print_json(_to_json(details))
    else:
        _print_details(call, details)


def _show_remote(call: Invocation, spec: str) -> None:
    from skillpm.cli.remote_output import print_remote, remote_to_json  # noqa: PLC0415  (imports the resolver)
    from skillpm.operations.inspect.show_remote import show_remote  # noqa: PLC0415

    try:
        remote = show_remote(call.project, spec)
    except ManySkillsError as error:
        error.hint = f"select one, for example `skillpm show {error.example}`"
        raise
    if call.console.as_json:
        call.console.print_json(remote_to_json(remote))
        return
    print_remote(call.console, remote)
    g = call.scope.flag
    call.console.print_message(f"not installed: `skillpm install{g} SPEC` installs it, `skillpm load SPEC` prints it")


def _to_json(details: SkillDetails) -> dict[str, Any]:
    requires = details.skill.requires
    value = {
        **listed_skill_to_json(details.listed),
        "frontmatter": dict(details.skill.frontmatter),
        "requires": list(requires.bins),
        "needs": {
            "anyBins": list(requires.any_bins),
            "env": list(requires.env),
            "config": list(requires.config),
            "os": list(requires.os),
            "mcp": list(requires.mcp),
            "notes": list(requires.notes),
        },
        "available": not details.missing,
        "missing": list(details.missing),
        "dependencies": details.dependencies,
        "files": [
            {
                "path": file.path,
                "size": file.size,
                "digest": file.digest,
                "executable": file.is_executable,
                "state": file.state,
            }
            for file in details.files
        ],
        "warnings": [
            {"code": finding.code, "message": finding.message, "line": finding.line} for finding in details.findings
        ],
    }
    trust = [rule.json_value for rule in details.trust]
    more = {"index": details.index_warning, "signer": details.signer, "trust": trust}
    return {**value, **{key: part for key, part in more.items() if part}}


def _print_details(invocation: Invocation, details: SkillDetails) -> None:
    skill, listed, entry = details.skill, details.listed, details.listed.entry
    rows = [
        ("version", display_version(listed)),
        (
            "locked",
            f"{listed.locked_version} (`skillpm sync{invocation.scope.flag}` installs it)"
            if listed.locked_version
            else "",
        ),
        ("index", details.index_warning),
        ("state", listed.state),
        ("calls itself", entry.get("declaredName", "")),
        ("description", sanitize(skill.description or entry["description"], 1000)),
        ("category", skill.category or (entry["category"] if entry["category"] != DEFAULT_CATEGORY else "")),
        ("license", skill.license),
        ("author", skill.author),
        ("homepage", skill.homepage),
        ("triggers", ", ".join(entry["triggers"] or skill.triggers)),
        ("requires", ", ".join(skill.requires.bins)),
        ("any of", ", ".join(skill.requires.any_bins)),
        ("environment", ", ".join(skill.requires.env)),
        ("config", ", ".join(skill.requires.config)),
        ("systems", ", ".join(skill.requires.os)),
        ("mcp servers", ", ".join(skill.requires.mcp)),
        ("needs", "; ".join(skill.requires.notes)),
        ("missing here", ", ".join(details.missing)),
        ("models", "not listed; only users can invoke it" if entry.get("userOnly") else ""),
        (
            "skills",
            ", ".join(_format_dependency(name, versions) for name, versions in sorted(details.dependencies.items())),
        ),
        ("source", listed.source or "local"),
        ("digest", listed.digest),
        ("signer", details.signer),
        *(("trust", rule.text) for rule in details.trust),
        ("path", listed.path),
        ("links", ", ".join(listed.links)),
        ("tokens", f"about {body_tokens(listed) or skill.tokens}"),
    ]
    invocation.console.print_line(listed.name, bold=True)
    for key, value in rows:
        if value:
            for line in _format_field(key, sanitize(value, 1000)):
                invocation.console.print_line(line)
    invocation.console.print_line(f"  files        {len(details.files)}")
    shown = details.files if invocation.console.verbose else details.files[:MAX_FILES]
    for file in shown:
        mark = "" if file.state in {"ok", "unmanaged"} else f"  [{file.state}]"
        invocation.console.print_line(
            f"    {file.size:>9}  {sanitize(file.path)}{' *' if file.is_executable else ''}{mark}"
        )
    if more := len(details.files) - len(shown):
        invocation.console.print_line(f"    and {more} more; -v shows all")
    for finding in details.findings:
        invocation.console.warn(f"SKILL.md:{finding.line}: {finding.message}")


def _format_field(key: str, value: str) -> list[str]:
    """Return a field as lines: in a terminal, a value with a word that does not fit beside its key goes below it."""
    if sys.stdout.isatty() and max(map(display_width, value.split())) > line_width() - INDENT:
        return [f"  {key}", *wrap_text(f"    {value}", indent=4, force=True)]
    row = f"  {key:{INDENT - 3}} {value}"
    return wrap_text(row, indent=INDENT, force=True) if " " in value else [row]


def _format_dependency(name: str, requirement: Any) -> str:
    """Return the name of a dependency, with its version range, if it has one."""
    return f"{name} {requirement}" if isinstance(requirement, str) and requirement != "*" else name
