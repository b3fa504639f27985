"""Content validation: every skill whose content is about to be installed or used passes the same checks.

They run after the content was fetched and verified, and before anything is staged. All problems of all skills are
collected, so that one run shows everything; then nothing is installed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SIGNATURE_FILE, SkillName
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.trust.audit_settings import WIDENS
from skillpm.scope.audit_settings import load_audit_settings, warn_of_gone_rules
from skillpm.scope.project import Project
from skillpm.scope.scope_policy import load_current_policies
from skillpm.scope.trusted_signers import read_trust_rules, require_key_files
from skillpm.store import Proofs
from skillpm.vetting.acceptance import Acceptance, PresentSkill
from skillpm.vetting.audited import find_audit_problems, find_excepted_rules, is_excepted
from skillpm.vetting.problems import IncomingSkill, Problem, ValidationRequest, refusal
from skillpm.vetting.validation_options import ValidationOptions

Check = Callable[[ValidationRequest], Iterable[Problem]]
# `sha256:` and so many digits that no other content has them.
REVIEW_DIGEST_LENGTH = 23


def _find_forbidden(request: ValidationRequest) -> Iterable[Problem]:
    """Return what policies forbid."""
    policies = load_current_policies(request.project.scope, request.project.settings)
    if policies is None:
        return ()
    from skillpm.vetting.policy_rules import find_forbidden  # noqa: PLC0415  (few have a policy)

    return find_forbidden(request, policies)


def _find_bad_signatures(request: ValidationRequest) -> Iterable[Problem]:
    """Return what is wrong with signatures, if there are any, or any must be."""
    is_signed = any(skill.tree.read(SIGNATURE_FILE) is not None for skill in request.incoming)
    if not is_signed and not read_trust_rules(request.project.settings):
        return ()
    from skillpm.vetting.signers import find_bad_signatures  # noqa: PLC0415  (few are signed)

    return find_bad_signatures(request)


def _find_widened(request: ValidationRequest) -> Iterable[Problem]:
    """Return which new versions may do more than what is installed."""
    if all(skill.old is None for skill in request.incoming):
        return ()

    return find_widened(request)


# In the order in which their problems are reported.
CHECKS: tuple[Check, ...] = (_find_forbidden, _find_bad_signatures, find_audit_problems, _find_widened)


def check_incoming(project: Project, incoming: Sequence[IncomingSkill], options: ValidationOptions) -> None:
    """Raise `NotTrusted` with every problem of every skill; report the warnings. Changes nothing."""
    if not incoming:
        return
    cache_dir = project.settings.cache_dir
    request = _make_request(project, incoming, options)
    problems = [problem for check in CHECKS for problem in check(request)]
    for problem in problems:
        if not problem.blocks:
            project.reporter.warn(f"{problem.skill}: {problem.text}")
    if blocking := [problem for problem in problems if problem.blocks]:
        raise refusal(blocking)
    acceptance, proofs = Acceptance(project.scope, project.settings), Proofs(cache_dir)
    for skill in incoming:
        if options.allow:
            from skillpm.vetting.acceptance import remember_allowed  # noqa: PLC0415  (only with --allow)

            remember_allowed(cache_dir, skill.digest, options.allow)
        if skill.place is None:  # edited files are checked again where they are
            is_proved = not skill.locked.pin.is_content_addressed or proofs.has_place(skill.name, skill.locked)
            accepted = PresentSkill(name=skill.name, folder="", claim=skill.locked, digest=skill.digest)
            acceptance.add_content(accepted, describe_acceptance(request, skill, is_place_proved=is_proved))


def find_problems(project: Project, incoming: Sequence[IncomingSkill], options: ValidationOptions) -> list[Problem]:
    """Return every problem of every skill."""
    if not incoming:
        return []
    request = _make_request(project, incoming, options)
    return [problem for check in CHECKS for problem in check(request)]


def find_refusals(project: Project, name: SkillName, locked: LockedSkill, tree: FileTree) -> list[Problem]:
    """Return why content that is handed on, to a mirror or an index, is refused; nothing is reported."""
    # As its own successor: findings that only warn are not repeated.
    skill = IncomingSkill(name=name, locked=locked, tree=tree, old=locked, read_before=lambda: tree)
    return [problem for problem in find_problems(project, [skill], ValidationOptions()) if problem.blocks]


def _make_request(project: Project, incoming: Sequence[IncomingSkill], options: ValidationOptions) -> ValidationRequest:
    require_key_files(project.scope, project.settings)
    audit = load_audit_settings(project.scope, project.settings)
    warn_of_gone_rules(audit, options.allow, project.reporter)
    return ValidationRequest(project=project, incoming=incoming, options=options, audit=audit)


def describe_acceptance(request: ValidationRequest, skill: IncomingSkill, *, is_place_proved: bool) -> dict[str, Any]:
    """Return what to record of accepted content, to tell a rule of a later version from a changed setting."""
    return {
        "block": [*request.audit.block],
        "excepted": sorted(find_excepted_rules(request, skill)),
        "place": is_place_proved,
    }


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


def find_widened(request: ValidationRequest) -> Iterator[Problem]:
    """Yield the skills that may do more than what is installed, where `widens` blocks or warns."""
    is_required = WIDENS in request.audit.required
    is_blocked = is_required or (request.audit.blocks(WIDENS, "") and WIDENS not in request.options.allow)
    for skill in request.incoming if is_blocked or request.audit.warns(WIDENS, "") else ():
        if skill.old is None or skill.old.digest == skill.digest or is_reviewed(request, skill):
            continue
        blocks = is_required or (is_blocked and not is_excepted(request, skill, WIDENS))
        look = request.project.command("review", skill.name, "--digest", skill.digest[:REVIEW_DIGEST_LENGTH])
        hint = f"`{look}` shows what changed; to accept it, add `--approve` to that"
        hint += "" if is_required else f", or `--allow {WIDENS}` to this"
        if skill.before is None:
            message = "what it may do cannot be compared: the installed content is not known any more"
            yield Problem(skill=skill.name, kind="widens", rule=WIDENS, message=message, hint=hint, blocks=blocks)
            continue
        # Imported only where a new version is judged.
        from skillpm.skillmd.capabilities import compare_capabilities, find_capabilities  # noqa: PLC0415

        for finding in compare_capabilities(find_capabilities(skill.before), find_capabilities(skill.tree)):
            message = f"may now {finding.message}"
            yield Problem(skill=skill.name, kind="widens", rule=WIDENS, message=message, hint=hint, blocks=blocks)


def is_reviewed(request: ValidationRequest, skill: IncomingSkill) -> bool:
    """Return whether a review that applies here covers exactly this content."""
    from skillpm.formats.trust.reviews import count_reviews  # noqa: PLC0415  (as above)

    return count_reviews(request.reviews.trusted, skill.name, skill.digest) > 0
