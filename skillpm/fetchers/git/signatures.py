"""Signatures of tags and commits, verified by git and `ssh-keygen` with a file of allowed signers.

Only ssh signatures: those of GnuPG depend on a keyring that any program of the user may add to.
"""

import base64
import binascii
import os
import re
from collections.abc import Sequence
from hashlib import sha256

from skillpm.core.digest import Digest
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.errors import OfflineError, SignatureError
from skillpm.fetchers.git.program.errors import GitFailed, translate_error
from skillpm.fetchers.git.program.objects import GitObject
from skillpm.fetchers.git.repository import MAX_COMMIT_SIZE, Repository, cached_ref
from skillpm.kinds.git import GitPin

# Of OpenSSH, "PROTOCOL.sshsig". In a commit, each line after the first begins with a space.
ARMOR = lazy_pattern(rb"-----BEGIN SSH SIGNATURE-----\s(.{1,20000}?)-----END SSH SIGNATURE-----", re.DOTALL)
MAGIC = b"SSHSIG\0\0\0\1"
TAGS = "refs/tags/"


def verify_signature(repository: Repository, pin: GitPin, allowed_signers: Sequence[str]) -> Digest:
    """Return the fingerprint of the allowed key that signed the tag or the commit of a pin.

    Raises `SignatureError`, `OfflineError` if the commit is not cached, and the translated errors of git.
    """
    tag = _find_tag(repository, pin)
    problems = []
    for found, verb, name in (
        (tag, "verify-tag", f"tag {sanitize(pin.ref.removeprefix(TAGS), 60)}"),
        (_read_commit(repository, pin.commit), "verify-commit", f"commit {pin.commit[:7]}"),
    ):
        if found is None:
            continue
        fingerprint = _read_fingerprint(found.data)
        if fingerprint is None:
            problems.append(f"{name} has no ssh signature")
        elif any(_is_signed(repository, verb, found.id, file) for file in allowed_signers):
            return fingerprint
        else:
            problems.append(f"{name} is not signed by an allowed signer")
    raise SignatureError("; ".join(problems))


def _find_tag(repository: Repository, pin: GitPin) -> GitObject | None:
    """Return the annotated tag of a pin; None for a branch, a plain tag, and a tag that is not of this commit."""
    if not pin.ref.startswith(TAGS):
        return None
    name = cached_ref(pin.ref)
    tag = _read(repository, name)
    if tag is None and not repository.context.settings.offline:
        repository.fetch_commits([pin.ref])
        tag = _read(repository, name)
    if tag is None or tag.kind != "tag":
        return None
    head = tag.data.partition(b"\n\n")[0].splitlines()
    # An attacker who controls the server can point a ref at a tag that was signed under another name, say an old one.
    is_own = head[:3] == [b"object " + pin.commit.encode(), b"type commit", b"tag " + pin.ref[len(TAGS) :].encode()]
    return tag if is_own else None


def _read_commit(repository: Repository, commit: str) -> GitObject:
    found = _read(repository, commit)
    if found is None:
        if repository.context.settings.offline:
            raise OfflineError([f"{repository.url} at {commit[:12]}"])
        try:
            repository.fetch_ids([commit], depth=1, object_filter="tree:0")
        except GitFailed as failed:
            raise translate_error(failed, repository.url) from failed
        found = _read(repository, commit)
    if found is None or found.kind != "commit":
        raise SignatureError(f"commit {commit[:7]} cannot be read")
    return found


def _read(repository: Repository, name: str) -> GitObject | None:
    return repository.reader.read([name], max_size=MAX_COMMIT_SIZE)[name]


def _is_signed(repository: Repository, verb: str, oid: str, allowed_signers: str) -> bool:
    """Return whether git accepts the signature of a signer in a file of allowed signers."""
    options = {
        "gpg.ssh.allowedSignersFile": os.path.abspath(allowed_signers),
        "gpg.ssh.program": "ssh-keygen",
        # An object with several signatures must not start GnuPG.
        "gpg.program": "false",
        "gpg.x509.program": "false",
        "gpg.minTrustLevel": "fully",
    }
    words = [word for key, value in options.items() for word in ("-c", f"{key}={value}")]
    try:
        repository.run_local([*words, verb, oid])
    except GitFailed as failed:
        if "ssh-keygen" in failed.stderr and "cannot run" in failed.stderr:
            raise SignatureError(
                "git signatures need `ssh-keygen`, which was not found",
                where=allowed_signers,
                hint="install OpenSSH 8.2 or newer",
            ) from failed
        return False
    return True


def _read_fingerprint(data: bytes) -> Digest | None:
    """Return the SHA-256 of the public key in an object's signature, as `ssh-keygen -l` has it; None without one."""
    armored = ARMOR.findall(data)
    if len(armored) != 1:  # with two, the one that git verifies may be another one
        return None
    try:
        blob = base64.b64decode(b"".join(armored[0].split()), validate=True)
    except binascii.Error:
        return None
    length = int.from_bytes(blob[10:14], "big")
    key = blob[14 : 14 + length]
    return Digest(f"sha256:{sha256(key).hexdigest()}") if blob.startswith(MAGIC) and len(key) == length else None
