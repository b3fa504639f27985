"""What the user trusts: root certificates and public keys; and whether a signature was made with one of them.

All cryptography is that of the `cryptography` library, which the extra `[sign]` installs.
"""

import contextlib
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import verification
from cryptography.x509.oid import ExtendedKeyUsageOID

from skillpm.core.digest import Digest
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import SignatureError

# The curves of model-signing and cosign, each with the hash of its size; no other kind of key signs skills.
HASHES: dict[str, hashes.HashAlgorithm] = {
    "secp256r1": hashes.SHA256(),
    "secp384r1": hashes.SHA384(),
    "secp521r1": hashes.SHA512(),
}
SIGNING_PURPOSES = {ExtendedKeyUsageOID.CODE_SIGNING, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
# What `cryptography` raises for certificates that are not what they should be.
DAMAGED = (ValueError, TypeError, UnsupportedAlgorithm, x509.DuplicateExtension, x509.InvalidVersion)
SUPPORTED = "an ECDSA key on P-256, P-384 or P-521"


class Anchors(Value):
    """Trusted roots and keys, and certificates that only complete a chain."""

    roots: tuple[x509.Certificate, ...] = ()
    intermediates: tuple[x509.Certificate, ...] = ()
    keys: tuple[ec.EllipticCurvePublicKey, ...] = ()

    def __add__(self, other: "Anchors") -> "Anchors":
        return Anchors(
            roots=self.roots + other.roots,
            intermediates=self.intermediates + other.intermediates,
            keys=self.keys + other.keys,
        )


def read_certificates(pem: bytes, where: str) -> Anchors:
    """Parse a PEM file: certificates that signed themselves are roots, others complete chains."""
    try:
        certificates = x509.load_pem_x509_certificates(pem)
    except ValueError as error:
        raise SignatureError("not a PEM file with certificates", where=where) from error
    roots = tuple(certificate for certificate in certificates if certificate.issuer == certificate.subject)
    if not roots:
        raise SignatureError("the file contains no root certificate (no self-signed one)", where=where)
    return Anchors(roots=roots, intermediates=tuple(it for it in certificates if it not in roots))


def read_public_key(pem: bytes, where: str) -> Anchors:
    """Parse a PEM file with a public key."""
    try:
        return Anchors(keys=(check_key(serialization.load_pem_public_key(pem), where),))
    except ValueError as error:
        raise SignatureError("not a PEM file with a public key", where=where) from error


def check_key(key: object, where: str) -> ec.EllipticCurvePublicKey:
    """Return a public key of a supported kind. Raises `SignatureError`."""
    if isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in HASHES:
        return key
    raise SignatureError(f"unsupported key; expected {SUPPORTED}", where=where)


def fingerprint(key: ec.EllipticCurvePublicKey) -> Digest:
    """Return the SHA-256 of a public key in DER, as `openssl pkey -pubin -outform der | sha256sum` prints it."""
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return Digest(f"sha256:{sha256(der).hexdigest()}")


def key_hint(key: ec.EllipticCurvePublicKey) -> str:
    """Return what model-signing writes into a bundle to name a key: the SHA-256 of its PEM."""
    pem = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return sha256(pem).hexdigest()


def has_signed(
    key: ec.EllipticCurvePublicKey, signature: bytes, data: bytes, algorithm: hashes.HashAlgorithm | None = None
) -> bool:
    """Return whether a key made a signature over data, by default with the hash of its size."""
    with contextlib.suppress(InvalidSignature):
        # The key determines the hash, not the bundle, so an attacker cannot choose the algorithm.
        key.verify(signature, data, ec.ECDSA(algorithm or HASHES[key.curve.name]))
        return True
    return False


def verify_with_keys(anchors: Anchors, signature: bytes, data: bytes) -> Digest:
    """Return the fingerprint of the trusted key that signed. Raises `SignatureError`."""
    for key in anchors.keys:
        if has_signed(key, signature, data):
            return fingerprint(key)
    raise SignatureError("it is not signed with a trusted key")


def verify_with_chain(
    anchors: Anchors, chain: Sequence[bytes], signature: bytes, data: bytes, at: datetime | None
) -> Digest:
    """Return the fingerprint of the signer, whose certificate a trusted root issued. Raises `SignatureError`.

    `at` is when all certificates must be valid; None means when that of the signer was issued, as model-signing does.
    """
    try:
        certificates = [x509.load_der_x509_certificate(part) for part in chain]
        return _verify_certificates(anchors, certificates, signature, data, at)
    except DAMAGED as error:  # some parts are only parsed when they are read
        raise SignatureError("its certificates are damaged") from error


def _verify_certificates(
    anchors: Anchors, chain: Sequence[x509.Certificate], signature: bytes, data: bytes, at: datetime | None
) -> Digest:
    signer, *others = chain
    key, name = check_key(signer.public_key(), "its certificate"), sanitize(signer.subject.rfc4514_string(), 200)
    if not has_signed(key, signature, data):
        raise SignatureError(f"its signature is not of the key of its certificate ({name})")
    if not _is_for_signing(signer):
        raise SignatureError(f"its certificate is not for signing ({name})")
    valid = signer.not_valid_before_utc, signer.not_valid_after_utc
    if at is not None and not valid[0] <= at <= valid[1]:
        raise SignatureError(f"its certificate is only valid from {valid[0]:%Y-%m-%d} to {valid[1]:%Y-%m-%d} ({name})")
    if signer not in anchors.roots and not _has_chain(anchors, signer, others, at or valid[0]):
        issuer = sanitize((others[-1] if others else signer).issuer.rfc4514_string(), 200)
        raise SignatureError(f"it is signed by {name}, but no trusted root vouches for it; its own is {issuer}")
    return fingerprint(key)


def _has_chain(anchors: Anchors, signer: x509.Certificate, others: Sequence[x509.Certificate], at: datetime) -> bool:
    """Return whether a chain of certificates, valid at a given time, connects the signer to a trusted root."""
    if not anchors.roots:
        return False
    # RFC 5280, not the rules for web sites: no names of servers, and a CA may lack what browsers demand.
    ca_policy = (
        verification.ExtensionPolicy.permit_all()
        .require_present(x509.BasicConstraints, verification.Criticality.AGNOSTIC, None)
        .may_be_present(x509.KeyUsage, verification.Criticality.AGNOSTIC, _check_ca_usage)
        .may_be_present(x509.ExtendedKeyUsage, verification.Criticality.AGNOSTIC, _check_purposes)
    )
    policy = (
        verification.PolicyBuilder()
        .store(verification.Store([*anchors.roots]))
        .time(at)
        .extension_policies(ca_policy=ca_policy, ee_policy=verification.ExtensionPolicy.permit_all())
    )
    try:
        policy.build_client_verifier().verify(signer, [*others, *anchors.intermediates])
    except verification.VerificationError:
        return False
    return True


def _check_ca_usage(_: object, __: x509.Certificate, usage: x509.KeyUsage | None) -> None:
    if usage is not None and not usage.key_cert_sign:
        raise ValueError("not a CA")


def _check_purposes(_: object, __: x509.Certificate, purposes: x509.ExtendedKeyUsage | None) -> None:
    """Refuse an authority that may only issue other certificates, e.g. for TLS servers."""
    if purposes is not None and SIGNING_PURPOSES.isdisjoint(purposes):
        raise ValueError("not for signing")


def _is_for_signing(certificate: x509.Certificate) -> bool:
    """Return whether a certificate may sign: as its key usage and its extended key usage say (RFC 5280, 4.2.1.12).

    Those that it has must both allow it, and it must have one of them.

    The certificate of a TLS server has the key usage of a signature, too. model-signing accepts it, so with the root of
    an organization, each of its servers could sign skills.
    """
    answers = []
    with contextlib.suppress(x509.ExtensionNotFound):
        purposes = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        answers.append(not SIGNING_PURPOSES.isdisjoint(purposes))
    with contextlib.suppress(x509.ExtensionNotFound):
        answers.append(certificate.extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature)
    return bool(answers) and all(answers)
