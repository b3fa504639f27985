"""What stands between an agent and a skill it asked for: it is not there, it is forbidden, or a person must say yes."""

from collections.abc import Sequence

from skillpm.core.text import show
from skillpm.errors import NotAllowedError, NotFoundError
from skillpm.serving.permissions import Decision


class NoSuchSkill(NotFoundError):
    """No visible skill is called so; `similar` ones are."""

    def __init__(self, name: str, similar: Sequence[str]) -> None:
        near = ", ".join(show(word, 64) for word in similar)
        hint = f"did you mean {near}?" if similar else "`skillpm list` shows what is there"
        super().__init__(f"there is no skill `{show(name, 80)}` here", hint=hint)
        self.name = name
        self.similar = tuple(similar)


class SeveralSkills(NotFoundError):
    """A part of a name means several skills; none is guessed."""

    MOST_NAMED = 20

    def __init__(self, name: str, names: Sequence[str]) -> None:
        named = ", ".join(show(word, 64) for word in names[: self.MOST_NAMED])
        more = f" and {len(names) - self.MOST_NAMED} more" if len(names) > self.MOST_NAMED else ""
        super().__init__(f"`{show(name, 80)}` may be one of {named}{more}", hint="give the whole name")
        self.name = name
        self.names = tuple(names)


class Forbidden(NotAllowedError):
    """A rule denies this name, whether there is such a skill or not."""

    def __init__(self, name: str, decision: Decision) -> None:
        super().__init__(
            f"`{show(name, 80)}` is not allowed by permissions",
            where="" if decision.rule is None else decision.rule.where,
            hint="whoever set the rule can change it",
        )
        self.name = name


class NeedsYes(NotAllowedError):
    """A rule wants a person to be asked, and there was nobody, or the answer was no."""

    def __init__(self, name: str, decision: Decision, *, was_asked: bool) -> None:
        why = "was not approved" if was_asked else "needs a person's approval, and nobody can be asked here"
        super().__init__(
            f"`{show(name, 80)}` {why}",
            where="" if decision.rule is None else decision.rule.where,
            hint=f'to allow it for good, add `"{show(name, 80)}": "allow"` behind that rule',
        )
        self.name = name
