"""Compare what `push` publishes with what the registry has."""

from hashlib import sha256

from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.json_text.decoder import parse_json
from skillpm.core.text import sanitize
from skillpm.core.versions import parse_version
from skillpm.errors import ConflictError, DocumentError, NotFoundError, RefusedError
from skillpm.fetchers.oci.uploads import Uploader
from skillpm.formats.oci.manifest import Descriptor, SkillManifest, read_descriptor, read_document
from skillpm.kinds.oci import tag_version
from skillpm.publishing.index.oci_artifact import Blob
from skillpm.publishing.index.release_merge import describe_changed_files, find_new_signature
from skillpm.publishing.push_releases import PushRelease


def look_up(uploader: Uploader, release: PushRelease) -> PushRelease:
    """Return a release with its new tags. Raises `ConflictError` for a version that has other content, with the files.

    If it is published with the same files, but annotations of another commit, it becomes what is published: only files
    decide whether a version is the same, or it could not be pushed again from a later commit.
    """
    published = uploader.find_manifest(release.repository, release.tag)
    if not published and release.draft.is_from_history and (newest := _find_newest_tag(uploader, release)):
        manifest = uploader.find_manifest(release.repository, newest)
        found = _adopt(uploader, release, manifest) if manifest else None
        if found is not None:  # a change was taken back, or it was signed again: no new version
            release = found.replace(
                draft=found.draft.replace(version=tag_version(newest)), tags=(newest, *found.tags[1:])
            )
            published = manifest
    elif published and (found := _adopt(uploader, release, published)) is not None:
        release = found
    name, new_tags = release.draft.name, []
    for tag in release.tags:
        current = published if tag == release.tag else uploader.find_manifest(release.repository, tag)
        if current == release.artifact.top.data:
            continue
        if current and tag_version(tag):
            difference = _describe_difference(uploader, release, current, f"oci://{release.repository}:{tag}")
            raise ConflictError(
                f"`{name}` {tag} is published already, with other content: {difference}",
                hint="a published version must not change: raise the version; nothing was pushed",
                skills=[name],
            )
        new_tags.append(tag)
    return release.replace(new_tags=tuple(new_tags))


def _find_newest_tag(uploader: Uploader, release: PushRelease) -> str:
    """Return the tag of the newest published version; empty if there is none."""
    tags = uploader.list_tags(release.repository)
    versions = [(parsed, tag) for tag in tags if (parsed := parse_version(tag_version(tag))) is not None]
    return max(versions)[1] if versions else ""


def _adopt(uploader: Uploader, release: PushRelease, published: bytes) -> PushRelease | None:
    """Return a release as it is published, with its signature if that is new; None if it has other files."""
    address, artifact = f"oci://{release.repository}:{release.tag}", release.artifact
    try:
        manifest, is_image = _read_published(uploader, release, published, address)
        if manifest is None or is_image != bool(artifact.manifests):
            return None
        signature: bytes | None = b""
        blobs = artifact.blobs if is_image else _published_blobs(uploader, release, published, manifest.layer)
        if manifest.layer.digest != artifact.layer.digest:
            layer = uploader.fetch_blob(release.repository, manifest.layer)
            before, after = (uploader.read_archive(data, release.draft.name) for data in (layer, artifact.layer.data))
            signature = find_new_signature(before, after)
    except (DocumentError, NotFoundError, RefusedError):  # something else than a skill, or damaged
        return None
    if signature is None:
        return None
    artifact = artifact.replace(top=artifact.top.replace(data=published), blobs=blobs, manifests=())
    return release.replace(artifact=artifact, signature=signature)


def _published_blobs(uploader: Uploader, release: PushRelease, published: bytes, layer: Descriptor) -> tuple[Blob, ...]:
    """Return the config and the layer of a published manifest, which a collection needs, too."""
    own = {blob.digest: blob for blob in release.artifact.blobs}
    config = read_descriptor(parse_json(published.decode(errors="replace"), release.repository).require("config"))
    return tuple(
        own.get(each.digest) or Blob(media_type=each.media_type, data=uploader.fetch_blob(release.repository, each))
        for each in (config, layer)
    )


def _read_published(
    uploader: Uploader, release: PushRelease, published: bytes, address: str
) -> tuple[SkillManifest | None, bool]:
    """Return the manifest of a published skill, and whether it is one of an image; None for a collection.

    Raises `DocumentError` for something else than a skill.
    """
    document = read_document(published.decode(errors="replace"), address)
    if isinstance(document, SkillManifest):
        return document, False
    if document.is_collection:
        return None, False
    first = uploader.find_manifest(release.repository, document.entries[0].digest)
    document = read_document(first.decode(errors="replace"), address)
    return (document if isinstance(document, SkillManifest) else None), True


def _describe_difference(uploader: Uploader, release: PushRelease, published: bytes, address: str) -> str:
    """Return the names of the files that differ from what is published; the digests if that cannot be read."""
    digests = shorten_distinct_digests(f"sha256:{sha256(published).hexdigest()}", release.artifact.top.digest)
    fallback = f"{address} is {digests[0]}, this would be {digests[1]}"
    try:
        manifest, _ = _read_published(uploader, release, published, address)
        if manifest is None:
            return fallback
        layer = uploader.fetch_blob(release.repository, manifest.layer)
        before = uploader.read_archive(layer, release.draft.name)
    except (DocumentError, NotFoundError, RefusedError):  # something else than a skill, or damaged
        return fallback
    changes = describe_changed_files(before, uploader.read_archive(release.artifact.layer.data, release.draft.name))
    return f"{changes} in {sanitize(release.draft.label)}" if changes else f"{fallback}, with the same files"
