"""What stands between an agent and a skill it asked for: it is not there, it is forbidden, or a person must say yes."""

from collections.abc import Sequence

from skillpm.core.text import sanitize
from skillpm.errors import NotAllowedError, NotFoundError
from skillpm.serving.permissions import Decision


class SkillNotFound(NotFoundError):
    """No visible skill is called so; `similar` ones are."""

    def __init__(self, name: str, similar: Sequence[str]) -> None:
        near = ", ".join(sanitize(word, 64) for word in similar)
        hint = f"did you mean {near}?" if similar else "`skillpm list` shows what is there"
        super().__init__(f"there is no skill `{sanitize(name, 80)}` here", hint=hint)
        self.name = name
        self.similar = tuple(similar)


class AmbiguousSkillName(NotFoundError):
    """A part of a name means several skills; none is guessed."""

    MAX_NAMES = 20

    def __init__(self, name: str, names: Sequence[str]) -> None:
        named = ", ".join(sanitize(word, 64) for word in names[: self.MAX_NAMES])
        more = f" and {len(names) - self.MAX_NAMES} more" if len(names) > self.MAX_NAMES else ""
        super().__init__(f"`{sanitize(name, 80)}` may be one of {named}{more}", hint="give the whole name")
        self.name = name
        self.names = tuple(names)


class SkillForbidden(NotAllowedError):
    """A rule denies this name, whether there is such a skill or not."""

    def __init__(self, name: str, decision: Decision) -> None:
        super().__init__(
            f"`{sanitize(name, 80)}` is not allowed by permissions",
            where="" if decision.rule is None else decision.rule.where,
            hint="whoever set the rule can change it",
        )
        self.name = name


class ConfirmationRequired(NotAllowedError):
    """A rule wants a person to be asked, and there was nobody, or the answer was no."""

    def __init__(self, name: str, decision: Decision, *, was_asked: bool) -> None:
        why = "was not approved" if was_asked else "needs a person's approval, and nobody can be asked here"
        super().__init__(
            f"`{sanitize(name, 80)}` {why}",
            where="" if decision.rule is None else decision.rule.where,
            hint=f'to allow it for good, add `"{sanitize(name, 80)}": "allow"` behind that rule',
        )
        self.name = name
