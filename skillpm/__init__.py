"""skillpm: the package manager for agent skills.

From Python: `from skillpm import Registry, SkillService, discover, load_skill, open_service` (docs/guides/python.md).
Importing the package loads nothing: each name is loaded on first use.
"""

__version__ = "0.1.0"

_HOMES = {
    "Card": "skillpm.registry.card",
    "Discovery": "skillpm.agent_hosts.discovery",
    "FoundSkill": "skillpm.agent_hosts.shadowed_skills",
    "HeadCache": "skillpm.registry.frontmatter_cache",
    "Loaded": "skillpm.serving.results",
    "Registry": "skillpm.registry.directory_registry",
    "Rules": "skillpm.serving.permissions",
    "SkillService": "skillpm.serving.service",
    "SkillpmError": "skillpm.errors",
    "discover": "skillpm.operations.discover",
    "load_skill": "skillpm.operations.serve",
    "open_service": "skillpm.operations.serve",
}
__all__ = [
    "Card",
    "Discovery",
    "FoundSkill",
    "HeadCache",
    "Loaded",
    "Registry",
    "Rules",
    "SkillService",
    "SkillpmError",
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
