"""Signatures beside a manifest: other manifests that name it as their subject.

OCI distribution specification 1.1, "Listing Referrers", and "Referrers Tag Schema" for registries without that.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.errors import NotFoundError, RefusedError
from skillpm.fetchers.http.client import Request
from skillpm.fetchers.oci.registry import MAX_MANIFEST, OciRegistries
from skillpm.formats.oci.manifest import OCI_INDEX, OCI_MANIFEST, Descriptor, read_descriptor
from skillpm.trust.bundle import MAX_BUNDLE_SIZE, MEDIA_TYPE
from skillpm.trust.statement import PREDICATE_TYPE

# As cosign attaches bundles, with what is signed in an annotation: others are not over the files of a skill.
PREDICATE_KEY = "dev.sigstore.bundle.predicateType"
EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
EMPTY_CONFIG = b"{}"
# Of one manifest; each costs two requests.
MAX_SIGNATURES = 20


def read_signatures_beside(
    registries: OciRegistries, repository: str, digest: str, actions: str = "pull"
) -> list[bytes]:
    """Return the signatures that are attached to a manifest, none of them verified.

    Raises `DocumentError` and `RefusedError` for damaged ones, and `NotFoundError` if a part is missing.
    """
    listed = [each for each in _list_referrers(registries, repository, digest, actions) if _is_signature(each)]
    return [_read_signature(registries, repository, each, actions) for each in listed[:MAX_SIGNATURES]]


def referrers_tag(digest: str) -> str:
    """Return the tag of the index that lists the referrers of a manifest, where the registry does not."""
    return digest.replace(":", "-")


def signature_blob(data: bytes) -> Mapping[str, Any]:
    """Return the descriptor of a signature."""
    return _describe(MEDIA_TYPE, data)


def build_signature_manifest(data: bytes, subject: Mapping[str, Any]) -> bytes:
    """Return the manifest that attaches a signature to the manifest that `subject` describes."""
    value = {
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "artifactType": MEDIA_TYPE,
        "config": _describe(EMPTY_TYPE, EMPTY_CONFIG),
        "layers": [signature_blob(data)],
        "subject": {key: subject[key] for key in ("mediaType", "digest", "size")},
        "annotations": {PREDICATE_KEY: PREDICATE_TYPE},
    }
    return json.dumps(value, separators=(",", ":")).encode()


def add_referrer(index: bytes, manifest: bytes, where: str) -> bytes:
    """Return the index of the referrers' tag with one more manifest, the newest first. Raises `DocumentError`."""
    listed = parse_json(index.decode(errors="replace"), where).require("manifests").value if index else []
    entry = {**_describe(OCI_MANIFEST, manifest), "artifactType": MEDIA_TYPE}
    entry["annotations"] = {PREDICATE_KEY: PREDICATE_TYPE}
    value = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [entry, *listed]}
    return json.dumps(value, separators=(",", ":")).encode()


def _list_referrers(registries: OciRegistries, repository: str, digest: str, actions: str) -> list[Descriptor]:
    query = f"?artifactType={quote(MEDIA_TYPE, safe='')}"
    try:
        request = Request(headers={"Accept": OCI_INDEX}, limit=MAX_MANIFEST)
        text = registries.send(repository, f"referrers/{digest}{query}", request, actions).body
    except NotFoundError:
        text = registries.find_manifest(repository, referrers_tag(digest), actions)
    if not text:
        return []
    node = parse_json(text.decode(errors="replace"), f"oci://{repository}@{digest} (referrers)")
    return [read_descriptor(each) for each in _elements(node)]


def _elements(node: JsonNode) -> list[JsonNode]:
    manifests = node.get("manifests")
    # Some registries write `null` for none.
    return [] if manifests is None or manifests.value is None else [*manifests.elements()]


def _is_signature(entry: Descriptor) -> bool:
    return entry.artifact_type == MEDIA_TYPE and entry.annotations.get(PREDICATE_KEY, PREDICATE_TYPE) == PREDICATE_TYPE


def _read_signature(registries: OciRegistries, repository: str, entry: Descriptor, actions: str) -> bytes:
    where = f"oci://{repository}@{entry.digest}"
    manifest = registries.find_manifest(repository, entry.digest, actions)
    if f"sha256:{sha256(manifest).hexdigest()}" != entry.digest:
        raise RefusedError(f"{where} {'does not match its digest' if manifest else 'does not exist'}")
    layers = parse_json(manifest.decode(errors="replace"), where).require("layers")
    blobs = [blob for blob in map(read_descriptor, layers.elements()) if blob.media_type == MEDIA_TYPE]
    if len(blobs) != 1 or blobs[0].size > MAX_BUNDLE_SIZE:
        layers.raise_expected(f"one signature of at most {MAX_BUNDLE_SIZE} bytes")
    return registries.fetch_blob(repository, blobs[0])


def _describe(media_type: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": f"sha256:{sha256(data).hexdigest()}", "size": len(data)}
