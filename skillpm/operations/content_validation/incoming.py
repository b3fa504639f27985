"""Content validation: every skill whose content is about to be installed or used passes the same checks.

They run after the content was fetched and verified, and before anything is staged. All problems of all skills are
collected, so that one run shows everything; then nothing is installed.
"""

from collections.abc import Callable, Iterable, Sequence

from skillpm.operations.content_validation.allowed import remember_allowed
from skillpm.operations.content_validation.audited import find_audit_problems
from skillpm.operations.content_validation.policy_rules import find_forbidden
from skillpm.operations.content_validation.problems import IncomingSkill, Problem, ValidationRequest, refusal
from skillpm.operations.content_validation.signatures import find_bad_signatures
from skillpm.operations.content_validation.widened import find_widened
from skillpm.operations.context.audit_settings import load_audit_settings
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.context.trust_settings import require_key_files
from skillpm.operations.pipeline.plan import ValidationOptions

Check = Callable[[ValidationRequest], Iterable[Problem]]

# In the order in which their problems are reported.
CHECKS: tuple[Check, ...] = (find_forbidden, find_bad_signatures, find_audit_problems, find_widened)


def check_incoming(
    scope: Scope, context: Context, incoming: Sequence[IncomingSkill], options: ValidationOptions
) -> None:
    """Raise `NotTrusted` with every problem of every skill; report the warnings. Changes nothing."""
    problems = find_problems(scope, context, incoming, options)
    for problem in problems:
        if not problem.blocks:
            context.reporter.warn(f"{problem.skill}: {problem.text}")
    if blocking := [problem for problem in problems if problem.blocks]:
        raise refusal(blocking)
    for skill in incoming if options.allow else ():
        remember_allowed(context.settings.cache_dir, skill.digest, options.allow)


def find_problems(
    scope: Scope, context: Context, incoming: Sequence[IncomingSkill], options: ValidationOptions
) -> list[Problem]:
    """Return every problem of every skill."""
    if not incoming:
        return []
    require_key_files(scope, context.settings)
    audit = load_audit_settings(scope, context.settings)
    request = ValidationRequest(scope=scope, context=context, incoming=incoming, options=options, audit=audit)
    return [problem for check in CHECKS for problem in check(request)]


def refusal_messages(problems: Sequence[Problem]) -> list[str]:
    """Return a warning for each skill that an installation would refuse, with its first problem."""
    by_skill: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.blocks:
            by_skill.setdefault(problem.skill, []).append(problem)
    return [
        f"`{name}` would be refused: {first.text}{f'; and {len(others)} more' if others else ''}"
        for name, (first, *others) in by_skill.items()
    ]
