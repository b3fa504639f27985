from skillpm.errors import SkillpmError as SkillpmError
from skillpm.operations.discovering import discover as discover
from skillpm.serving.discovery import Discovery as Discovery
from skillpm.serving.heads import HeadCache as HeadCache
from skillpm.serving.shadowing import FoundSkill as FoundSkill

__version__: str
__all__ = ["Discovery", "FoundSkill", "HeadCache", "SkillpmError", "__version__", "discover"]
