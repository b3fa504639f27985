"""A person's approval of a skill. Only `True` approves it; every other answer refuses it.

An `ask` that is a coroutine function is awaited by `AsyncSkillService` in its caller's event loop, between two runs of
the call: the first run ends with `ApprovalPending`, the second one knows the answer. So no thread waits for a person:
there are few, and a question may itself need one.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar

from skillpm.errors import UsageError

Ask = Callable[[str], bool | Awaitable[bool]]
# The answers that an asynchronous call has got so far, by skill; None in a synchronous call.
ANSWERS: ContextVar[Mapping[str, bool] | None] = ContextVar("skillpm_answers", default=None)


class ApprovalPending(Exception):
    """The answer has to be awaited; `AsyncSkillService` does so. Not an error that answers of a tool explain."""

    def __init__(self, name: str, answer: Awaitable[bool]) -> None:
        super().__init__(name)
        self.name = name
        self.answer = answer


def is_approved(ask: Ask, name: str) -> bool:
    """Return whether a person approves a skill.

    Raises `UsageError` if the answer has to be awaited, and the call was not made by `AsyncSkillService`.
    """
    answers = ANSWERS.get()
    if answers is not None and name in answers:
        return answers[name]
    try:
        answer = ask(name)
    except TimeoutError:
        return False
    if not isinstance(answer, Awaitable):
        return answer is True
    if answers is not None:
        raise ApprovalPending(name, answer)
    if close := getattr(answer, "close", None):
        close()  # else Python warns of a coroutine that was never awaited
    raise UsageError(
        "`ask` returned a coroutine, which a synchronous service cannot await",
        hint="use `AsyncSkillService`, or an `ask` that returns True or False",
    )
