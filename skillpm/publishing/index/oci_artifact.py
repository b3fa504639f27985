"""What a skill is in an OCI registry: its layer, its config and its manifest, the same bytes on any machine.

By default as the draft "Agent Skills OCI Artifacts" 0.1.0; as an image, in the form of ToolHive, which Kubernetes can
mount as a volume.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from skillpm.core.file_tree import FileTree
from skillpm.core.values import Value
from skillpm.formats.oci.manifest import (
    COLLECTION_TYPE,
    CONFIG_TYPE,
    CREATED_KEY,
    LAYER_TYPE,
    OCI_INDEX,
    OCI_MANIFEST,
    SKILL_TYPE,
)
from skillpm.publishing.index.tarball import compress, pack_tar
from skillpm.skillmd.skill import Skill

TOOLHIVE_TYPE = "dev.toolhive.skills.v1"
IMAGE_CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
IMAGE_LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
ARCHITECTURES = ("amd64", "arm64")


class Blob(Value):
    """Bytes with their media type."""

    media_type: str
    data: bytes

    @property
    def digest(self) -> str:
        """Their SHA-256."""
        return f"sha256:{sha256(self.data).hexdigest()}"

    def descriptor(self, **more: Any) -> dict[str, Any]:
        """Return how documents refer to it."""
        return {"mediaType": self.media_type, "digest": self.digest, "size": len(self.data), **more}


class Artifact(Value):
    """All that a tag needs: the blobs, the manifests, and last the document that the tag points at."""

    blobs: tuple[Blob, ...]
    manifests: tuple[Blob, ...] = ()
    top: Blob

    @property
    def layer(self) -> Blob:
        """The files of the skill."""
        return next(blob for blob in self.blobs if blob.media_type in {LAYER_TYPE, IMAGE_LAYER_TYPE})


class ReleaseFacts(Value):
    """What annotations tell of a release; empty where it is unknown."""

    name: str
    version: str
    created: str = ""  # RFC 3339
    source: str = ""  # the URL of its repository
    revision: str = ""  # the commit


def build_artifact(skill: Skill, tree: FileTree, facts: ReleaseFacts) -> Artifact:
    """Return a skill as an artifact with one layer, in a folder of its name."""
    layer = Blob(media_type=LAYER_TYPE, data=compress(pack_tar(tree, facts.name)))
    config = Blob(media_type=CONFIG_TYPE, data=_dump(_config(skill, facts)))
    value = {
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "artifactType": SKILL_TYPE,
        "config": config.descriptor(),
        "layers": [layer.descriptor()],
        "annotations": skill_annotations(skill, facts),
    }
    return Artifact(blobs=(config, layer), top=Blob(media_type=OCI_MANIFEST, data=_dump(value)))


def build_image(skill: Skill, tree: FileTree, facts: ReleaseFacts) -> Artifact:
    """Return a skill as an image for each platform, all with the same layer."""
    tar = pack_tar(tree, facts.name)
    layer = Blob(media_type=IMAGE_LAYER_TYPE, data=compress(tar))
    annotations = skill_annotations(skill, facts) | _toolhive_annotations(skill, facts)
    labels = _toolhive_annotations(skill, facts) | {
        "dev.toolhive.skills.allowedTools": json.dumps(list(skill.allowed_tools)),
        "dev.toolhive.skills.license": skill.license,
        "dev.toolhive.skills.files": json.dumps([f"{facts.name}/{file.path}" for file in tree.files]),
    }
    blobs, manifests, entries = [layer], [], []
    for architecture in ARCHITECTURES:
        config = Blob(
            media_type=IMAGE_CONFIG_TYPE,
            data=_dump(
                {
                    "architecture": architecture,
                    "os": "linux",
                    "config": {"Labels": labels},
                    "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(tar).hexdigest()}"]},
                }
                | ({"created": facts.created} if facts.created else {})
            ),
        )
        value = {
            "schemaVersion": 2,
            "mediaType": OCI_MANIFEST,
            "artifactType": TOOLHIVE_TYPE,
            "config": config.descriptor(),
            "layers": [layer.descriptor()],
            "annotations": annotations,
        }
        manifest = Blob(media_type=OCI_MANIFEST, data=_dump(value))
        blobs.append(config)
        manifests.append(manifest)
        entries.append(manifest.descriptor(platform={"architecture": architecture, "os": "linux"}))
    top = _index(TOOLHIVE_TYPE, entries, annotations)
    return Artifact(blobs=tuple(blobs), manifests=tuple(manifests), top=top)


def build_collection(name: str, version: str, entries: Sequence[tuple[Blob, Mapping[str, str], str]]) -> Blob:
    """Return the index of a collection; an entry is a manifest, its annotations, and where it was pushed to."""
    described = [
        manifest.descriptor(
            artifactType=SKILL_TYPE, annotations=dict(sorted({**annotations, "io.agentskills.skill.ref": ref}.items()))
        )
        for manifest, annotations, ref in entries
    ]
    annotations = {"io.agentskills.collection.name": name, "org.opencontainers.image.version": version}
    return _index(COLLECTION_TYPE, described, {key: text for key, text in annotations.items() if text})


def skill_annotations(skill: Skill, facts: ReleaseFacts) -> dict[str, str]:
    """Return the annotations of a skill's manifest and of its entry in a collection, sorted."""
    annotations = {
        "org.opencontainers.image.title": facts.name,
        "org.opencontainers.image.description": skill.description,
        "org.opencontainers.image.version": facts.version,
        CREATED_KEY: facts.created,
        "org.opencontainers.image.licenses": skill.license,
        "org.opencontainers.image.source": facts.source,
        "org.opencontainers.image.revision": facts.revision,
        "io.agentskills.skill.name": facts.name,
        "io.agentskills.skill.compatibility": skill.compatibility,
    }
    return {key: text for key, text in sorted(annotations.items()) if text}


def _index(artifact_type: str, entries: Sequence[Mapping[str, Any]], annotations: Mapping[str, str]) -> Blob:
    value = {
        "schemaVersion": 2,
        "mediaType": OCI_INDEX,
        "artifactType": artifact_type,
        "manifests": entries,
        "annotations": dict(sorted(annotations.items())),
    }
    return Blob(media_type=OCI_INDEX, data=_dump(value))


def _config(skill: Skill, facts: ReleaseFacts) -> dict[str, Any]:
    fields = {
        "schemaVersion": "1.0",
        "name": facts.name,
        "version": facts.version,
        "description": skill.description,
        "license": skill.license,
        "compatibility": skill.compatibility,
        "allowedTools": list(skill.allowed_tools),
        "metadata": {key: str(value) for key, value in skill.metadata.items()},
    }
    return {key: value for key, value in fields.items() if value}


def _toolhive_annotations(skill: Skill, facts: ReleaseFacts) -> dict[str, str]:
    annotations = {
        "dev.toolhive.skills.name": facts.name,
        "dev.toolhive.skills.description": skill.description,
        "dev.toolhive.skills.version": facts.version,
    }
    return {key: text for key, text in annotations.items() if text}


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
