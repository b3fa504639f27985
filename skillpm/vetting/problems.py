"""What the checks of new content receive and return: skills, and the reasons not to trust them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.text import pluralize, sanitize
from skillpm.core.values import Value
from skillpm.errors import FileError, NotTrusted, RefusedError
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.trust.audit_settings import AuditSettings
from skillpm.kinds.base import Pin
from skillpm.scope.project import Project
from skillpm.store import StoreDamaged
from skillpm.vetting.validation_options import ValidationOptions

if TYPE_CHECKING:
    from skillpm.audit.model import AuditFinding
    from skillpm.vetting.review_files import ScopeReviews

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
    # File and key of the policy that blocks a finding, regardless of exceptions and options.
    policy: str = ""

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
    # What its folder has more of than could be read.
    excess: str = ""
    # Called at most once; see `before`.
    read_before: Callable[[], FileTree | None] = lambda: None

    @cached_property
    def source(self) -> Pin:
        """Where it comes from for rules about places. What another skillpm bundled is a folder of the project."""
        from skillpm.fetchers.bundled import is_bundled_content  # noqa: PLC0415  (few skills are bundled)

        name = self.locked.pin.bundled_name
        if self.place is not None or not name:
            return self.place or self.locked.pin
        from skillpm.kinds.local import PathPin  # noqa: PLC0415

        return self.locked.pin if is_bundled_content(self.locked) else PathPin(path=name)

    @cached_property
    def digest(self) -> Digest:
        """The digest of the content."""
        return self.locked.digest or self.tree.digest

    @cached_property
    def before(self) -> FileTree | None:
        """The replaced content; None for a new skill, or if the content is no longer known."""
        return self.read_before()


def read_old_content(project: Project, name: SkillName, old: LockedSkill | None) -> FileTree | None:
    """Return the content that was installed: from the store, or from the folder if it has no edits."""
    if old is None or old.digest is None:
        return None
    with suppress(StoreDamaged):
        if (tree := project.store.read(old.digest, old.pin.store_variant())) is not None:
            return tree
    from skillpm.fetchers.packages.local import read_skill_folder  # noqa: PLC0415  (pathspec)

    with suppress(RefusedError, FileError):
        tree = read_skill_folder(project.layout.skill_path(name), name, project.settings.limits)
        return tree if tree.digest == old.digest else None
    return None


class ValidationRequest(Value):
    """The skills to check, and the settings that apply."""

    project: Project
    incoming: Sequence[IncomingSkill]
    options: ValidationOptions
    audit: AuditSettings

    @cached_property
    def reviews(self) -> "ScopeReviews":
        """All reviews that are known here; read when a check asks for them."""
        from skillpm.vetting.review_files import load_reviews  # noqa: PLC0415  (only where a rule asks)

        return load_reviews(self.project)

    @cached_property
    def findings(self) -> "dict[Digest, Sequence[AuditFinding]]":
        """The findings of the audit that were read so far, by the digest of the content."""
        return {}

    @property
    def today(self) -> str:
        """The date in UTC, as exceptions have it."""
        return datetime.fromtimestamp(self.project.settings.now, UTC).date().isoformat()


def policy_hint(problems: Sequence[Problem]) -> str:
    """Return which policies block findings of the audit, and what helps; empty if none does."""
    rules: dict[str, list[str]] = {}
    for problem in problems:
        if problem.policy and problem.rule not in rules.setdefault(problem.policy, []):
            rules[problem.policy].append(problem.rule)
    blocked = " and ".join(f"{sanitize(where, 300)} blocks {', '.join(each)}" for where, each in rules.items())
    return f"{blocked}, which no option overrides; the owner of that policy can change it" if rules else ""


def refusal(problems: Sequence[Problem], outcome: str = "nothing was changed") -> NotTrusted:
    """Return the error for problems that block: one line each, and every hint once."""
    names = [*dict.fromkeys(problem.skill for problem in problems)]
    hints = [*dict.fromkeys(problem.hint for problem in problems if problem.hint)]
    reasons = _list_reasons(problems)
    if len(reasons) == 1:
        message = f"`{names[0]}` is refused: {reasons[0][1]}"
    else:
        lines = [f"  {name}: {text}" for name, text in reasons[:MAX_LISTED]]
        lines += [f"  and {len(reasons) - MAX_LISTED} more"] if len(reasons) > MAX_LISTED else []
        who = f"`{names[0]}` is" if len(names) == 1 else f"{len(names)} skills are"
        message = "\n".join([f"{who} refused for {pluralize(len(reasons), 'reason')}", *lines])
    return NotTrusted(
        message,
        hint="; ".join([outcome, *hints[:MAX_HINTS]]),
        problems=[
            {key: getattr(problem, key) for key in ("skill", "kind", "rule", "message", "where", "hint", "digest")}
            for problem in problems
        ],
    )


def _list_reasons(problems: Sequence[Problem]) -> list[tuple[str, str]]:
    """Return skill and text of each reason; what the audit finds in a skill is one, by its first finding."""
    found: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.kind == "audit":
            found.setdefault(problem.skill, []).append(problem)
    reasons: list[tuple[str, str]] = []
    for problem in problems:
        if problem.kind != "audit":
            reasons.append((problem.skill, problem.text))
        elif each := found.pop(problem.skill, []):
            more = f"; and {len(each) - 1} more" if len(each) > 1 else ""
            reasons.append((problem.skill, f"{problem.text}{more}"))
    return reasons
