from skillpm.agent_hosts.discovery import Discovery as Discovery
from skillpm.agent_hosts.shadowed_skills import FoundSkill as FoundSkill
from skillpm.errors import SkillpmError as SkillpmError
from skillpm.operations.discover import discover as discover
from skillpm.operations.serve import load_skill as load_skill
from skillpm.operations.serve import open_service as open_service
from skillpm.registry.card import Card as Card
from skillpm.registry.directory_registry import Registry as Registry
from skillpm.registry.frontmatter_cache import HeadCache as HeadCache
from skillpm.serving.permissions import Rules as Rules
from skillpm.serving.results import Loaded as Loaded
from skillpm.serving.service import SkillService as SkillService

__version__: str
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
