from skillpm.errors import SkillpmError as SkillpmError
from skillpm.operations.discovering import discover as discover
from skillpm.operations.serving import load_skill as load_skill
from skillpm.operations.serving import open_service as open_service
from skillpm.serving.answers import Loaded as Loaded
from skillpm.serving.cards import Card as Card
from skillpm.serving.discovery import Discovery as Discovery
from skillpm.serving.heads import HeadCache as HeadCache
from skillpm.serving.permissions import Rules as Rules
from skillpm.serving.registry import Registry as Registry
from skillpm.serving.service import SkillService as SkillService
from skillpm.serving.shadowing import FoundSkill as FoundSkill

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
