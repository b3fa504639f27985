"""The manifest that holds the cosign signatures of another one (sigstore/cosign, `specs/SIGNATURE_SPEC.md`)."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from skillpm.core.digest import SHA256_PATTERN
from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.oci.manifest import OCI_MANIFEST, Descriptor

PAYLOAD_TYPE = "application/vnd.dev.cosign.simplesigning.v1+json"
SIGNATURE_KEY = "dev.cosignproject.cosign/signature"
# Of one manifest, the newest ones, which are added at the end; each costs a request.
MAX_SIGNATURES = 20
MAX_PAYLOAD = 65_536


class PayloadSignature(Value):
    """A signature, and where its payload is."""

    payload: Descriptor
    signature: bytes


def signature_tag(digest: str) -> str:
    """Return the tag of the signatures of a manifest."""
    return f"{digest.replace(':', '-')}.sig"


def read_signatures(text: str, where: str) -> tuple[PayloadSignature, ...]:
    """Return the signatures that a manifest lists; layers of other kinds are left out. Raises `DocumentError`."""
    layers = list(parse_json(text, where).require("layers").elements())[-MAX_SIGNATURES:]
    return tuple(found for layer in layers if (found := _read_signature(layer)) is not None)


def _read_signature(layer: JsonNode) -> PayloadSignature | None:
    annotations = layer.get("annotations")
    signature = None if annotations is None else annotations.get(SIGNATURE_KEY)
    digest, size = layer.require("digest").text(), layer.require("size").number()
    if signature is None or layer.text_or("mediaType") != PAYLOAD_TYPE:
        return None
    if not SHA256_PATTERN.fullmatch(digest.removeprefix("sha256:")) or not 0 < size <= MAX_PAYLOAD:
        raise DocumentError("a signature has an invalid payload", where=layer.where)
    try:
        data = base64.b64decode(signature.text(), validate=True)
    except binascii.Error as error:
        raise DocumentError("a signature is not base64", where=signature.where) from error
    return PayloadSignature(payload=Descriptor(media_type=PAYLOAD_TYPE, digest=digest, size=size), signature=data)


def signature_layer(descriptor: dict[str, Any], signature: bytes) -> dict[str, Any]:
    """Return the layer of a signature, whose payload has this descriptor."""
    return {**descriptor, "annotations": {SIGNATURE_KEY: base64.b64encode(signature).decode()}}


def signature_manifest(config: dict[str, Any], layers: Sequence[Any]) -> dict[str, Any]:
    """Return the manifest of signatures."""
    return {"schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": config, "layers": [*layers]}
