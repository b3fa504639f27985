"""Keyless signatures: sigstore's certificates for an identity, verified offline with a trust root in a file.

All of it is checked by the `sigstore` library, which the extra `[sigstore]` installs: the certificate and its
transparency logs, the time, and the entry in the log of signatures.
"""

from sigstore.errors import Error
from sigstore.models import Bundle, InvalidBundle, TrustedRoot
from sigstore.verify import Verifier
from sigstore.verify.policy import Identity

from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.text import sanitize
from skillpm.errors import SignatureError
from skillpm.formats.trust.trust_rules import TrustRule
from skillpm.trust.statement import PAYLOAD_TYPE, check_files, read_statement


def verify_identity(tree: FileTree, data: bytes, rule: TrustRule, trusted_root: str) -> Digest:
    """Return the fingerprint of the identity that a rule trusts, if it signed a skill; `data` is the signature.

    `trusted_root` is the path of a `trusted_root.json`. Raises `SignatureError`.
    """
    try:
        root = TrustedRoot.from_file(trusted_root)
    except (Error, ValueError, OSError) as error:
        raise SignatureError("not a trust root of sigstore (trusted_root.json)", where=trusted_root) from error
    try:
        bundle = Bundle.from_json(data)
        policy = Identity(identity=rule.identity, issuer=rule.issuer)
        payload_type, payload = Verifier(trusted_root=root).verify_dsse(bundle, policy)
    except (Error, InvalidBundle, ValueError) as error:
        reason = sanitize(str(error).partition("\n")[0], 160)
        raise SignatureError(f"it is not signed by {sanitize(rule.identity, 120)}: {reason}") from error
    if payload_type != PAYLOAD_TYPE:
        raise SignatureError(f"it signs a payload of type {sanitize(payload_type, 80)}")
    # What sigstore has verified, not what was read before.
    check_files(tree, read_statement(payload))
    return rule.identity_fingerprint
