"""Manifests and indexes of an OCI registry, as far as skills need them (OCI image specification 1.1).

Both shapes in use are read: the artifact of the draft "Agent Skills OCI Artifacts", and the ordinary image, as ToolHive
writes it. Each has one layer, a `.tar.gz` of the skill's folder.
"""

from collections.abc import Mapping

from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError
from skillpm.kinds.oci import read_manifest_digest

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_INDEX = "application/vnd.docker.distribution.manifest.list.v2+json"
MANIFEST_TYPES = (OCI_MANIFEST, DOCKER_MANIFEST)
INDEX_TYPES = (OCI_INDEX, DOCKER_INDEX)
ACCEPTED_TYPES = (*MANIFEST_TYPES, *INDEX_TYPES)
SKILL_TYPE = "application/vnd.agentskills.skill.v1"
CONFIG_TYPE = "application/vnd.agentskills.skill.config.v1+json"
LAYER_TYPE = "application/vnd.agentskills.skill.content.v1.tar+gzip"
COLLECTION_TYPE = "application/vnd.agentskills.collection.v1"
# `.tar+gzip` as the image specification ends the type of a compressed layer, and as Docker did before.
LAYER_SUFFIXES = ("tar+gzip", "tar.gzip")
NAME_KEYS = ("io.agentskills.skill.name", "dev.toolhive.skills.name", "org.opencontainers.image.title")
VERSION_KEYS = ("org.opencontainers.image.version", "dev.toolhive.skills.version")
DESCRIPTION_KEYS = ("org.opencontainers.image.description", "dev.toolhive.skills.description")
CREATED_KEY = "org.opencontainers.image.created"
SCHEMA_VERSION = 2
MAX_ENTRIES = 10_000
MAX_LAYERS = 128
ATTESTATION_OS = "unknown"  # the platform of provenance and SBOMs that builders add to an index
HINT = "report it to the publisher; nothing was installed"


class Descriptor(Value):
    """A manifest or a blob that a document refers to."""

    media_type: str
    digest: str
    size: int
    artifact_type: str = ""
    annotations: Mapping[str, str] = EMPTY_MAPPING
    # `OS/ARCHITECTURE`; empty if none is given.
    platform: str = ""

    @property
    def name(self) -> str:
        """The name of its skill, as its publisher annotated it; empty if unknown."""
        return find_annotation(self.annotations, NAME_KEYS)


class SkillManifest(Value):
    """The manifest of one skill."""

    layer: Descriptor
    annotations: Mapping[str, str] = EMPTY_MAPPING

    @property
    def created(self) -> str:
        """When the publisher says that it was made (RFC 3339); empty if unknown."""
        return self.annotations.get(CREATED_KEY, "")


class SkillIndex(Value):
    """An index: a collection of skills, or one skill for several platforms."""

    entries: tuple[Descriptor, ...]
    is_collection: bool


def find_annotation(annotations: Mapping[str, str], keys: tuple[str, ...]) -> str:
    """Return the first annotation among these keys, or an empty string."""
    return next((annotations[key] for key in keys if annotations.get(key)), "")


def read_document(text: str, address: str) -> SkillManifest | SkillIndex:
    """Parse a manifest or an index; `address` is its URL, for messages. Raises `DocumentError`."""
    try:
        return _read(parse_json(text, address))
    except DocumentError as error:
        error.hint = error.hint or HINT
        raise


def _read(node: JsonNode) -> SkillManifest | SkillIndex:
    if (schema := node.require("schemaVersion")).value != SCHEMA_VERSION:
        schema.raise_expected(str(SCHEMA_VERSION))
    media_type = node.text_or("mediaType")
    if media_type and media_type not in ACCEPTED_TYPES:
        node.require("mediaType").raise_expected("the media type of a manifest or an index")
    if media_type in INDEX_TYPES or (not media_type and node.get("manifests") is not None):
        return _read_index(node)
    return _read_manifest(node)


def _read_manifest(node: JsonNode) -> SkillManifest:
    layers = _read_descriptors(node.require("layers"), MAX_LAYERS)
    archives = [layer for layer in layers if layer.media_type.endswith(LAYER_SUFFIXES)]
    if len(archives) != 1:
        types = ", ".join(sanitize(layer.media_type, 80) for layer in layers[:3]) or "none"
        found = f"{len(archives)} of them" if archives else f"its layers: {types}"
        message = f"a skill has one layer that is a .tar.gz (tar+gzip), but this has {found}"
        raise DocumentError(message, where=node.where)
    return SkillManifest(layer=archives[0], annotations=_read_annotations(node))


def _read_index(node: JsonNode) -> SkillIndex:
    entries = _read_descriptors(node.require("manifests"), MAX_ENTRIES)
    entries = tuple(each for each in entries if not each.platform.startswith(f"{ATTESTATION_OS}/"))
    if not entries:
        raise DocumentError("this index has no entries", where=node.where)
    if nested := next((each for each in entries if each.media_type in INDEX_TYPES), None):
        raise DocumentError(f"an index inside of an index: {nested.digest}", where=node.where)
    is_collection = node.text_or("artifactType") == COLLECTION_TYPE or all(
        each.name and not each.platform for each in entries
    )
    return SkillIndex(entries=entries, is_collection=is_collection)


def _read_descriptors(node: JsonNode, limit: int) -> tuple[Descriptor, ...]:
    if isinstance(node.value, list) and len(node.value) > limit:
        node.raise_expected(f"at most {limit} entries")
    return tuple(map(read_descriptor, node.elements()))


def read_descriptor(node: JsonNode) -> Descriptor:
    """Parse how a document refers to a manifest or a blob. Raises `DocumentError`."""
    if (size := node.require("size")).number() < 0:
        size.raise_expected("a size in bytes")
    platform = node.get("platform")
    return Descriptor(
        media_type=node.require("mediaType").text(),
        digest=read_manifest_digest(node.require("digest")),
        size=size.number(),
        artifact_type=node.text_or("artifactType"),
        annotations=_read_annotations(node),
        platform="" if platform is None else f"{platform.text_or('os')}/{platform.text_or('architecture')}",
    )


def _read_annotations(node: JsonNode) -> dict[str, str]:
    annotations = node.get("annotations")
    # Docker writes `null` for none.
    if annotations is None or annotations.value is None:
        return {}
    return {key: value.text() for key, value in annotations.items()}
