"""Skills in OCI registries as different writers publish them."""

import gzip
import io
import json
import tarfile
from collections.abc import Mapping
from typing import Any

from kit import Files, OciRegistry, digest_of
from kit.skills import to_bytes

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
SKILL = "application/vnd.agentskills.skill.v1"
COLLECTION = "application/vnd.agentskills.collection.v1"
LAYER = "application/vnd.agentskills.skill.content.v1.tar+gzip"
CONFIG = "application/vnd.agentskills.skill.config.v1+json"


def pack(files: Files, folder: str = "") -> bytes:
    """Return a `.tar.gz` of files, all below a folder if one is given."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, content in sorted(files.items()):
            member = tarfile.TarInfo(f"{folder}/{path}" if folder else path)
            member.size = len(to_bytes(content))
            archive.addfile(member, io.BytesIO(to_bytes(content)))
    return gzip.compress(buffer.getvalue(), mtime=0)


def descriptor(media_type: str, data: bytes, **more: Any) -> dict[str, Any]:
    """Return how a manifest refers to a blob."""
    return {"mediaType": media_type, "digest": digest_of(data), "size": len(data), **more}


def manifest_of(layer: bytes, *, annotations: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """Return the manifest of an artifact with one layer and an empty config; `more` replaces its fields."""
    return {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": SKILL,
        "config": descriptor(CONFIG, b"{}"),
        "layers": [descriptor(LAYER, layer)],
        "annotations": dict(annotations or {}),
        **more,
    }


def publish(registry: OciRegistry, repository: str, tag: str, files: Files, *, name: str = "", **more: Any) -> str:
    """Publish a skill under a tag, as an artifact; return the digest of its manifest."""
    layer = pack(files, name or repository.rpartition("/")[2])
    registry.add_blob(repository, b"{}")
    registry.add_blob(repository, layer)
    return registry.add_manifest(repository, tag, manifest_of(layer, **more))


def publish_collection(registry: OciRegistry, repository: str, tag: str, skills: Mapping[str, Files]) -> str:
    """Publish skills and a collection of them, in one repository; return the digest of the collection."""
    entries = []
    for name, files in skills.items():
        layer = pack(files, name)
        registry.add_blob(repository, layer)
        data = json.dumps(manifest_of(layer)).encode()
        registry.add_manifest(repository, digest_of(data), data)
        annotations = {"io.agentskills.skill.name": name, "org.opencontainers.image.description": f"Use for {name}."}
        entries.append(descriptor(MANIFEST, data, artifactType=SKILL, annotations=annotations))
    index = {"schemaVersion": 2, "mediaType": INDEX, "artifactType": COLLECTION, "manifests": entries}
    return registry.add_manifest(repository, tag, index)


def requests_of(registry: OciRegistry) -> list[str]:
    """Return method and path of all requests, sorted, digests shortened: what a command cost."""
    return sorted(f"{each.method} {_shorten(each.path)}" for each in registry.requests)


def _shorten(path: str) -> str:
    head, colon, digest = path.partition("sha256:")
    return f"{head}{colon}…" if colon and digest else path
