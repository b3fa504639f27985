"""Signatures of cosign in OCI registries: a "simple signing" payload that names the digest of a manifest.

Specification: sigstore/cosign, `specs/SIGNATURE_SPEC.md`. The signatures of a manifest are the layers of another one,
whose tag is made of its digest.
"""

import json

from cryptography.hazmat.primitives import hashes

from skillpm.core.digest import Digest
from skillpm.core.json_text.decoder import parse_json
from skillpm.errors import DocumentError, SignatureError
from skillpm.trust.anchors import Anchors, fingerprint, has_signed
from skillpm.trust.skill_signature import SigningKey

TYPE = "cosign container image signature"
# cosign hashes with SHA-256 for keys on any curve.
ALGORITHM = hashes.SHA256()


def write_payload(repository: str, digest: str) -> bytes:
    """Return the payload to sign for a manifest; the repository is for information only."""
    critical = {
        "identity": {"docker-reference": repository},
        "image": {"docker-manifest-digest": digest},
        "type": TYPE,
    }
    return json.dumps({"critical": critical, "optional": None}, separators=(",", ":")).encode()


def sign_payload(key: SigningKey, payload: bytes) -> bytes:
    """Return the signature of a payload."""
    return key.sign(payload, ALGORITHM)


def verify_payload(anchors: Anchors, payload: bytes, signature: bytes, digest: str) -> Digest:
    """Return the fingerprint of the trusted key that signed a payload of this manifest. Raises `SignatureError`."""
    signer = next((key for key in anchors.keys if has_signed(key, signature, payload, ALGORITHM)), None)
    if signer is None:
        raise SignatureError("its cosign signature is not of a trusted key")
    try:
        critical = parse_json(payload.decode(), "payload").require("critical")
        signed, kind = critical.require("image").require("docker-manifest-digest").text(), critical.require("type")
        if kind.text() != TYPE:
            kind.raise_expected(TYPE)
    except (DocumentError, UnicodeDecodeError) as error:
        raise SignatureError("its cosign signature is over something else than a manifest") from error
    if signed != digest:
        raise SignatureError("its cosign signature is that of another manifest")
    return fingerprint(signer)
