"""Verify the signature that a skill ships, and sign a skill."""

from collections.abc import Sequence
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from skillpm.core.digest import Digest, content_hash
from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.names import SIGNATURE_FILE
from skillpm.errors import SignatureError
from skillpm.trust.anchors import (
    HASHES,
    SUPPORTED,
    Anchors,
    check_key,
    key_hint,
    verify_with_chain,
    verify_with_keys,
)
from skillpm.trust.bundle import Bundle, encode_signed, write_bundle
from skillpm.trust.statement import BESIDE, PAYLOAD_TYPE, check_files, read_signature, write_statement


class SigningKey:
    """A private key, and the certificates that vouch for it. It never appears in a message."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificates: Sequence[x509.Certificate] = ()) -> None:
        self._key = key
        self.certificates = tuple(certificates)

    @property
    def public_key(self) -> ec.EllipticCurvePublicKey:
        """The key that verifies what this one signs."""
        return self._key.public_key()

    def sign(self, data: bytes, algorithm: hashes.HashAlgorithm | None = None) -> bytes:
        """Return the signature over data, hashed as the curve demands, or as given."""
        # Deterministic (RFC 6979): the same skill yields the same archive, and a published version can be built again.
        algorithm = algorithm or HASHES[self._key.curve.name]
        return self._key.sign(data, ec.ECDSA(algorithm, deterministic_signing=True))


def read_signing_key(pem: bytes, passphrase: bytes | None, where: str) -> SigningKey:
    """Parse a PEM file: a private key, and after it the certificates that vouch for it, if there are any.

    The first certificate must be that of the key. A passphrase for a key that has none is ignored.
    """
    is_encrypted = b"ENCRYPTED" in pem
    try:
        key = serialization.load_pem_private_key(pem, passphrase if is_encrypted else None)
    except TypeError as error:  # the passphrase is missing
        raise SignatureError("the private key needs a passphrase", where=where) from error
    except ValueError as error:
        raise SignatureError("not a PEM file with a private key, or the passphrase is wrong", where=where) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise SignatureError(f"unsupported key; expected {SUPPORTED}", where=where)
    public_key = check_key(key.public_key(), where)
    certificates = x509.load_pem_x509_certificates(pem) if b"-----BEGIN CERTIFICATE-----" in pem else []
    if certificates and certificates[0].public_key() != public_key:
        raise SignatureError("the first certificate is not that of the private key", where=where)
    return SigningKey(key, certificates)


def verify_skill(
    tree: FileTree, anchors: Anchors, at: datetime | None = None, *, beside: bytes | None = None
) -> Digest:
    """Return the fingerprint of the trusted signer of a skill, all of whose files must be the signed ones.

    It is that of the public key, which a renewed certificate may keep. The signature is the one that the skill ships,
    unless one that is published `beside` it is given. Raises `SignatureError`.
    """
    data = beside or tree.read(SIGNATURE_FILE)
    if data is None:
        raise SignatureError(f"it is not signed: there is no {SIGNATURE_FILE}")
    bundle, statement = read_signature(data, BESIDE if beside else SIGNATURE_FILE)
    check_files(tree, statement)
    if bundle.has_identity:
        raise SignatureError("it is signed with a sigstore identity")
    if bundle.certificates:
        return verify_with_chain(anchors, bundle.certificates, bundle.signature, bundle.signed_bytes, at)
    return verify_with_keys(anchors, bundle.signature, bundle.signed_bytes)


def sign_skill(tree: FileTree, name: str, key: SigningKey) -> FileTree:
    """Return the skill with its signature as `skill.oms.sig`, in place of an old one."""
    payload = write_statement(tree, name)
    bundle = Bundle(
        payload_type=PAYLOAD_TYPE,
        payload=payload,
        signature=key.sign(encode_signed(PAYLOAD_TYPE, payload)),
        certificates=tuple(it.public_bytes(serialization.Encoding.DER) for it in key.certificates),
        key_hint=key_hint(key.public_key),
    )
    data = write_bundle(bundle)
    signature = TreeFile(path=SIGNATURE_FILE, data=data, content_hash=content_hash(data))
    files = [*tree.without(SIGNATURE_FILE).files, signature]
    return FileTree(files=tuple(sorted(files, key=lambda file: file.path.encode())))
