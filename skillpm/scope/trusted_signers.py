"""Whom the user trusts to sign skills: the rules of config.toml, and the keys and certificates that they name."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from skillpm.core.json_text.decoder import parse_toml
from skillpm.errors import SignatureError, SkillpmError
from skillpm.files import OS_ERROR_REASONS, read_regular_file, read_text
from skillpm.kinds.base import Pin
from skillpm.scope.effective_settings import user_config_path
from skillpm.scope.scope import Scope
from skillpm.scope.scope_policy import load_policies, load_scope_policies
from skillpm.settings import Settings

if TYPE_CHECKING:
    from skillpm.formats.trust.trust_rules import TrustRule
    from skillpm.trust.anchors import Anchors

# Of a file with keys or certificates; the roots of all authorities of the web have 250 kB.
MAX_KEY_FILE = 1_000_000


def missing_library_error() -> SignatureError:
    """Return the error for an installation without the library that signs and verifies."""
    from skillpm.core.suggestions import extra_hint  # noqa: PLC0415  (only for this error)

    return SignatureError("signatures need the extra `sign`", hint=extra_hint("sign"))


def read_trust_rules(settings: Settings) -> "tuple[TrustRule, ...]":
    """Return the rules of the user. A checkout has none: it must not say whom to trust."""
    file = user_config_path(settings)
    text = read_text(file)
    return () if text is None or "trust" not in text else _parse_rules(text, file)


@lru_cache(maxsize=4)  # asked for each skill of a command
def _parse_rules(text: str, file: str) -> "tuple[TrustRule, ...]":
    from skillpm.formats.trust.trust_rules import read_trust  # noqa: PLC0415  (few users trust signers)

    return read_trust(parse_toml(text, file).get("trust"))


def find_key_files(scopes: Sequence[Scope], settings: Settings) -> list[str]:
    """Return the paths of all files that the rules of the user and of policies name; they need not exist."""
    try:
        policies = load_policies(scopes, settings)
        rules = (*read_trust_rules(settings), *(() if policies is None else policies.signers))
    except SkillpmError:  # reported by what needs these rules
        return []
    named = (file for rule in rules for file in (rule.root, rule.allowed_signers, rule.trusted_root, *rule.keys))
    return [resolve_key_file(settings, file) for file in named if file]


def find_trust_groups(rules: "Iterable[TrustRule]", pin: Pin) -> "tuple[tuple[TrustRule, ...], ...]":
    """Return the rules about the source of a skill, in groups: a signer of each group must have signed it.

    If rules cover its place, their signers count, and a rule that may cover it only adds that a signature is required.
    Otherwise each rule that may cover it and requires a signature is a group, since it is not known which one applies:
    the author of the address could choose whose keys count.
    """
    if not (rules := tuple(rules)):
        return ()
    from skillpm.formats.trust.trust_rules import TrustRule  # noqa: PLC0415  (few users trust signers)
    from skillpm.trust.places import match_place  # noqa: PLC0415

    address = pin.place().address
    matches = [(rule, match_place(rule.source, address)) for rule in rules]
    covering = tuple(rule for rule, match in matches if match == "yes")
    similar = tuple(rule for rule, match in matches if match == "ambiguous")
    required = tuple(rule for rule in similar if rule.required)
    if covering:
        return ((*covering, *(TrustRule(source=rule.source, required=True, where=rule.where) for rule in required)),)
    return tuple((rule,) for rule in required) or ((similar,) if similar else ())


def load_anchors(settings: Settings, rules: "Sequence[TrustRule]") -> "Anchors":
    """Return all certificates and keys that these rules trust. Raises `SignatureError`."""
    try:
        from skillpm.trust.anchors import Anchors, read_certificates, read_public_key  # noqa: PLC0415  (the extra `sign`)
    except ImportError as error:
        raise missing_library_error() from error
    anchors = Anchors()
    for rule in rules:
        files = [(read_certificates, rule.root)] if rule.root else []
        for parse, file in (*files, *((read_public_key, key) for key in rule.keys)):
            path = resolve_key_file(settings, file)
            try:
                anchors += parse(check_key_file(path, rule), path)
            except SignatureError as error:
                error.hint = error.hint or f"it is named in {rule.where}"
                raise
    return anchors


def require_key_files(scope: Scope, settings: Settings) -> None:
    """Raise `SignatureError` if a file with keys that `[[trust]]` or a policy names cannot be used.

    Also for sources that no skill has here: a missing key is a mistake, and would be noticed only when it is too late.
    """
    policies = load_scope_policies(scope, settings)
    required = () if policies is None else policies.signers
    for rule in (*read_trust_rules(settings), *map(as_key_rule, required)):
        require_files_of_rule(settings, rule)


def require_files_of_rule(settings: Settings, rule: "TrustRule") -> None:
    """Raise `SignatureError` if a file with keys that a rule names cannot be used."""
    for file in filter(None, (rule.allowed_signers, rule.trusted_root)):
        check_key_file(resolve_key_file(settings, file), rule)
    if rule.root or rule.keys:
        try:
            load_anchors(settings, [rule])
        except SignatureError as error:
            if error.where:  # else the extra `sign` is missing, which only skills of this source need
                raise


def as_key_rule(rule: "TrustRule") -> "TrustRule":
    """Return the rule of a policy for a public key if its file has one, instead of certificates."""
    with suppress(OSError):  # which is reported when the certificates are read
        if b"PUBLIC KEY" in read_regular_file(rule.root, MAX_KEY_FILE):
            return rule.replace(root="", keys=(rule.root,))
    return rule


def resolve_key_file(settings: Settings, path: str) -> str:
    """Return the path of a file that a rule names."""
    path = os.path.join(settings.home, path[2:]) if path.startswith("~/") else path
    return os.path.join(settings.config_dir, path)


def check_key_file(path: str, rule: "TrustRule") -> bytes:
    """Return the content of a file that a rule names. Raises `SignatureError`."""
    try:
        return read_regular_file(path, MAX_KEY_FILE)
    except OSError as error:
        reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or str(error))
        raise SignatureError(f"cannot read: {reason}", where=path, hint=f"it is named in {rule.where}") from error
