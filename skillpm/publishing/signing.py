"""Sign skills while they are published: `--sign` of `pack`, `index build` and `push`."""

import os
from typing import TYPE_CHECKING

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SIGNATURE_FILE
from skillpm.core.text import sanitize
from skillpm.errors import SignatureError
from skillpm.files import OS_ERROR_REASONS
from skillpm.publishing.drafts import ReleaseDraft
from skillpm.scope.project import Session
from skillpm.scope.trusted_signers import MAX_KEY_FILE, missing_library_error
from skillpm.trust.statement import find_mismatch

if TYPE_CHECKING:
    from skillpm.trust.skill_signature import SigningKey

PASSPHRASE_VARIABLE = "SKILLPM_SIGN_PASSPHRASE"  # noqa: S105  (its name)


def load_signing_key(session: Session, path: str) -> "SigningKey | None":
    """Return the private key in a PEM file, with its certificates; None without a path. Raises `SignatureError`.

    It may be a pipe, as `--sign <(command)` gives one.
    """
    if not path:
        return None
    try:
        from skillpm.trust.skill_signature import read_signing_key  # noqa: PLC0415  (the extra `sign`)
    except ImportError as error:
        raise missing_library_error() from error
    file = os.path.join(session.settings.working_directory, path)
    try:
        with open(file, "rb") as opened:
            pem = opened.read(MAX_KEY_FILE)
    except OSError as error:
        reason = OS_ERROR_REASONS.get(error.errno or 0, error.strerror or "")
        raise SignatureError(f"cannot read the private key: {reason}", where=sanitize(path)) from error
    passphrase = session.settings.environ.get(PASSPHRASE_VARIABLE, "")
    try:
        return read_signing_key(pem, passphrase.encode() if passphrase else None, sanitize(path))
    except SignatureError as error:
        if not passphrase:
            error.hint = f"if it has a passphrase, set {PASSPHRASE_VARIABLE} in the environment"
        raise


def sign_tree(session: Session, draft: ReleaseDraft, tree: FileTree, key: "SigningKey | None") -> FileTree:
    """Return the files of a draft with a signature; without a key, warn of one that is not that of the files."""
    if key is not None:
        from skillpm.trust.skill_signature import sign_skill  # noqa: PLC0415  (the extra `sign`)

        return sign_skill(tree, draft.name, key)
    if problem := find_mismatch(tree):
        hint = f"sign it again with --sign, or remove {SIGNATURE_FILE}"
        session.reporter.warn(f"{sanitize(draft.label)}: {problem}; {hint}")
    return tree
