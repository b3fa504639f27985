"""The check `widens`: a version that may do more than the installed one."""

from collections.abc import Iterator

from skillpm.formats.trust.audit_settings import WIDENS
from skillpm.vetting.audited import is_excepted
from skillpm.vetting.problems import IncomingSkill, Problem, ValidationRequest

# `sha256:` and so many digits that no other content has them.
REVIEW_DIGEST_LENGTH = 23


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
        from skillpm.skillmd.capabilities import find_capabilities  # noqa: PLC0415  (only where a new version is judged)
        from skillpm.skillmd.capability_changes import compare_capabilities  # noqa: PLC0415  (as above)

        for finding in compare_capabilities(find_capabilities(skill.before), find_capabilities(skill.tree)):
            message = f"may now {finding.message}"
            yield Problem(skill=skill.name, kind="widens", rule=WIDENS, message=message, hint=hint, blocks=blocks)


def is_reviewed(request: ValidationRequest, skill: IncomingSkill) -> bool:
    """Return whether a review that applies here covers exactly this content."""
    from skillpm.trust.reviews import count_reviews  # noqa: PLC0415  (as above)

    return count_reviews(request.reviews.trusted, skill.name, skill.digest) > 0
