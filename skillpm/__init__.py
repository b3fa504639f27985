"""skillpm: the package manager for agent skills.

From Python: `from skillpm import Registry, SkillService, discover, load_skill, open_service` (docs/guides/python.md).
Importing the package loads nothing: each name is loaded on first use. `__all__` names what agents need; the other
names of `_HOMES` can be imported, too.
"""

__version__ = "0.1.0"

# Where each public name is defined.
_NAMES = {
    "skillpm.agent_hosts.discover": "discover",
    "skillpm.agent_hosts.discovery": "Discovery",
    "skillpm.agent_hosts.shadowed_skills": "FoundSkill",
    "skillpm.errors": (
        "BlockedError BusyError ConflictError DigestMismatch DigestMismatches DocumentChanged DocumentError "
        "FetchError FileError LockfileOutdated ManySkillsError MissingSkill NewerDocument NotAllowedError "
        "NotFoundError NotMirroredError NotTrusted OfflineError RefusedError SeveralNotFound SeveralRefused "
        "SignatureError SkillpmError UnknownSkillError UsageError WebPageError"
    ),
    "skillpm.operations.serve": "load_skill open_service",
    "skillpm.registry.card": "Card McpServer",
    "skillpm.registry.directory_registry": "Registry",
    "skillpm.registry.frontmatter_cache": "HeadCache",
    "skillpm.serving.access_errors": (
        "AmbiguousSkillName ConfirmationRequired SkillBlocked SkillFileNotFound SkillForbidden SkillNotFound"
    ),
    "skillpm.serving.async_service": "AsyncSkillService",
    "skillpm.serving.live_permissions": "EffectivePermissions",
    "skillpm.serving.permissions": "Decision Rule Rules",
    "skillpm.serving.projects": "Project Role ensure_projects_dir get_project_instructions load_projects",
    "skillpm.serving.renderers.base": "SkillSummary",
    "skillpm.serving.results": "Loaded Match Prompt ToolResult",
    "skillpm.serving.service": "SkillService",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
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
