"""`push`: publish skills in an OCI registry, each as a tag of a repository, and several as a collection."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillpm.core.json_text.decoder import dump_json, parse_json
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, UsageError
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.oci.registry import OciRegistries
from skillpm.fetchers.oci.uploads import Uploader
from skillpm.formats.oci.manifest import OCI_MANIFEST
from skillpm.formats.oci.signature import PAYLOAD_TYPE, signature_layer, signature_manifest, signature_tag
from skillpm.kinds.oci import OciSource, is_tag, repository_url, tag_version
from skillpm.publishing.index.oci_artifact import (
    IMAGE_CONFIG_TYPE,
    Blob,
    build_collection,
)
from skillpm.publishing.libraries import require_libraries
from skillpm.publishing.push_releases import PushRelease, PushRequest, parse_destination, read_releases
from skillpm.scope.project import Session

if TYPE_CHECKING:
    from skillpm.trust.skill_signature import SigningKey

from hashlib import sha256

from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.versions import parse_version
from skillpm.errors import DocumentError, NotFoundError, RefusedError
from skillpm.formats.oci.manifest import Descriptor, SkillManifest, read_descriptor, read_document
from skillpm.publishing.index.release_merge import describe_changed_files, find_new_signature


class Pushed(Value):
    """A tag after the push; `is_new` is False if it was there already, with the same content."""

    name: str
    version: str
    ref: str
    digest: str
    is_new: bool
    # Whether a version that was there already got a further signature.
    is_signed: bool = False
    bytes_sent: int = 0


class PushPlan(Value):
    """What a push will do. All skills have been validated, and all tags looked up."""

    uploader: Uploader
    releases: tuple[PushRelease, ...]
    # Where the collection goes, its index, and whether its tag is new.
    collection: tuple[OciSource, Blob, bool] | None
    # What was left out, and why, by label.
    left_out: Mapping[str, str]
    # Signs the manifests.
    key: "SigningKey | None" = None


def plan_push(session: Session, request: PushRequest) -> PushPlan:
    """Validate all skills and look up all tags; nothing is sent.

    Raises `RefusedError` for an invalid skill, and `ConflictError` for a version that is published already with other
    content.
    """
    require_libraries()
    if wrong := next((tag for tag in request.tags if not is_tag(tag)), None):
        hint = "letters, digits, `.`, `_` and `-`, e.g. latest"
        raise UsageError(f"`{sanitize(wrong, 60)}` is not a tag", hint=hint)
    releases, left_out = read_releases(session, request)
    target = parse_destination(request.collection, "--collection") if request.collection else None
    destinations = Destinations()
    destinations.name(*(repository_url(each.repository) for each in releases))
    if target is not None:
        destinations.name(repository_url(target.repository))
        _check_one_registry(releases, target)
    uploader = Uploader(OciRegistries(session.settings, session.reporter, destinations))
    looked_up = []
    for each in releases:
        try:
            looked_up.append(look_up(uploader, each))
        except ConflictError as error:
            if not request.skip_invalid:
                raise
            left_out[each.draft.label] = error.message
    collection = None
    if target is not None:
        current = [each for each in looked_up if each.draft.is_current]
        collection = (target, *_build_collection(uploader, current, target))
    for label, reason in sorted(left_out.items()):
        session.reporter.warn(f"skipped {sanitize(label)}: {reason}")
    return PushPlan(
        uploader=uploader, releases=tuple(looked_up), collection=collection, left_out=left_out, key=request.key
    )


def push_skills(session: Session, plan: PushPlan, *, dry_run: bool = False) -> list[Pushed]:
    """Push the skills of a plan, and then their collection."""
    pushed = []
    for each in plan.releases:
        sent = _push_release(session, plan.uploader, each) if each.new_tags and not dry_run else 0
        signed = 0 if dry_run else _push_signatures(plan.uploader, each.repository, each, plan.key)
        for tag in each.tags:
            first, is_new = tag == each.tag, tag in each.new_tags
            described = _describe(each, tag, is_new=is_new, sent=sent + signed if first else 0)
            pushed.append(described.replace(is_signed=bool(signed) and first and not is_new))
    if plan.collection is not None:
        pushed.append(_push_collection(plan, *plan.collection, dry_run=dry_run))
    return pushed


def _push_release(session: Session, uploader: Uploader, release: PushRelease) -> int:
    """Push what is missing of a release, and then its new tags; return the bytes sent."""
    task, artifact = f"pushing {release.draft.name}", release.artifact
    session.reporter.start_task(task, [release.draft.name])
    try:
        new_blobs = [blob for blob in artifact.blobs if uploader.push_blob(release.repository, blob.digest, blob.data)]
        for manifest in artifact.manifests:
            uploader.push_manifest(release.repository, manifest.digest, manifest.media_type, manifest.data)
        # Last, so that a tag never points at something incomplete.
        for tag in release.new_tags:
            uploader.push_manifest(release.repository, tag, artifact.top.media_type, artifact.top.data)
    finally:
        session.reporter.finish_task(task)
    tops = [artifact.top] * len(release.new_tags)
    return sum(len(blob.data) for blob in (*new_blobs, *artifact.manifests, *tops))


def _push_signatures(uploader: Uploader, repository: str, release: PushRelease, key: "SigningKey | None") -> int:
    """Push the signatures of a release beside those that its manifests have; return the bytes sent.

    One of cosign if there is a key, and that of its files if what is published has another one.
    """
    subjects, sent = _find_subjects(release), 0
    for subject in subjects:
        if key is not None:
            sent += _push_cosign_signature(uploader, repository, subject["digest"], key)
        if release.signature:
            sent += uploader.attach_signature(repository, subject, release.signature)
    return sent


def _find_subjects(release: PushRelease) -> list[Mapping[str, Any]]:
    """Return the descriptors of the manifests of a release: of an image, those of its platforms and the index."""
    top = release.artifact.top
    entries = parse_json(top.data.decode(errors="replace"), release.repository).get("manifests")
    return [*(() if entries is None else entries.value), top.descriptor()]


def _push_cosign_signature(uploader: Uploader, repository: str, digest: str, key: "SigningKey") -> int:
    from skillpm.trust.cosign import sign_payload, write_payload  # noqa: PLC0415  (the extra `sign`)

    payload = Blob(media_type=PAYLOAD_TYPE, data=write_payload(repository, digest))
    config = Blob(media_type=IMAGE_CONFIG_TYPE, data=b"{}")
    layer = signature_layer(payload.descriptor(), sign_payload(key, payload.data))
    tag = signature_tag(digest)
    existing = uploader.find_manifest(repository, tag)
    layers = parse_json(existing.decode(errors="replace"), tag).require("layers").value if existing else []
    if layer in layers:
        return 0
    blobs = [blob for blob in (payload, config) if uploader.push_blob(repository, blob.digest, blob.data)]
    data = dump_json(signature_manifest(config.descriptor(), [*layers, layer])).encode()
    uploader.push_manifest(repository, tag, OCI_MANIFEST, data)
    return len(data) + sum(len(blob.data) for blob in blobs)


def _check_one_registry(releases: Sequence[PushRelease], target: OciSource) -> None:
    if any(each.artifact.manifests for each in releases):
        raise UsageError("--collection cannot be used with --image")
    host = target.repository.partition("/")[0]
    if not target.ref:
        raise UsageError("--collection needs a tag", hint=f"e.g. oci://{target.repository}:1.0.0")
    if any(each.repository.partition("/")[0] != host for each in releases):
        raise UsageError(f"the collection must be in the registry of its skills, not in {host}")


def _build_collection(uploader: Uploader, releases: Sequence[PushRelease], target: OciSource) -> tuple[Blob, bool]:
    """Return the index of a collection, and whether its tag is new. Raises `ConflictError` for a published version."""
    ordered = sorted(releases, key=lambda release: release.draft.name)
    entries = [(each.artifact.top, each.annotations, f"{each.repository}:{each.tag}") for each in ordered]
    top = build_collection(target.repository.rpartition("/")[2], tag_version(target.ref), entries)
    published = uploader.find_manifest(target.repository, target.ref)
    if published and published != top.data and tag_version(target.ref):
        raise ConflictError(
            f"the collection oci://{target.repository}:{target.ref} is published already, with other skills",
            hint="a published version must not change: choose another tag, or one that may move, like latest; "
            "nothing was pushed",
        )
    return top, published != top.data


def _push_collection(plan: PushPlan, target: OciSource, top: Blob, is_new: bool, *, dry_run: bool) -> Pushed:  # noqa: FBT001
    """Push the index of a collection into its own repository, with the manifests and blobs that it lists.

    Registries refuse an index whose manifests are not in its own repository; they take the blobs from the other ones.
    """
    uploader, sent = plan.uploader, 0
    if is_new and not dry_run:
        for each in plan.releases:
            if not each.draft.is_current:
                continue
            origin = each.repository.partition("/")[2]
            for blob in each.artifact.blobs:
                if uploader.push_blob(target.repository, blob.digest, blob.data, mount_from=origin):
                    sent += len(blob.data)
            manifest = each.artifact.top
            uploader.push_manifest(target.repository, manifest.digest, manifest.media_type, manifest.data)
        uploader.push_manifest(target.repository, target.ref, top.media_type, top.data)
        sent += len(top.data)
    signed = 0
    for each in () if dry_run else plan.releases:
        if each.draft.is_current:
            signed += _push_signatures(uploader, target.repository, each, plan.key)
    return Pushed(
        name=target.repository.rpartition("/")[2],
        version=tag_version(target.ref),
        ref=f"oci://{target.repository}:{target.ref}",
        digest=top.digest,
        is_new=is_new,
        is_signed=bool(signed) and not is_new,
        bytes_sent=sent + signed,
    )


def _describe(release: PushRelease, tag: str, *, is_new: bool, sent: int) -> Pushed:
    return Pushed(
        name=release.draft.name,
        version=release.draft.version,
        ref=f"oci://{release.repository}:{tag}",
        digest=release.artifact.top.digest,
        is_new=is_new,
        bytes_sent=sent,
    )


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
