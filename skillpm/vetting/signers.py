"""Verify the signer of a skill against config.toml, and record it in the lockfile.

The signatures that are published beside the content of a skill never change its bytes and its digest. Each names the
hash of every file, so it does not matter where it was kept.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from skillpm.core.digest import shorten_digest, shorten_distinct_digests
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SIGNATURE_FILE, SkillName
from skillpm.core.suggestions import extra_hint
from skillpm.core.values import Value
from skillpm.errors import DocumentError, NotFoundError, OfflineError, RefusedError, SignatureError, SkillpmError
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.trust.trust_rules import TrustRule
from skillpm.installer.disk.layout import Layout
from skillpm.installer.kept_signatures import read_kept_signatures
from skillpm.kinds.git import GitPin
from skillpm.kinds.oci import OciPin
from skillpm.scope.project import Project
from skillpm.scope.scope_fetchers import make_fetchers
from skillpm.scope.trusted_signers import (
    check_key_file,
    find_trust_groups,
    load_anchors,
    read_trust_rules,
    resolve_key_file,
)
from skillpm.settings import Settings
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.skill import read_skill
from skillpm.store import StoreDamaged
from skillpm.trust.statement import BESIDE, find_mismatch
from skillpm.vetting.problems import IncomingSkill, Problem, ValidationRequest

if TYPE_CHECKING:
    from skillpm.trust.anchors import Anchors

TRUST_HINT = "ask its publisher, or change whom you trust: [[trust]] in config.toml"


class SignatureCheck(Value):
    """The result of verifying a skill: its signer, or why it has no trusted one."""

    # The locked one, if it is among several.
    signer: str = ""
    problem: str = ""
    # Whether the skill has a signature, valid or not.
    is_signed: bool = False
    # Whether `signer` may vouch for content that was locked with another signer, who is not trusted here.
    replaces_locked: bool = False
    # The rules about its source; empty if it has no trusted signers.
    rules: tuple[TrustRule, ...] = ()

    @property
    def is_required(self) -> bool:
        """Whether a rule refuses the skill without a trusted signature."""
        return any(rule.required for rule in self.rules)

    @property
    def where(self) -> str:
        """The rule that requires a signature, else the first one."""
        ranked = sorted(self.rules, key=lambda rule: not rule.required)
        return ranked[0].where if ranked else ""

    def compare(self, locked: LockedSkill) -> tuple[str, bool]:
        """Return what is wrong, if anything is, and whether that refuses the skill.

        If the source has trusted signers here, one of them must have signed what is locked: the recorded one, unless
        it is not trusted any more, and another one has signed the same content since.
        """
        origin = f" (from {locked.pin.summarize()})"
        if not self.rules:
            return self.problem and self.problem + origin, False
        if self.problem and locked.signer:
            return f"{self.problem}, but the lockfile names a signer, {shorten_digest(locked.signer)}{origin}", True
        if self.problem:
            return (self.problem + origin, self.is_required) if self.is_required or self.is_signed else ("", False)
        if locked.signer and locked.signer != self.signer and not self.replaces_locked:
            found, recorded = shorten_distinct_digests(self.signer, locked.signer)
            return f"it is signed by {found}, but the lockfile names {recorded} as its signer{origin}", True
        return "", False


def check_signature(
    settings: Settings,
    skill: LockedSkill,
    tree: FileTree,
    fetchers: FetcherDispatcher,
    find_beside: Callable[[], Iterable[bytes]],
) -> SignatureCheck:
    """Check the signatures of a skill. Raises `SignatureError` if a file that a rule names cannot be read.

    `find_beside` returns those beside it, and is called only if the one that it ships does not suffice. Without a rule
    for its source, only whether its files are those that were signed, by whomever.
    """
    groups = find_trust_groups(read_trust_rules(settings), skill.pin)
    if not groups:
        is_signed = tree.read(SIGNATURE_FILE) is not None
        return SignatureCheck(problem=find_mismatch(tree), is_signed=is_signed)
    checks = [_check_group(settings, skill, tree, rules, fetchers, find_beside) for rules in groups]
    return next((check for check in checks if check.problem), checks[0])


def _check_group(
    settings: Settings,
    skill: LockedSkill,
    tree: FileTree,
    rules: tuple[TrustRule, ...],
    fetchers: FetcherDispatcher,
    find_beside: Callable[[], Iterable[bytes]],
) -> SignatureCheck:
    is_signed = tree.read(SIGNATURE_FILE) is not None
    anchors = load_anchors(settings, rules) if any(rule.root or rule.keys for rule in rules) else None
    # Who trusts the locked signer here can tell whether it signed. If it did not, the lockfile claims what is not true.
    replaces_locked = skill.pin.has_signatures_beside and skill.signer not in _list_trusted(rules, anchors)
    signers, problems = [], []
    for outcome in _find_outcomes(settings, skill, tree, fetchers, (rules, anchors, find_beside)):
        if isinstance(outcome, str):
            signers.append(outcome)
            if replaces_locked or skill.signer in {"", outcome}:
                break
        else:
            problems.append(outcome.message)
            is_signed = is_signed or isinstance(outcome, _InvalidBeside)
    if not signers:
        problem = "; ".join(dict.fromkeys(problems))
        return SignatureCheck(problem=problem, is_signed=is_signed, rules=rules)
    signer = skill.signer if skill.signer in signers else signers[0]
    return SignatureCheck(signer=signer, is_signed=True, replaces_locked=replaces_locked, rules=rules)


def _list_trusted(rules: Sequence[TrustRule], anchors: "Anchors | None") -> set[str]:
    """Return the fingerprints of trusted keys and identities; those that a root vouches for cannot be listed."""
    trusted: set[str] = {rule.identity_fingerprint for rule in rules if rule.identity}
    if anchors is None:
        return trusted
    from skillpm.trust.anchors import fingerprint  # noqa: PLC0415  (the extra `sign`)

    return trusted | {fingerprint(key) for key in anchors.keys}


class _InvalidBeside(SignatureError):
    """A signature that is published beside a skill is not one of a trusted signer over its files."""


# The fingerprint of a signer, or why a signature does not count.
Outcome = str | SkillpmError
# Verifies a signature: None for the one that the skill ships.
VerifyBundle = Callable[[bytes | None], str]


def _find_outcomes(
    settings: Settings,
    skill: LockedSkill,
    tree: FileTree,
    fetchers: FetcherDispatcher,
    trust: "tuple[Sequence[TrustRule], Anchors | None, Callable[[], Iterable[bytes]]]",
) -> Iterator[Outcome]:
    """Yield the outcome of each way to verify a skill that the rules allow, those that contact a server last."""
    (rules, anchors, find_beside), pin = trust, skill.pin
    files = [resolve_key_file(settings, rule.allowed_signers) for rule in rules if rule.allowed_signers]
    for rule, file in ((rule, file) for rule in rules for file in files):
        check_key_file(file, rule)
    bundles: list[VerifyBundle] = []
    if anchors is not None:
        bundles.append(partial(_verify_bundle, settings, skill, tree, anchors))
    bundles += [partial(_verify_identity, settings, rule, tree) for rule in rules if rule.identity]
    yield from (_attempt(partial(verify, None)) for verify in bundles)
    if files and isinstance(pin, GitPin):
        yield _attempt(partial(fetchers.verify_git_signature, pin, files))
    elif files and not bundles:
        yield SignatureError("only skills of git repositories have signatures that `allowed-signers` verifies")
    yield from _verify_beside(bundles, find_beside)
    if isinstance(pin, OciPin) and anchors is not None and anchors.keys:
        yield from _verify_manifest(pin, anchors, fetchers)


def _attempt(verify: Callable[[], str]) -> Outcome:
    try:
        return verify()
    except (SignatureError, OfflineError) as error:
        if error.where:  # a file of the user's
            raise
        return error


def _verify_bundle(
    settings: Settings, skill: LockedSkill, tree: FileTree, anchors: "Anchors", beside: bytes | None
) -> str:
    from skillpm.trust.skill_signature import verify_skill  # noqa: PLC0415  (the extra `sign`)

    # Content that was locked while its certificate was valid stays valid.
    at = None if skill.signer else datetime.fromtimestamp(settings.now, UTC)
    return verify_skill(tree, anchors, at, beside=beside)


def _verify_identity(settings: Settings, rule: TrustRule, tree: FileTree, beside: bytes | None) -> str:
    file = resolve_key_file(settings, rule.trusted_root)
    check_key_file(file, rule)
    try:
        from skillpm.vetting.identities import verify_identity  # noqa: PLC0415  (the extra `sigstore`)
    except ImportError as error:
        hint = extra_hint("sigstore")
        raise SignatureError("`identity` needs the extra `sigstore`", where=rule.where, hint=hint) from error
    data = beside or tree.read(SIGNATURE_FILE)
    if data is None:
        raise SignatureError(f"it is not signed: there is no {SIGNATURE_FILE}")
    return verify_identity(tree, data, rule, file)


def _verify_beside(verifiers: Sequence[VerifyBundle], find_beside: Callable[[], Iterable[bytes]]) -> Iterator[Outcome]:
    try:
        for bundle in find_beside() if verifiers else ():
            for outcome in (_attempt(partial(verify, bundle)) for verify in verifiers):
                yield outcome if isinstance(outcome, str) else _InvalidBeside(f"{BESIDE}: {outcome.message}")
    except (SignatureError, OfflineError) as error:  # they cannot be read
        if error.where:
            raise
        yield error


def _verify_manifest(pin: OciPin, anchors: "Anchors", fetchers: FetcherDispatcher) -> Iterator[Outcome]:
    """Verify the cosign signatures of a manifest; of those that do not count, only the last one is reported."""
    from skillpm.trust.cosign import verify_payload  # noqa: PLC0415  (the extra `sign`)

    problem: SkillpmError | None = SignatureError("its manifest has no cosign signature")
    try:
        signatures = fetchers.read_cosign_signatures(pin)
    except OfflineError as error:
        signatures, problem = (), error
    except (DocumentError, RefusedError, NotFoundError) as error:
        message = f"the cosign signature of its manifest is damaged: {error.message}"
        signatures, problem = (), SignatureError(message)
    for payload, signature in signatures:
        outcome = _attempt(partial(verify_payload, anchors, payload, signature, pin.manifest))
        if isinstance(outcome, str):
            problem = None
            yield outcome
        elif problem is not None:
            problem = outcome
    if problem is not None:
        yield problem


def is_signature_required(settings: Settings, skill: LockedSkill) -> bool:
    """Return whether a rule refuses a skill of this source without a trusted signature."""
    groups = find_trust_groups(read_trust_rules(settings), skill.pin)
    return any(rule.required for rules in groups for rule in rules)


def record_signers(before: Lockfile, after: Lockfile, fetchers: FetcherDispatcher) -> Lockfile:
    """Return a new lockfile with the signers of its skills, as far as rules of config.toml say whom to trust.

    The recorded signer of unchanged content stays, regardless of trust on this machine: other users may trust more.
    """
    rules = read_trust_rules(fetchers.settings)
    skills = dict(after.skills)
    for name, skill in after.skills.items():
        old = before.skills.get(name)
        is_same = old is not None and (old.pin, old.digest) == (skill.pin, skill.digest)
        if is_same and old is not None and old.signer:
            skills[name] = skill.replace(signer=old.signer)
        elif groups := find_trust_groups(rules, skill.pin):
            must_fetch = not is_same or any(rule.required for matching in groups for rule in matching)
            tree = _read_content(name, skill, fetchers, must_fetch=must_fetch)
            if tree is not None:
                beside = partial(find_signatures_beside, fetchers, name, skill, tree)
                check = check_signature(fetchers.settings, skill, tree, fetchers, beside)
                skills[name] = skill.replace(signer=check.signer)
    return after.replace(skills=skills)


def _read_content(
    name: SkillName, skill: LockedSkill, fetchers: FetcherDispatcher, *, must_fetch: bool
) -> FileTree | None:
    """Return the content of a skill from the store, or from its source if it must be fetched; None without either."""
    if skill.digest is None:
        return None
    with suppress(OfflineError, StoreDamaged):
        if must_fetch:
            return fetch_content(fetchers, name, skill, skill.digest)
        return fetchers.store.read(skill.digest, skill.pin.store_variant())
    return None


def find_bad_signatures(request: ValidationRequest) -> Iterator[Problem]:
    """Yield what is wrong with the signatures of skills; it refuses them where one is required, or locked."""
    for skill in request.incoming:
        fetchers = make_fetchers(request.project)
        beside = partial(find_published, request.project, skill)
        yield from _check(fetchers, skill.name, skill.locked, skill.tree, beside)


def find_unsigned(skills: Mapping[SkillName, LockedSkill], fetchers: FetcherDispatcher) -> Iterator[Problem]:
    """Yield the skills that are about to be locked without the trusted signature that they require."""
    for name, skill in skills.items():
        if not skill.signer and skill.digest and is_signature_required(fetchers.settings, skill):
            tree = fetch_content(fetchers, name, skill, skill.digest)
            yield from _check(fetchers, name, skill, tree, partial(find_signatures_beside, fetchers, name, skill, tree))


def _check(
    fetchers: FetcherDispatcher,
    name: SkillName,
    locked: LockedSkill,
    tree: FileTree,
    beside: Callable[[], Iterable[bytes]],
) -> Iterator[Problem]:
    check = check_signature(fetchers.settings, locked, tree, fetchers, beside)
    message, blocks = check.compare(locked)
    if message:
        yield Problem(
            skill=name,
            kind="signature",
            rule="signature",
            message=message,
            where=check.where,
            hint=TRUST_HINT if blocks else "",
            blocks=blocks,
        )


def find_published(project: Project, skill: IncomingSkill) -> Iterator[bytes]:
    """Yield the signatures that are published beside the content of a skill, see `find_signatures_beside`."""
    fetchers = make_fetchers(project)
    return find_signatures_beside(fetchers, skill.name, skill.locked, skill.tree, project.layout)


def find_signatures_beside(
    fetchers: FetcherDispatcher, name: SkillName, skill: LockedSkill, tree: FileTree, layout: Layout | None = None
) -> Iterator[bytes]:
    """Yield the signatures that are kept in a skills directory, and then those at the source, which is contacted then.

    Raises `OfflineError` if the source cannot be contacted, and `SignatureError` for signatures that cannot be read.
    """
    if not skill.pin.has_signatures_beside:
        return
    kept = read_kept_signatures(layout, tree.digest) if layout is not None else ()
    yield from kept
    try:
        published = fetchers.find_signatures(_published_name(tree) or name, skill.pin)
    except (DocumentError, RefusedError, NotFoundError) as error:
        raise SignatureError(f"the signatures beside it cannot be read: {error.message}") from error
    yield from (each for each in published if each not in kept)


def _published_name(tree: FileTree) -> SkillName | None:
    """Return the name under which an index has a skill: that of its SKILL.md."""
    try:
        declared = read_skill(tree.read(tree.skill_file) or b"").declared
    except NotLoadable:
        return None
    return SkillName(declared) if declared else None
