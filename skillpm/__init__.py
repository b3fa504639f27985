"""skillpm: the package manager for agent skills.

From Python: `from skillpm import Registry, SkillService, discover, load_skill, open_service` (docs/guides/python.md).
Importing the package loads nothing: each name is loaded on first use. `__all__` names what agents need; the other
names of `_HOMES` can be imported, too.
"""

__version__ = "0.1.0"

_HOMES = {
    "AmbiguousSkillName": "skillpm.serving.access_errors",
    "AsyncSkillService": "skillpm.serving.async_service",
    "BlockedError": "skillpm.errors",
    "BusyError": "skillpm.errors",
    "Card": "skillpm.registry.card",
    "ConfirmationRequired": "skillpm.serving.access_errors",
    "ConflictError": "skillpm.errors",
    "Decision": "skillpm.serving.permissions",
    "DigestMismatch": "skillpm.errors",
    "DigestMismatches": "skillpm.errors",
    "Discovery": "skillpm.agent_hosts.discovery",
    "DocumentChanged": "skillpm.errors",
    "DocumentError": "skillpm.errors",
    "EffectivePermissions": "skillpm.serving.live_permissions",
    "FetchError": "skillpm.errors",
    "FileError": "skillpm.errors",
    "FoundSkill": "skillpm.agent_hosts.shadowed_skills",
    "HeadCache": "skillpm.registry.frontmatter_cache",
    "Loaded": "skillpm.serving.results",
    "LockfileOutdated": "skillpm.errors",
    "ManySkillsError": "skillpm.errors",
    "Match": "skillpm.serving.results",
    "McpServer": "skillpm.registry.card",
    "MissingSkill": "skillpm.errors",
    "NewerDocument": "skillpm.errors",
    "NotAllowedError": "skillpm.errors",
    "NotFoundError": "skillpm.errors",
    "NotMirroredError": "skillpm.errors",
    "NotTrusted": "skillpm.errors",
    "OfflineError": "skillpm.errors",
    "Project": "skillpm.serving.projects",
    "Prompt": "skillpm.serving.results",
    "RefusedError": "skillpm.errors",
    "Registry": "skillpm.registry.directory_registry",
    "Role": "skillpm.serving.projects",
    "Rule": "skillpm.serving.permissions",
    "Rules": "skillpm.serving.permissions",
    "SeveralNotFound": "skillpm.errors",
    "SeveralRefused": "skillpm.errors",
    "SignatureError": "skillpm.errors",
    "SkillBlocked": "skillpm.serving.access_errors",
    "SkillFileNotFound": "skillpm.serving.access_errors",
    "SkillForbidden": "skillpm.serving.access_errors",
    "SkillNotFound": "skillpm.serving.access_errors",
    "SkillService": "skillpm.serving.service",
    "SkillSummary": "skillpm.serving.renderers.base",
    "SkillpmError": "skillpm.errors",
    "ToolResult": "skillpm.serving.results",
    "UsageError": "skillpm.errors",
    "WebPageError": "skillpm.errors",
    "discover": "skillpm.agent_hosts.discover",
    "ensure_projects_dir": "skillpm.serving.projects",
    "get_project_instructions": "skillpm.serving.projects",
    "load_projects": "skillpm.serving.projects",
    "load_skill": "skillpm.operations.serve",
    "open_service": "skillpm.operations.serve",
}
__all__ = [
    "AsyncSkillService",
    "Card",
    "ConfirmationRequired",
    "Loaded",
    "Match",
    "NotTrusted",
    "Prompt",
    "Registry",
    "Rules",
    "SkillBlocked",
    "SkillFileNotFound",
    "SkillForbidden",
    "SkillNotFound",
    "SkillService",
    "SkillSummary",
    "SkillpmError",
    "ToolResult",
    "UsageError",
    "__version__",
    "discover",
    "load_skill",
    "open_service",
]


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'skillpm' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  (importing the package loads nothing)

    thing: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return __all__
