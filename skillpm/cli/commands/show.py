"""`skillpm show`."""

from typing import Any

import click

from skillpm.cli.commands.list import listed_value
from skillpm.cli.options import Call, call_of, reading
from skillpm.cli.text_layout import wrapped
from skillpm.core.text import show
from skillpm.operations.inspect.list import tokens_of, version_of
from skillpm.operations.inspect.show import Shown, show_skill
from skillpm.registry.metadata_overlay import GENERAL


@click.command(
    epilog="""\b
Examples:
  skillpm show code-review          what it is, where it came from, its files
  skillpm show code-review --json   for programs"""
)
@click.argument("name")
@reading
def command(name: str, **flags: Any) -> None:
    """Show one skill: metadata, where from, files, size in tokens."""
    call = call_of(flags)
    shown = show_skill(call.scope, call.tools, name)
    if call.console.as_json:
        call.console.data(_value(shown))
    else:
        _tell(call, shown)


def _value(shown: Shown) -> dict[str, Any]:
    requires = shown.skill.requires
    value = {
        **listed_value(shown.listed),
        "frontmatter": dict(shown.skill.frontmatter),
        "requires": list(requires.bins),
        "needs": {
            "anyBins": list(requires.any_bins),
            "env": list(requires.env),
            "config": list(requires.config),
            "os": list(requires.os),
            "mcp": list(requires.mcp),
            "notes": list(requires.notes),
        },
        "available": shown.available,
        "dependencies": shown.dependencies,
        "files": [
            {
                "path": file.path,
                "size": file.size,
                "digest": file.digest,
                "executable": file.executable,
                "state": file.state,
            }
            for file in shown.files
        ],
        "warnings": [
            {"code": finding.code, "message": finding.message, "line": finding.line} for finding in shown.findings
        ],
    }
    return {**value, "index": shown.index} if shown.index else value


def _tell(call: Call, shown: Shown) -> None:
    skill, listed, entry = shown.skill, shown.listed, shown.listed.entry
    missing = f" (not on PATH: {', '.join(shown.missing_programs)})" if shown.missing_programs else ""
    rows = [
        ("version", version_of(listed)),
        ("locked", f"{listed.locked} (`skillpm sync{call.scope.flag}` installs it)" if listed.locked else ""),
        ("index", shown.index),
        ("state", listed.state),
        ("calls itself", entry.get("declaredName", "")),
        ("description", show(skill.description or entry["description"], 1000)),
        ("category", skill.category or (entry["category"] if entry["category"] != GENERAL else "")),
        ("license", skill.license),
        ("author", skill.author),
        ("homepage", skill.homepage),
        ("triggers", ", ".join(entry["triggers"] or skill.triggers)),
        ("requires", ", ".join(skill.requires.bins) + missing),
        ("any of", ", ".join(skill.requires.any_bins)),
        ("environment", ", ".join(skill.requires.env)),
        ("config", ", ".join(skill.requires.config)),
        ("systems", ", ".join(skill.requires.os)),
        ("mcp servers", ", ".join(skill.requires.mcp)),
        ("needs", "; ".join(skill.requires.notes)),
        ("models", "are not told of it; people invoke it" if entry.get("userOnly") else ""),
        ("skills", ", ".join(_needed(name, wanted) for name, wanted in sorted(shown.dependencies.items()))),
        ("source", listed.source or "made by hand"),
        ("digest", listed.digest),
        ("path", listed.path),
        ("links", ", ".join(listed.links)),
        ("tokens", f"about {tokens_of(listed) or skill.tokens}"),
    ]
    call.console.line(listed.name, bold=True)
    for key, value in rows:
        if value:
            row = f"  {key:12} {show(value, 1000)}"
            for line in wrapped(row, indent=15, always=True) if " " in value else [row]:
                call.console.line(line)
    call.console.line(f"  files        {len(shown.files)}")
    for file in shown.files:
        mark = "" if file.state in {"ok", "unmanaged"} else f"  [{file.state}]"
        call.console.line(f"    {file.size:>9}  {show(file.path)}{' *' if file.executable else ''}{mark}")
    for finding in shown.findings:
        call.console.warning(f"SKILL.md:{finding.line}: {finding.message}")


def _needed(name: str, wanted: Any) -> str:
    """Name a skill that this one needs, and which versions of it, where that is a range."""
    return f"{name} {wanted}" if isinstance(wanted, str) and wanted != "*" else name
