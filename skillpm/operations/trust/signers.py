"""Verify the signer of a skill against config.toml, and record it in the lockfile."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from skillpm.core.digest import shorten_digest, shorten_distinct_digests
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SIGNATURE_FILE, SkillName
from skillpm.core.values import Value
from skillpm.errors import DocumentError, NotFoundError, OfflineError, RefusedError, SignatureError
from skillpm.fetchers.base import variant_of
from skillpm.fetchers.dispatcher import FetcherDispatcher
from skillpm.fetchers.verified_content import fetch_content
from skillpm.formats.lockfile import LockedSkill, Lockfile
from skillpm.formats.pin import GitPin, OciPin, summarize_pin
from skillpm.formats.trust.trust_rules import TrustRule
from skillpm.operations.context.trust_settings import (
    check_key_file,
    find_trust_groups,
    load_anchors,
    read_trust_rules,
    resolve_key_file,
)
from skillpm.settings import Settings
from skillpm.store import StoreDamaged
from skillpm.trust.statement import check_files, read_signature

if TYPE_CHECKING:
    from skillpm.trust.anchors import Anchors


class SignatureCheck(Value):
    """The result of verifying a skill: its signer, or why it has no trusted one."""

    signer: str = ""
    problem: str = ""
    # Whether the skill has a signature, valid or not.
    is_signed: bool = False
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

        If the source has trusted signers here, the recorded signer must match.
        """
        origin = f" (from {summarize_pin(locked.pin)})"
        if not self.rules:
            return self.problem and self.problem + origin, False
        if self.problem and locked.signer:
            return f"{self.problem}, but the lockfile names a signer, {shorten_digest(locked.signer)}{origin}", True
        if self.problem:
            return (self.problem + origin, self.is_required) if self.is_required or self.is_signed else ("", False)
        if locked.signer and locked.signer != self.signer:
            found, recorded = shorten_distinct_digests(self.signer, locked.signer)
            return f"it is signed by {found}, but the lockfile names {recorded} as its signer{origin}", True
        return "", False


def check_signature(
    settings: Settings, skill: LockedSkill, tree: FileTree, fetchers: FetcherDispatcher
) -> SignatureCheck:
    """Check the signature of a skill. Raises `SignatureError` if a file that a rule names cannot be read.

    Without a rule for its source, only whether its files are those that were signed, by whomever.
    """
    groups = find_trust_groups(read_trust_rules(settings), skill.pin)
    if not groups:
        is_signed = tree.read(SIGNATURE_FILE) is not None
        return SignatureCheck(problem=find_mismatch(tree), is_signed=is_signed)
    checks = [_check_group(settings, skill, tree, rules, fetchers) for rules in groups]
    return next((check for check in checks if check.problem), checks[0])


def _check_group(
    settings: Settings, skill: LockedSkill, tree: FileTree, rules: tuple[TrustRule, ...], fetchers: FetcherDispatcher
) -> SignatureCheck:
    is_signed = tree.read(SIGNATURE_FILE) is not None
    problems = []
    for verify in _find_methods(settings, skill, tree, rules, fetchers):
        try:
            signer = verify()
        except (SignatureError, OfflineError) as error:
            if error.where:  # a file of the user's
                raise
            problems.append(error.message)
        else:
            return SignatureCheck(signer=signer, is_signed=True, rules=rules)
    return SignatureCheck(problem="; ".join(dict.fromkeys(problems)), is_signed=is_signed, rules=rules)


def find_mismatch(tree: FileTree) -> str:
    """Return how the files of a skill differ from those that its signature names; empty if they do not."""
    try:
        if (signature := read_signature(tree)) is not None:
            check_files(tree, signature[1])
    except SignatureError as error:
        return error.message
    return ""


Verify = Callable[[], str]


def _find_methods(
    settings: Settings, skill: LockedSkill, tree: FileTree, rules: Sequence[TrustRule], fetchers: FetcherDispatcher
) -> Iterator[Verify]:
    """Yield the ways to verify a skill that the rules allow; each returns the fingerprint of a signer."""
    files = [resolve_key_file(settings, rule.allowed_signers) for rule in rules if rule.allowed_signers]
    for rule, file in ((rule, file) for rule in rules for file in files):
        check_key_file(file, rule)
    if any(rule.root or rule.keys for rule in rules):
        anchors = load_anchors(settings, rules)

        def verify_files() -> str:
            from skillpm.trust.skill_signature import verify_skill  # noqa: PLC0415  (the extra `sign`)

            # Content that was locked while its certificate was valid stays valid.
            at = None if skill.signer else datetime.fromtimestamp(settings.now, UTC)
            return verify_skill(tree, anchors, at)

        yield verify_files
        if isinstance(skill.pin, OciPin) and anchors.keys:
            yield partial(_verify_manifest, skill.pin, anchors, fetchers)
    for rule in rules:
        if rule.identity:
            yield partial(_verify_identity, settings, rule, tree)
    pin = skill.pin
    if files and isinstance(pin, GitPin):
        yield partial(fetchers.verify_git_signature, pin, files)
    if files and not isinstance(pin, GitPin) and not any(rule.root or rule.keys or rule.identity for rule in rules):
        yield _refuse_other_source


def _verify_identity(settings: Settings, rule: TrustRule, tree: FileTree) -> str:
    file = resolve_key_file(settings, rule.trusted_root)
    check_key_file(file, rule)
    try:
        from skillpm.operations.trust.identities import verify_identity  # noqa: PLC0415  (the extra `sigstore`)
    except ImportError as error:
        hint = "pip install 'agent-skillpm[sigstore]'"
        raise SignatureError("`identity` needs the extra `sigstore`", where=rule.where, hint=hint) from error
    if tree.read(SIGNATURE_FILE) is None:
        raise SignatureError(f"it is not signed: there is no {SIGNATURE_FILE}")
    return verify_identity(tree, rule, file)


def _verify_manifest(pin: OciPin, anchors: "Anchors", fetchers: FetcherDispatcher) -> str:
    """Verify the cosign signatures of a manifest; that of one trusted key suffices."""
    from skillpm.trust.cosign import verify_payload  # noqa: PLC0415  (the extra `sign`)

    problem = SignatureError("its manifest has no cosign signature")
    try:
        signatures = fetchers.read_signatures(pin)
    except (DocumentError, RefusedError, NotFoundError) as error:
        raise SignatureError(f"the cosign signature of its manifest is damaged: {error.message}") from error
    for payload, signature in signatures:
        try:
            return verify_payload(anchors, payload, signature, pin.manifest)
        except SignatureError as error:
            problem = error
    raise problem


def _refuse_other_source() -> str:
    raise SignatureError("only skills of git repositories have signatures that `allowed-signers` verifies")


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
                skills[name] = skill.replace(signer=check_signature(fetchers.settings, skill, tree, fetchers).signer)
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
        return fetchers.store.read(skill.digest, variant_of(skill.pin))
    return None
