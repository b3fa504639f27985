"""The rules of policies for the content of skills; rules about places were checked before fetching."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from skillpm.core.file_tree import FileTree
from skillpm.core.text import pluralize
from skillpm.errors import OfflineError, SignatureError
from skillpm.fetchers.bundled import is_bundled_content
from skillpm.formats.trust.audit_settings import WIDENS, names_rule
from skillpm.formats.trust.reviews import Review, count_reviews
from skillpm.formats.trust.trust_rules import TrustRule
from skillpm.scope.scope_policy import CHECK_HINT
from skillpm.scope.trusted_signers import as_key_rule, load_anchors
from skillpm.settings import Settings
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill
from skillpm.trust.policy import Policies, PolicyCheck, SkillContent
from skillpm.vetting.audited import Finding, find_place, read_findings
from skillpm.vetting.problems import IncomingSkill, Problem, ValidationRequest
from skillpm.vetting.signers import find_published

if TYPE_CHECKING:
    from skillpm.trust.anchors import Anchors

# Returns the reviews that apply, when a rule asks for them.
LoadReviews = Callable[[], Iterable[Review]]


def find_forbidden(request: ValidationRequest, policies: Policies) -> Iterator[Problem]:
    """Yield what policies forbid: places, blocked names and digests, content, missing reviews and signatures."""
    settings = request.project.settings
    for skill in request.incoming:
        beside = partial(find_published, request.project, skill)
        for check in check_skill(policies, skill, settings, lambda: request.reviews.trusted, beside):
            if check.problem:
                show, restore = request.project.command("diff", skill.name), request.project.command("sync", "--force")
                edited = f"`{show}` shows the edits; `{restore}` backs up all edits and restores the locked versions"
                yield Problem(
                    skill=skill.name,
                    kind="policy",
                    rule=check.rule,
                    message=check.problem,
                    where=check.where,
                    hint=edited if check.is_edited else CHECK_HINT,
                )


def check_skill(
    policies: Policies,
    skill: IncomingSkill,
    settings: Settings,
    load_reviews: LoadReviews,
    beside: Callable[[], Iterable[bytes]],
) -> Iterator[PolicyCheck]:
    """Yield what each rule of each policy says of a skill."""
    declared, content = describe_content(skill.tree)
    if skill.place is None:
        yield from policies.check_place(skill.source)
    else:
        yield from policies.check_edited(skill.place, skill.locked.pin)
    yield from policies.check_blocked([skill.name, declared], skill.digest)
    yield from policies.check_content(content)
    required, where = policies.reviews
    if required and not is_bundled_content(skill.locked):
        found = count_reviews(load_reviews(), skill.name, skill.digest)
        problem = f"has {pluralize(found, 'review')} that apply here, and needs {required}" if found < required else ""
        yield PolicyCheck(rule="reviews", where=where, problem=problem)
    for rule in policies.find_signers(skill.locked.pin):
        yield PolicyCheck(
            rule="signers", where=rule.where, problem=_find_signature_problem(rule, skill, settings, beside)
        )


def check_audit(
    policies: Policies, request: ValidationRequest, skill: IncomingSkill, others: Iterable[Finding]
) -> Iterator[PolicyCheck]:
    """Yield what `audit.block` of each policy says of a skill: each rule that it violates, with the first place.

    `others` are findings that are not in the content. `widens` is about updates, and not checked.
    """
    layers = [layer for layer in policies.layers if {*layer.audit_block} - {WIDENS}]
    findings, failures = read_findings(request, skill) if layers else ([], [])
    for layer in layers:
        places: dict[str, list[str]] = {}
        for each in (*findings, *others):
            if names_rule(layer.audit_block, each.rule, each.severity):
                places.setdefault(each.rule, []).append(find_place(each))
        problems = [_describe_places(rule, found) for rule, found in sorted(places.items())]
        problems += [each.message for each in failures]
        for problem in problems or [""]:
            yield PolicyCheck(rule="audit.block", where=layer.locate("audit.block"), problem=problem)


def _describe_places(rule: str, places: Sequence[str]) -> str:
    more = f"and {len(places) - 1} more" if len(places) > 1 else ""
    return ", ".join(filter(None, [rule, places[0], more]))


def _find_signature_problem(
    rule: TrustRule, skill: IncomingSkill, settings: Settings, beside: Callable[[], Iterable[bytes]]
) -> str:
    """Return why a skill does not have the signature that a policy requires. Each policy names its own roots."""
    try:
        anchors = load_anchors(settings, [as_key_rule(rule)])
        from skillpm.trust.skill_signature import verify_skill  # noqa: PLC0415  (the extra `sign`)

        # Content that was locked while its certificate was valid stays valid.
        at = None if skill.locked.signer else datetime.fromtimestamp(settings.now, UTC)
        try:
            verify_skill(skill.tree, anchors, at)
        except SignatureError:
            if not any(_is_signed(skill.tree, anchors, at, signature) for signature in beside()):
                raise
    except (SignatureError, OfflineError) as error:
        return f"is not signed as required: {error.message}{f' ({error.where})' if error.where else ''}"
    return ""


def _is_signed(tree: FileTree, anchors: "Anchors", at: datetime | None, signature: bytes) -> bool:
    from skillpm.trust.skill_signature import verify_skill  # noqa: PLC0415  (as above)

    try:
        return bool(verify_skill(tree, anchors, at, beside=signature))
    except SignatureError:
        return False


def describe_content(tree: FileTree) -> tuple[str, SkillContent]:
    """Return the name that a skill declares, and what policies have to know of its content."""
    try:
        skill = read_skill(tree.read(tree.skill_file) or b"")
        declared, license_text = skill.declared, skill.license
    except NotLoadable:  # which is refused elsewhere
        declared, license_text = "", ""
    executables = [file.path for file in tree.files if file.executable]
    size = sum(len(file.data) for file in tree.files)
    return declared, SkillContent(license=license_text, executables=executables, size=size)
