"""Build a registry entry from a SKILL.md and its record in the receipt. Pure."""

from skillpm.core.digest import Digest
from skillpm.core.text import sanitize
from skillpm.formats.registry import RegistryEntry, normalize_entry
from skillpm.kinds.base import Pin
from skillpm.registry.metadata_overlay import DEFAULT_CATEGORY, select_checkable_needs
from skillpm.skillmd.skill import Skill, read_skill


def build_entry(
    name: str, file_path: str, data: bytes, *, pin: Pin | None, digest: Digest | None, version: str = ""
) -> RegistryEntry:
    """Return the registry entry of a skill whose SKILL.md is at `file_path`, relative to the skills directory.

    `pin` and `digest` come from the receipt: `pin` is None for an unmanaged skill, and `digest` is None for an edited
    one, whose recorded digest does not apply any more. Raises `NotLoadable`.
    """
    skill = read_skill(data)
    return normalize_entry(
        RegistryEntry(
            name=name,
            category=skill.category or DEFAULT_CATEGORY,
            description=skill.description,
            triggers=list(skill.triggers),
            filePath=file_path,
            declaredName=sanitize(skill.declared) if skill.declared != name else "",
            version=version or skill.version,
            license=skill.license,
            compatibility=skill.compatibility,
            homepage=skill.homepage,
            author=skill.author,
            tags=list(skill.tags),
            requires=list(skill.requires.bins),
            needs=select_checkable_needs(skill.requires),
            allowedTools=list(skill.allowed_tools),
            userOnly=is_for_users_only(skill),
            mcpServers={
                server.name: {"command": server.command, "args": list(server.args)} for server in skill.mcp_servers
            },
            metadata=dict(skill.metadata),
            digest=digest or "",
            source="" if pin is None else pin.describe(),
            tokens=skill.tokens,
        )
    )


def is_for_models_only(skill: Skill) -> bool:
    """Return whether users may not invoke a skill: `user-invocable: false`, as Claude Code defines it."""
    return str(skill.extra.get("user-invocable", "")).casefold() in {"false", "no", "off"}


def is_for_users_only(skill: Skill) -> bool:
    """Return whether only users may invoke a skill: `disable-model-invocation: true`, as Claude Code defines it."""
    return str(skill.extra.get("disable-model-invocation", "")).casefold() in {"true", "yes", "on"}
