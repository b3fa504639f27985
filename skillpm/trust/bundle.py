"""Sigstore bundles: a DSSE envelope, and what its signature is verified with.

Specifications: sigstore protobuf-specs, `sigstore_bundle.proto`, version 0.3 in JSON; DSSE 1.0, "envelope" and "PAE".
"""

import base64
import binascii

from skillpm.core.json_text.decoder import JsonNode, dump_json, parse_json
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, SignatureError

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
# A bundle for 5,000 files has 1.5 MB.
MAX_BUNDLE_SIZE = 4_000_000
MAX_CERTIFICATES = 10


class Bundle(Value):
    """A signed payload. Nothing in it is verified."""

    payload_type: str
    payload: bytes
    signature: bytes
    # In DER, that of the signer first; empty if a plain key signed.
    certificates: tuple[bytes, ...] = ()
    # The SHA-256 of the public key as PEM in hex; empty in old bundles.
    key_hint: str = ""
    # Whether the certificate was issued for one signature to an identity, as Fulcio does.
    has_identity: bool = False

    @property
    def signed_bytes(self) -> bytes:
        """What the signature is over: type and payload with their lengths, so that neither can pass as the other."""
        return encode_signed(self.payload_type, self.payload)


def encode_signed(payload_type: str, payload: bytes) -> bytes:
    """Return the pre-authentication encoding (PAE) of DSSE."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def read_bundle(data: bytes, where: str) -> Bundle:
    """Parse a bundle. Raises `SignatureError`."""
    if len(data) > MAX_BUNDLE_SIZE:
        raise SignatureError(f"{where} is over {MAX_BUNDLE_SIZE} bytes")
    try:
        return _read_bundle(parse_json(data.decode(), where))
    except UnicodeDecodeError as error:
        raise SignatureError(f"{where} is not a sigstore bundle: not UTF-8") from error
    except DocumentError as error:
        place = error.where.removeprefix(where).lstrip(": ")
        reason = f"{place}: {error.message}" if place else error.message
        raise SignatureError(f"{where} is not a sigstore bundle: {reason}") from error


def _read_bundle(top: JsonNode) -> Bundle:
    if (media_type := top.require("mediaType")).text() != MEDIA_TYPE:
        media_type.raise_expected(MEDIA_TYPE)
    envelope, material = top.require("dsseEnvelope"), top.require("verificationMaterial")
    signatures = list(envelope.require("signatures").elements())
    if len(signatures) != 1:
        # Verifiers could disagree on which of several applies.
        raise DocumentError(f"expected one signature, got {len(signatures)}", where=envelope.where)
    chain, certificate, key = (material.get(key) for key in ("x509CertificateChain", "certificate", "publicKey"))
    if sum(part is not None for part in (chain, certificate, key)) != 1:
        message = "expected one of `certificate`, `publicKey` and `x509CertificateChain`"
        raise DocumentError(message, where=material.where)
    nodes = [certificate] if certificate else list(chain.require("certificates").elements()) if chain else []
    if len(nodes) > MAX_CERTIFICATES or (chain and not nodes):
        raise DocumentError(f"expected 1 to {MAX_CERTIFICATES} certificates, got {len(nodes)}", where=material.where)
    return Bundle(
        payload_type=envelope.require("payloadType").text(),
        payload=_decode(envelope.require("payload")),
        signature=_decode(signatures[0].require("sig")),
        certificates=tuple(_decode(node.require("rawBytes")) for node in nodes),
        key_hint=key.text_or("hint") if key else "",
        has_identity=certificate is not None,
    )


def write_bundle(bundle: Bundle) -> bytes:
    """Return the JSON of a bundle that was signed with a plain key or a certificate."""
    certificates = [{"rawBytes": _encode(certificate)} for certificate in bundle.certificates]
    material = (
        {"x509CertificateChain": {"certificates": certificates}}
        if certificates
        else {"publicKey": {"hint": bundle.key_hint}}
    )
    return dump_json(
        {
            "mediaType": MEDIA_TYPE,
            "verificationMaterial": {**material, "tlogEntries": []},
            "dsseEnvelope": {
                "payload": _encode(bundle.payload),
                "payloadType": bundle.payload_type,
                "signatures": [{"sig": _encode(bundle.signature), "keyid": ""}],
            },
        }
    ).encode()


def _decode(node: JsonNode) -> bytes:
    try:
        return base64.b64decode(node.text(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise DocumentError(f"invalid base64: {sanitize(str(error), 80)}", where=node.where) from error


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()
