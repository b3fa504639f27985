"""Compare what `push` publishes with what the registry has."""

from hashlib import sha256

from skillpm.core.decoder import parse_json
from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.names import SIGNATURE_FILE
from skillpm.core.text import sanitize
from skillpm.core.versions import parse_version
from skillpm.errors import ConflictError, DocumentError, NotFoundError, RefusedError
from skillpm.fetchers.oci.uploads import Uploader
from skillpm.formats.oci.manifest import SkillManifest, read_document
from skillpm.formats.oci.reference import tag_version
from skillpm.indexes.publish.release_merge import describe_changed_files
from skillpm.operations.publish.push_releases import Release


def look_up(uploader: Uploader, release: Release) -> Release:
    """Return a release with its new tags. Raises `ConflictError` for a version that has other content, with the files.

    If it is published with the same files, but annotations of another commit, it becomes what is published: only files
    decide whether a version is the same, or it could not be pushed again from a later commit.
    """
    published = uploader.find_manifest(release.repository, release.tag)
    if not published and release.draft.is_from_history and (newest := _find_newest_tag(uploader, release)):
        manifest = uploader.find_manifest(release.repository, newest)
        if manifest and _has_same_layer(uploader, release, manifest):  # a change was taken back: no new version
            top = release.artifact.top.replace(data=manifest)
            release = release.replace(
                draft=release.draft.replace(version=tag_version(newest)),
                tags=(newest, *release.tags[1:]),
                artifact=release.artifact.replace(top=top),
            )
            published = manifest
    elif published and _has_same_files(uploader, release, published):
        top = release.artifact.top.replace(data=published)
        release = release.replace(artifact=release.artifact.replace(top=top, manifests=()))
    name, new_tags = release.draft.name, []
    for tag in release.tags:
        current = published if tag == release.tag else uploader.find_manifest(release.repository, tag)
        if current == release.artifact.top.data:
            continue
        if current and tag_version(tag):
            difference = _describe_difference(uploader, release, current, f"oci://{release.repository}:{tag}")
            is_unsigned = difference.startswith(f"{SIGNATURE_FILE} gone")
            remedy = (
                "sign it again with the same key (--sign), or raise the version" if is_unsigned else "raise the version"
            )
            raise ConflictError(
                f"`{name}` {tag} is published already, with other content: {difference}",
                hint=f"a published version must not change: {remedy}; nothing was pushed",
                skills=[name],
            )
        new_tags.append(tag)
    return release.replace(new_tags=tuple(new_tags))


def _find_newest_tag(uploader: Uploader, release: Release) -> str:
    """Return the tag of the newest published version; empty if there is none."""
    tags = uploader.list_tags(release.repository)
    versions = [(parsed, tag) for tag in tags if (parsed := parse_version(tag_version(tag))) is not None]
    return max(versions)[1] if versions else ""


def _has_same_layer(uploader: Uploader, release: Release, published: bytes) -> bool:
    try:
        manifest, is_image = _read_published(uploader, release, published, f"oci://{release.repository}")
    except DocumentError:  # something else than a skill
        return False
    is_same_kind = is_image == bool(release.artifact.manifests)
    return is_same_kind and manifest is not None and manifest.layer.digest == release.artifact.layer.digest


def _has_same_files(uploader: Uploader, release: Release, published: bytes) -> bool:
    """Return whether the published manifest has the layer of a release and, unless it is an image, its config."""
    address = f"oci://{release.repository}:{release.tag}"
    digests = {blob.digest for blob in release.artifact.blobs}
    try:
        manifest, is_image = _read_published(uploader, release, published, address)
        if manifest is None or is_image != bool(release.artifact.manifests):
            return False
        if is_image:
            return manifest.layer.digest in digests
        config = parse_json(published.decode(errors="replace"), address).require("config").require("digest").text()
    except DocumentError:  # something else than a skill
        return False
    return {config, manifest.layer.digest} == digests


def _read_published(
    uploader: Uploader, release: Release, published: bytes, address: str
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


def _describe_difference(uploader: Uploader, release: Release, published: bytes, address: str) -> str:
    """Return the names of the files that differ from what is published; the digests if that cannot be read."""
    digests = shorten_distinct_digests(f"sha256:{sha256(published).hexdigest()}", release.artifact.top.digest)
    fallback = f"{address} is {digests[0]}, this would be {digests[1]}"
    try:
        manifest, _ = _read_published(uploader, release, published, address)
        if manifest is None:
            return fallback
        before = uploader.read_skill_layer(release.repository, manifest.layer, release.draft.name)
    except (DocumentError, NotFoundError, RefusedError):  # something else than a skill, or damaged
        return fallback
    changes = describe_changed_files(before, uploader.read_archive(release.artifact.layer.data, release.draft.name))
    return f"{changes} in {sanitize(release.draft.label)}" if changes else f"{fallback}, with the same files"
