"""Output of `show SPEC`: a skill that is not installed."""

from typing import Any

from skillpm.cli.console import Console
from skillpm.cli.text_layout import wrap_text
from skillpm.core.text import sanitize
from skillpm.installer.actions import version_label
from skillpm.operations.inspect.show_remote import RemoteSkill

MAX_VALUE = 5_000  # characters


def print_remote(console: Console, remote: RemoteSkill) -> None:
    """Print metadata, what the skill may do, and its files. In a pipe, each value is one whole line."""
    skill, found, locked = remote.skill, remote.capabilities, remote.locked
    tools = "" if found.tools is None else ", ".join(found.tools) or "none"
    rows = [
        ("version", version_label(locked)),
        ("calls itself", skill.declared if skill.declared != remote.name else ""),
        ("description", skill.description),
        ("license", skill.license),
        ("author", skill.author),
        ("homepage", skill.homepage),
        ("requires", ", ".join(skill.requires.bins)),
        ("skills", ", ".join(sorted(locked.dependencies))),
        ("source", locked.pin.describe()),
        ("digest", locked.digest or ""),
        ("tokens", f"about {skill.tokens}"),
        ("tools", tools),
        ("hooks", ", ".join(found.hooks)),
        ("commands", ", ".join(found.commands)),
        ("programs", ", ".join(found.executables)),
        ("mcp servers", ", ".join(found.mcp_servers)),
        ("manifests", ", ".join(found.host_manifests)),
        ("hosts", ", ".join(found.hosts)),
        ("environment", ", ".join(found.variables)),
        ("models", "" if found.is_for_models else "not listed; only users can invoke it"),
        ("files", str(len(remote.tree.files))),
    ]
    console.print_line(remote.name, bold=True)
    for key, value in rows:
        if value:
            row = f"  {key:12} {sanitize(value, MAX_VALUE)}"
            for line in wrap_text(row, indent=15, is_stdout=True):
                console.print_line(line)
    for file in remote.tree.files:
        console.print_line(f"    {len(file.data):>9}  {sanitize(file.path)}{' *' if file.executable else ''}")
    for finding in skill.findings:
        console.warn(f"{remote.tree.skill_file}:{finding.line}: {finding.message}")


def remote_to_json(remote: RemoteSkill) -> dict[str, Any]:
    """Return a skill that is not installed as JSON."""
    skill, found, pin = remote.skill, remote.capabilities, remote.locked.pin
    files = [
        {
            "path": file.path,
            "size": len(file.data),
            "digest": f"sha256:{file.content_hash}",
            "executable": file.executable,
        }
        for file in remote.tree.files
    ]
    return {
        "name": remote.name,
        "version": remote.locked.version,
        "description": skill.description,
        "license": skill.license,
        "source": pin.describe(),
        "commit": pin.commit_id,
        "digest": remote.locked.digest or "",
        "state": "not-installed",
        "tokens": skill.tokens,
        "frontmatter": dict(skill.frontmatter),
        "dependencies": dict(remote.locked.dependencies),
        "capabilities": {
            "tools": None if found.tools is None else list(found.tools),
            "hooks": list(found.hooks),
            "commands": list(found.commands),
            "executables": list(found.executables),
            "mcpServers": list(found.mcp_servers),
            "hostManifests": list(found.host_manifests),
            "hosts": list(found.hosts),
            "variables": list(found.variables),
            "models": found.is_for_models,
            "overfull": list(found.overfull),
        },
        "files": files,
        "warnings": [
            {"code": finding.code, "message": finding.message, "line": finding.line} for finding in skill.findings
        ],
    }
