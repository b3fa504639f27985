"""Sign a policy, so that it can be published: with keys and signatures that `[fetch]` verifies."""

import os

from skillpm.core.values import Value
from skillpm.errors import ConflictError, FileError, UsageError
from skillpm.files import read_text, translate_os_errors, write_document
from skillpm.formats.trust.fetched_policy import read_published_policy
from skillpm.scope.audit_settings import check_rule_names
from skillpm.scope.policy_refresh import check_time
from skillpm.scope.project import Session
from skillpm.trust.ed25519 import create_private_key, format_public_key, read_private_key, sign


class SignedPolicy(Value):
    """A policy that was signed."""

    signature: str
    # For `key` in `[fetch]`.
    public_key: str
    issued: str


def sign_policy(session: Session, file: str, key: str) -> SignedPolicy:
    """Write the signature of a policy to `FILE.sig`.

    Raises `DocumentError` or `NotTrusted` for one that no client would accept.
    """
    path, key_path = (os.path.join(session.settings.working_directory, each) for each in (file, key))
    text, key_text = read_text(path), read_text(key_path)
    for each, found in ((path, text), (key_path, key_text)):
        if found is None:
            raise FileError("this file does not exist", where=each)
    policy = read_published_policy(text or "", path)
    check_time(policy, session.settings.now)
    # Which scanners its users have is not known here.
    check_rule_names([rule for rule in policy.audit_block if "/" not in rule], (), policy.locate("audit.block"))
    private_key = read_private_key((key_text or "").encode(), key_path)
    signature = f"{path}.sig"
    with translate_os_errors("write the signature", signature):
        write_document(signature, sign((text or "").encode(), private_key), fsync=session.settings.fsync)
    return SignedPolicy(signature=signature, public_key=format_public_key(private_key), issued=policy.issued)


def create_key(session: Session, file: str) -> str:
    """Create a private key in a file that only its owner can read, and return the public key."""
    path = os.path.join(session.settings.working_directory, file)
    if not file:
        raise UsageError("name a file for the private key")
    if os.path.lexists(path):
        raise ConflictError("this file already exists", where=path, hint="name another one")
    data = create_private_key()
    with translate_os_errors("write the key", path):
        write_document(path, data, fsync=session.settings.fsync, mode=0o600)
    return format_public_key(read_private_key(data, path))
