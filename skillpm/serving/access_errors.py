"""The errors of an agent's request for a skill: not found, ambiguous, forbidden, or not approved."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import did_you_mean
from skillpm.core.text import sanitize
from skillpm.errors import NotAllowedError, NotFoundError, SkillpmError, UsageError
from skillpm.serving.permissions import Decision

if TYPE_CHECKING:
    from skillpm.formats.trust.policy import BlockedContent

SEPARATOR = lazy_pattern(r"[/\\]")


class SkillNotFound(NotFoundError):
    """No visible skill has this name; `similar` are visible ones with similar names.

    If the skill is there but disabled, `enable_command` enables it.
    """

    def __init__(self, name: str, similar: Sequence[str], *, enable_command: str = "") -> None:
        shown = sanitize(name, 80)
        if enable_command:
            super().__init__(f"skill `{shown}` is disabled", hint=f"to use it, run `{enable_command}`")
        else:
            hint = did_you_mean(similar) or "run `skillpm list` to see the available skills"
            super().__init__(f"skill `{shown}` not found", hint=hint)
        self.name = name
        self.similar = tuple(similar)


class SkillFileNotFound(NotFoundError):
    """A skill has no file of this path; `similar` are paths like it."""

    def __init__(self, name: str, path: str, similar: Sequence[str]) -> None:
        hint = did_you_mean(similar) or f"`skillpm load {shell_word(name)}` lists its files"
        super().__init__(f"`{sanitize(name, 80)}` has no file `{sanitize(path, 200)}`", hint=hint, skills=[name])
        self.name = name
        self.path = path
        self.similar = tuple(similar)


class AmbiguousSkillName(NotFoundError):
    """A partial name matches several skills; none of them is chosen."""

    MAX_NAMES = 20

    def __init__(self, name: str, names: Sequence[str]) -> None:
        listed = ", ".join(sanitize(candidate, 64) for candidate in names[: self.MAX_NAMES])
        more = f" and {len(names) - self.MAX_NAMES} more" if len(names) > self.MAX_NAMES else ""
        super().__init__(f"`{sanitize(name, 80)}` is ambiguous: {listed}{more}", hint="use the full name")
        self.name = name
        self.names = tuple(names)


class SkillForbidden(NotAllowedError):
    """A rule denies this name, whether or not such a skill exists."""

    def __init__(self, name: str, decision: Decision) -> None:
        super().__init__(
            f"`{sanitize(name, 80)}` is not allowed by permissions",
            where="" if decision.rule is None else decision.rule.where,
            hint="the owner of that rule can change it",
        )
        self.name = name


class SkillBlocked(NotAllowedError):
    """A policy blocks a skill, by its name or by the digest of its content.

    Its code is its own: a rule denies what an agent should not use, a policy blocks what is harmful.
    """

    code = "blocked"

    def __init__(self, name: str, blocked: "BlockedContent") -> None:
        shown = sanitize(name, 80)
        super().__init__(
            f"`{shown}` is blocked by policy: {sanitize(blocked.reason)}",
            where=sanitize(blocked.where, 300),
            hint="the owner of that policy can change it; `skillpm policy check` lists all skills that it forbids",
            skills=[name],
        )
        self.name = name


class ConfirmationRequired(NotAllowedError):
    """A rule requires a person's approval, which was refused or could not be asked for."""

    def __init__(self, name: str, decision: Decision, *, was_asked: bool) -> None:
        outcome = "was not approved" if was_asked else "requires a person's approval, which cannot be requested here"
        super().__init__(
            f"`{sanitize(name, 80)}` {outcome}",
            where="" if decision.rule is None else decision.rule.where,
            hint=f'to always allow it, add `"{sanitize(name, 80)}": "allow"` after that rule',
        )
        self.name = name


class WrongType(UsageError, TypeError):
    """A program passes an argument of another type than the method takes."""


def require_text(value: object, what: str) -> None:
    """Raise `WrongType` for what a program passes instead of a text."""
    if not isinstance(value, str):
        raise WrongType(f"{what} is a string, not of type {type(value).__name__}")


def explain(error: SkillpmError, *, is_remote: bool = False) -> str:
    """Return what happened and where; for a client on another machine, without a folder of this one."""
    if is_remote:
        is_safe = isinstance(error, (NotFoundError, NotAllowedError)) or not SEPARATOR.search(error.message)
        file = SEPARATOR.split(error.where)[-1].partition(": ")[0]
        return (error.message if is_safe else "its log has the reason") + (f" ({sanitize(file)})" if file else "")
    return f"{error.message} ({sanitize(error.where, 300)})" if error.where else error.message
