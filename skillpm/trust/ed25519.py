"""Signatures of published policies: Ed25519 (RFC 8032) over the bytes of the document, in base64."""

import base64
import binascii
from typing import TYPE_CHECKING

from skillpm.core.suggestions import extra_hint
from skillpm.errors import DocumentError, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PREFIX = "ed25519:"


def is_signed(data: bytes, signature: bytes, key: str) -> bool:
    """Return whether a signature in base64 is that of the data by a key, `ed25519:…`. Raises `UsageError`."""
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  (an optional dependency)
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    except ImportError as error:
        raise missing_package_error() from error
    try:
        public_key = Ed25519PublicKey.from_public_bytes(base64.b64decode(key.removeprefix(PREFIX), validate=True))
        public_key.verify(base64.b64decode(signature.strip(), validate=True), data)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True


def sign(data: bytes, private_key: "Ed25519PrivateKey") -> bytes:
    """Return the signature of data, in base64 with a final newline."""
    return base64.b64encode(private_key.sign(data)) + b"\n"


def format_public_key(private_key: "Ed25519PrivateKey") -> str:
    """Return the public key as `[fetch]` has it."""
    return PREFIX + base64.b64encode(private_key.public_key().public_bytes_raw()).decode()


def create_private_key() -> bytes:
    """Return a new private key: PKCS #8 in PEM. Raises `UsageError`."""
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  (an optional dependency)
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
    except ImportError as error:
        raise missing_package_error() from error
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def read_private_key(data: bytes, file: str) -> "Ed25519PrivateKey":
    """Read a private key without a password. Raises `DocumentError` for anything else, and `UsageError`."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  (an optional dependency)
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415
        from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415
    except ImportError as error:
        raise missing_package_error() from error
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        hint = "create one with `skillpm policy new-key FILE`"
        raise DocumentError("expected an Ed25519 private key in PEM, without a password", where=file, hint=hint)
    return key


def missing_package_error() -> UsageError:
    """Return the error if `cryptography` is not installed."""
    return UsageError("signatures of policies need a package that is not installed", hint=extra_hint("sign"))
