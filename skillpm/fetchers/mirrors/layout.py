"""Mirrors: copies of the skills that lockfiles name, in a folder, a `.tar`, on a web server or in an OCI repository.

In each, a skill is a `.tar.gz`, named by a checksum of its entry in the lockfile (docs/formats.md, "Mirror").
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Literal

from skillpm.core.git_syntax import normalize_web_url
from skillpm.core.json_text.decoder import JsonNode, dump_json, parse_json
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError
from skillpm.formats.oci.manifest import LAYER_TYPE, OCI_MANIFEST
from skillpm.kinds.base import is_local
from skillpm.kinds.oci import PREFIX, read_repository

FORMAT = 1
MARKER = "mirror.json"
FOLDER = "skills"
# The last entry of `replace`: the sources that the lockfile names.
ORIGIN = "origin"
ARTIFACT_TYPE = "application/vnd.skillpm.mirror.v1"
EMPTY_CONFIG = b"{}"  # OCI image specification 1.1, "Guidance for an Empty Descriptor"
EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
MirrorKind = Literal["folder", "file", "web", "oci"]
ADDRESS_HINT = "a folder or a .tar that begins with / or ~/, https://HOST/PATH, or oci://HOST/PATH"


class MirrorAddress(Value):
    """Where a mirror is; `text` is for messages, `location` a path, a URL with a final slash, or a repository."""

    kind: MirrorKind
    text: str
    location: str

    @property
    def is_local(self) -> bool:
        """Whether it is read without a network."""
        return self.kind in {"folder", "file"}


class Replacement(Value):
    """The setting `replace`: mirrors in the order of requests, and whether origins come after them."""

    mirrors: tuple[MirrorAddress, ...] = ()
    allows_origin: bool = True


def read_replacement(node: JsonNode) -> Replacement:
    """Parse a text or a list of texts: addresses of mirrors, of which the last may be `origin`.

    Raises `DocumentError`.
    """
    nodes = list(node.elements()) if isinstance(node.value, list) else [node]
    allows_origin = bool(nodes) and nodes[-1].value == ORIGIN
    return Replacement(
        mirrors=tuple(map(read_mirror_address, nodes[:-1] if allows_origin else nodes)),
        allows_origin=allows_origin or not nodes,
    )


def read_mirror_address(node: JsonNode) -> MirrorAddress:
    """Parse the address of a mirror. Raises `DocumentError`."""
    text = node.path()
    if text == ORIGIN:
        raise DocumentError(f"`{ORIGIN}` must come last", where=node.where, hint="mirrors are tried first")
    if "," in text:  # the variable separates mirrors with commas
        hint = "`config set replace` takes several mirrors with spaces between them"
        raise DocumentError(f"invalid address of a mirror: `{sanitize(text, 120)}`", where=node.where, hint=hint)
    if text.startswith(PREFIX):
        return MirrorAddress(kind="oci", text=text, location=read_repository(node))
    if not is_local(text):
        try:
            url = normalize_web_url(text, error_type=DocumentError, where=node.where).partition("?")[0].rstrip("/")
        except DocumentError as error:
            error.hint = ADDRESS_HINT
            raise
        return MirrorAddress(kind="web", text=f"{url}/", location=f"{url}/")
    if not text.startswith(("/", "~/")):
        raise DocumentError(
            f"invalid address of a mirror: `{sanitize(text, 120)}`", where=node.where, hint=ADDRESS_HINT
        )
    return MirrorAddress(
        kind="file" if text.endswith(".tar") else "folder", text=text, location=text.rstrip("/") or "/"
    )


def archive_path(key: str) -> str:
    """Return where the archive of a skill is in a folder, a `.tar` or on a web server."""
    return f"{FOLDER}/{key}.tar.gz"


def tag_of(key: str) -> str:
    """Return the tag of a skill in an OCI repository."""
    return f"skillpm-{key}"


def write_marker() -> str:
    """Return the text of `mirror.json`."""
    return dump_json({"version": FORMAT})


def check_marker(text: str, file: str) -> None:
    """Check `mirror.json`. Raises `DocumentError`, also for a newer format."""
    parse_json(text, file).check_format(FORMAT)


def build_manifest(archive: bytes) -> bytes:
    """Return the OCI manifest of an archive: an artifact with one layer, the same for each skill with these bytes."""
    return _dump(
        {
            "schemaVersion": 2,
            "mediaType": OCI_MANIFEST,
            "artifactType": ARTIFACT_TYPE,
            "config": _descriptor(EMPTY_TYPE, EMPTY_CONFIG),
            "layers": [_descriptor(LAYER_TYPE, archive)],
        }
    )


def digest_of(data: bytes) -> str:
    """Return the digest of a blob or a manifest."""
    return f"sha256:{sha256(data).hexdigest()}"


def describe_addresses(addresses: Sequence[MirrorAddress]) -> str:
    """Return the addresses of mirrors for messages."""
    return ", ".join(sanitize(address.text, 200) for address in addresses)


def _descriptor(media_type: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": digest_of(data), "size": len(data)}


def _dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
