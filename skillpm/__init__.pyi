from skillpm.agent_hosts.discover import discover as discover
from skillpm.agent_hosts.discovery import Discovery as Discovery
from skillpm.agent_hosts.shadowed_skills import FoundSkill as FoundSkill
from skillpm.errors import BlockedError as BlockedError
from skillpm.errors import BusyError as BusyError
from skillpm.errors import ConflictError as ConflictError
from skillpm.errors import DigestMismatch as DigestMismatch
from skillpm.errors import DigestMismatches as DigestMismatches
from skillpm.errors import DocumentChanged as DocumentChanged
from skillpm.errors import DocumentError as DocumentError
from skillpm.errors import FetchError as FetchError
from skillpm.errors import FileError as FileError
from skillpm.errors import LockfileOutdated as LockfileOutdated
from skillpm.errors import ManySkillsError as ManySkillsError
from skillpm.errors import MissingSkill as MissingSkill
from skillpm.errors import NewerDocument as NewerDocument
from skillpm.errors import NotAllowedError as NotAllowedError
from skillpm.errors import NotFoundError as NotFoundError
from skillpm.errors import NotMirroredError as NotMirroredError
from skillpm.errors import NotTrusted as NotTrusted
from skillpm.errors import OfflineError as OfflineError
from skillpm.errors import RefusedError as RefusedError
from skillpm.errors import SeveralNotFound as SeveralNotFound
from skillpm.errors import SeveralRefused as SeveralRefused
from skillpm.errors import SignatureError as SignatureError
from skillpm.errors import SkillpmError as SkillpmError
from skillpm.errors import UsageError as UsageError
from skillpm.errors import WebPageError as WebPageError
from skillpm.operations.serve import load_skill as load_skill
from skillpm.operations.serve import open_service as open_service
from skillpm.registry.card import Card as Card
from skillpm.registry.card import McpServer as McpServer
from skillpm.registry.directory_registry import Registry as Registry
from skillpm.registry.frontmatter_cache import HeadCache as HeadCache
from skillpm.serving.access_errors import AmbiguousSkillName as AmbiguousSkillName
from skillpm.serving.access_errors import ConfirmationRequired as ConfirmationRequired
from skillpm.serving.access_errors import SkillBlocked as SkillBlocked
from skillpm.serving.access_errors import SkillFileNotFound as SkillFileNotFound
from skillpm.serving.access_errors import SkillForbidden as SkillForbidden
from skillpm.serving.access_errors import SkillNotFound as SkillNotFound
from skillpm.serving.async_service import AsyncSkillService as AsyncSkillService
from skillpm.serving.live_permissions import EffectivePermissions as EffectivePermissions
from skillpm.serving.permissions import Decision as Decision
from skillpm.serving.permissions import Rule as Rule
from skillpm.serving.permissions import Rules as Rules
from skillpm.serving.projects import Project as Project
from skillpm.serving.projects import Role as Role
from skillpm.serving.projects import ensure_projects_dir as ensure_projects_dir
from skillpm.serving.projects import get_project_instructions as get_project_instructions
from skillpm.serving.projects import load_projects as load_projects
from skillpm.serving.renderers.base import SkillSummary as SkillSummary
from skillpm.serving.results import Loaded as Loaded
from skillpm.serving.results import Match as Match
from skillpm.serving.results import Prompt as Prompt
from skillpm.serving.results import ToolResult as ToolResult
from skillpm.serving.service import SkillService as SkillService

__version__: str
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
