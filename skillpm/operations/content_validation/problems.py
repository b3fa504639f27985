"""What the checks of new content receive and return: skills, and the reasons not to trust them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.text import pluralize
from skillpm.core.values import Value
from skillpm.errors import FileError, NotTrusted, RefusedError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.local import read_skill_folder
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import Pin
from skillpm.formats.trust.audit_settings import AuditSettings
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.scope_fetchers import make_fetchers
from skillpm.operations.context.validation_options import ValidationOptions
from skillpm.operations.review.review_files import ScopeReviews, load_reviews
from skillpm.operations.trust.beside import find_signatures_beside
from skillpm.store import StoreDamaged

MAX_LISTED = 20
MAX_HINTS = 3


class Problem(Value):
    """One reason not to trust the content of a skill. All texts are safe to print."""

    skill: SkillName
    kind: Literal["audit", "policy", "review", "signature", "widens"]
    # What decided: a rule of the audit, a key of a policy.
    rule: str
    message: str
    # The place in the skill, or the file and key of what decided.
    where: str = ""
    # What the user can do.
    hint: str = ""
    # Whether it refuses the skill; otherwise, it is a warning.
    blocks: bool = True
    # Of the content, where the problem is in it.
    digest: str = ""
    # Of a finding of the audit.
    severity: str = ""

    @property
    def text(self) -> str:
        """Rule, place and message in one line."""
        place = f"{self.where}: " if self.where else ""
        return f"{self.rule}: {place}{self.message}"


class IncomingSkill(Value):
    """Content that is about to be installed or used, and what it replaces."""

    name: SkillName
    locked: LockedSkill
    tree: FileTree
    # What is installed now; None if nothing is.
    old: LockedSkill | None = None
    # Where it comes from for rules about places, if that is not the locked source: edited files come from their folder.
    place: Pin | None = None
    # Called at most once; see `before`.
    read_before: Callable[[], FileTree | None] = lambda: None

    @cached_property
    def digest(self) -> Digest:
        """The digest of the content."""
        return self.locked.digest or self.tree.digest

    @cached_property
    def before(self) -> FileTree | None:
        """The replaced content; None for a new skill, or if the content is no longer known."""
        return self.read_before()


def read_old_content(scope: Scope, context: Context, name: SkillName, old: LockedSkill | None) -> FileTree | None:
    """Return the content that was installed: from the store, or from the folder if it has no edits."""
    if old is None or old.digest is None:
        return None
    with suppress(StoreDamaged):
        if (tree := context.store.read(old.digest, variant_of(old.pin))) is not None:
            return tree
    with suppress(RefusedError, FileError):
        tree = read_skill_folder(scope.layout.skill_path(name), name, context.settings.limits)
        return tree if tree.digest == old.digest else None
    return None


def find_beside(scope: Scope, context: Context, skill: IncomingSkill) -> Iterator[bytes]:
    """Yield the signatures that are published beside the content of a skill, see `find_signatures_beside`."""
    fetchers = make_fetchers(scope, context)
    return find_signatures_beside(fetchers, skill.name, skill.locked, skill.tree, scope.layout)


class ValidationRequest(Value):
    """The skills to check, and the settings that apply."""

    scope: Scope
    context: Context
    incoming: Sequence[IncomingSkill]
    options: ValidationOptions
    audit: AuditSettings

    @cached_property
    def reviews(self) -> ScopeReviews:
        """All reviews that are known here; read when a check asks for them."""
        return load_reviews(self.scope, self.context)

    @property
    def today(self) -> str:
        """The date in UTC, as exceptions have it."""
        return datetime.fromtimestamp(self.context.settings.now, UTC).date().isoformat()


def refusal(problems: Sequence[Problem], outcome: str = "nothing was changed") -> NotTrusted:
    """Return the error for problems that block: one line each, and every hint once."""
    names = [*dict.fromkeys(problem.skill for problem in problems)]
    hints = [*dict.fromkeys(problem.hint for problem in problems if problem.hint)]
    if len(problems) == 1:
        message = f"`{names[0]}` is refused: {problems[0].text}"
    else:
        lines = [f"  {problem.skill}: {problem.text}" for problem in problems[:MAX_LISTED]]
        lines += [f"  and {len(problems) - MAX_LISTED} more"] if len(problems) > MAX_LISTED else []
        who = f"`{names[0]}` is" if len(names) == 1 else f"{len(names)} skills are"
        message = "\n".join([f"{who} refused for {pluralize(len(problems), 'reason')}", *lines])
    return NotTrusted(
        message,
        hint="; ".join([outcome, *hints[:MAX_HINTS]]),
        problems=[
            {key: getattr(problem, key) for key in ("skill", "kind", "rule", "message", "where", "hint", "digest")}
            for problem in problems
        ],
    )
