"""`push`: publish skills in an OCI registry, each as a tag of a repository, and several as a collection."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from skillpm.core.decoder import dump_json, parse_json
from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.file_tree import FileTree
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import parse_version
from skillpm.errors import ConflictError, DocumentError, NotFoundError, RefusedError, UsageError
from skillpm.fetchers.destinations import Destinations
from skillpm.fetchers.oci.registry import OciRegistries
from skillpm.fetchers.oci.uploads import Uploader
from skillpm.formats.oci.manifest import OCI_MANIFEST, SkillManifest, read_document
from skillpm.formats.oci.reference import is_tag, repository_url, tag_version, version_tag
from skillpm.formats.oci.signature import PAYLOAD_TYPE, signature_layer, signature_manifest, signature_tag
from skillpm.indexes.publish.oci_artifact import (
    IMAGE_CONFIG_TYPE,
    Artifact,
    Blob,
    ReleaseFacts,
    build_artifact,
    build_collection,
    build_image,
    skill_annotations,
)
from skillpm.indexes.publish.release_merge import describe_changed_files
from skillpm.operations.context.runtime import Context
from skillpm.operations.publish import warn_uncommitted
from skillpm.operations.publish_drafts import NO_VERSION, ReleaseDraft, find_version_error, read_drafts
from skillpm.operations.trust.signing import sign_tree
from skillpm.requirements.source import OciSource
from skillpm.requirements.specifier import parse_specifier
from skillpm.skillmd.skill import read_skill

if TYPE_CHECKING:
    from skillpm.trust.skill_signature import SigningKey

MAX_LISTED = 20


class PushRequest(Value):
    """What to push, and where to; `destination` and `collection` are SPECs of repositories."""

    paths: tuple[str, ...]
    destination: str
    # Other tags to set, which may move: `latest`.
    tags: tuple[str, ...] = ()
    # Of skills that declare none: this one, or the day of their last commit.
    default_version: str = ""
    versions_from_commits: bool = False
    # Also what older version tags of a repository name, not only the newest.
    all_versions: bool = False
    # Leave out what is not valid, or published already with other content.
    skip_invalid: bool = False
    as_image: bool = False
    collection: str = ""
    # Signs each skill, and each manifest; None for neither.
    key: "SigningKey | None" = None
    dry_run: bool = False


class Pushed(Value):
    """A tag after the push; `is_new` is False if it was there already, with the same content."""

    name: str
    version: str
    ref: str
    digest: str
    is_new: bool
    bytes_sent: int = 0


class _Release(Value):
    draft: ReleaseDraft
    repository: str
    # The first one is its version.
    tags: tuple[str, ...]
    artifact: Artifact
    annotations: Mapping[str, str]
    # Those that do not point at the artifact yet.
    new_tags: tuple[str, ...] = ()

    @property
    def tag(self) -> str:
        return self.tags[0]


class PushPlan(Value):
    """What a push will do. All skills have been validated, and all tags looked up."""

    uploader: Uploader
    releases: tuple[_Release, ...]
    # Where the collection goes, its index, and whether its tag is new.
    collection: tuple[OciSource, Blob, bool] | None
    # What was left out, and why, by label.
    left_out: Mapping[str, str]
    # Signs the manifests.
    key: "SigningKey | None" = None


def plan_push(context: Context, request: PushRequest) -> PushPlan:
    """Validate all skills and look up all tags; nothing is sent.

    Raises `RefusedError` for an invalid skill, and `ConflictError` for a version that is published already with other
    content.
    """
    if wrong := next((tag for tag in request.tags if not is_tag(tag)), None):
        hint = "letters, digits, `.`, `_` and `-`, e.g. latest"
        raise UsageError(f"`{sanitize(wrong, 60)}` is not a tag", hint=hint)
    releases, left_out = _read_releases(context, request)
    target = _parse_destination(request.collection, "--collection") if request.collection else None
    destinations = Destinations()
    destinations.name(*(repository_url(each.repository) for each in releases))
    if target is not None:
        destinations.name(repository_url(target.repository))
        _check_one_registry(releases, target)
    uploader = Uploader(OciRegistries(context.settings, context.reporter, destinations))
    looked_up = []
    for each in releases:
        try:
            looked_up.append(_look_up(uploader, each))
        except ConflictError as error:
            if not request.skip_invalid:
                raise
            left_out[each.draft.label] = error.message
    collection = None
    if target is not None:
        current = [each for each in looked_up if each.draft.is_current]
        collection = (target, *_build_collection(uploader, current, target))
    for label, reason in sorted(left_out.items()):
        context.reporter.warn(f"skipped {sanitize(label)}: {reason}")
    return PushPlan(
        uploader=uploader, releases=tuple(looked_up), collection=collection, left_out=left_out, key=request.key
    )


def push_skills(context: Context, plan: PushPlan, *, dry_run: bool = False) -> list[Pushed]:
    """Push the skills of a plan, and then their collection."""
    pushed = []
    for each in plan.releases:
        sent = _push(context, plan.uploader, each) if each.new_tags and not dry_run else 0
        if plan.key is not None and not dry_run:
            sent += _push_signatures(plan.uploader, each, plan.key)
        pushed += [
            _describe(each, tag, is_new=tag in each.new_tags, sent=sent if tag == each.tag else 0) for tag in each.tags
        ]
    if plan.collection is not None:
        pushed.append(_push_collection(plan, *plan.collection, dry_run=dry_run))
    return pushed


def _read_releases(context: Context, request: PushRequest) -> tuple[list[_Release], dict[str, str]]:
    """Return all skills of the paths with their artifacts, and what is left out.

    Raises `RefusedError` if one cannot be published.
    """
    destination = _parse_destination(request.destination.rstrip("/"), "the destination")
    releases: list[_Release] = []
    changed: list[ReleaseDraft] = []
    problems: dict[str, str] = {}

    def add(draft: ReleaseDraft) -> None:
        if not draft.is_current and not request.all_versions:
            return
        errors = list(draft.errors[:3])
        if not destination.ref and draft.tree is not None and (error := find_version_error(draft)):
            errors = [error]
        if draft.tree is not None and not errors:
            tree = sign_tree(context, draft, draft.tree, request.key)
            releases.append(_build(draft, tree, destination, request))
            changed.append(draft.replace(tree=None))
        elif draft.is_current:
            problems[draft.label] = "; ".join(errors)
        else:  # an old tag, which its author cannot fix any more
            context.reporter.log_verbose(f"skipped {draft.label}: {'; '.join(errors)}")

    for path in request.paths:
        commits = request.versions_from_commits
        read_drafts(context, path, add, request.default_version, versions_from_commits=commits)
    names = {each.draft.name for each in releases} | {*problems}
    is_folder = request.destination.endswith("/") or len(names) > 1
    count = len(releases) + len(problems)
    if destination.ref and (is_folder or count > 1):
        raise UsageError(
            f"a tag fits one skill, but {count} are pushed", hint="omit it; each skill's version becomes its tag"
        )
    if problems and (not request.skip_invalid or not releases):
        raise _invalid_skills_error(problems)
    if is_folder:
        releases = [each.replace(repository=f"{each.repository}/{each.draft.name}") for each in releases]
    releases.sort(key=lambda each: -each.draft.age_rank)  # old versions first, as they were released
    _check_distinct(releases)
    warn_uncommitted(context, changed, "pushed")
    return releases, problems


def _invalid_skills_error(problems: Mapping[str, str]) -> RefusedError:
    lines = [f"{sanitize(label)}: {problem}" for label, problem in sorted(problems.items())]
    hint = "run `skillpm validate` for all findings; nothing was pushed"
    if any(problem.startswith(NO_VERSION) for problem in problems.values()):
        hint = f"add `metadata: version:` to SKILL.md or pass --default-version; {hint}"
    return RefusedError("cannot be pushed: " + "\n  ".join(lines[:MAX_LISTED]), hint=hint)


def _parse_destination(spec: str, what: str) -> OciSource:
    source = parse_specifier(spec).source if spec.startswith("oci://") else None
    if not isinstance(source, OciSource) or source.kind not in {"", "tag"}:
        raise UsageError(
            f"{what} `{sanitize(spec)}` is not a repository of a registry", hint="e.g. oci://ghcr.io/acme/skills/pdf"
        )
    return source


def _build(draft: ReleaseDraft, tree: FileTree, destination: OciSource, request: PushRequest) -> _Release:
    skill = read_skill(tree.read(tree.skill_file) or b"")
    tag = destination.ref or version_tag(draft.version)
    facts = ReleaseFacts(
        name=draft.name,
        version=draft.version or tag_version(tag),
        created=draft.published,
        source=draft.url.removesuffix(".git"),  # forges link it to the repository's page
        revision=draft.commit,
    )
    build = build_image if request.as_image else build_artifact
    return _Release(
        draft=draft.replace(tree=None),
        repository=destination.repository,
        tags=tuple(dict.fromkeys([tag, *(request.tags if draft.is_current else ())])),
        artifact=build(skill, tree, facts),
        annotations=skill_annotations(skill, facts),
    )


def _check_distinct(releases: Sequence[_Release]) -> None:
    seen: dict[tuple[str, str], _Release] = {}
    for each in releases:
        version = each.tag if each.draft.tag else ""  # of a tagged repository, a skill has several
        for key in ((each.repository, each.tag), (each.repository, version)):
            if (other := seen.setdefault(key, each)) is not each:
                raise ConflictError(
                    f"two skills have the name `{each.draft.name}`: {sanitize(other.draft.label)} and "
                    f"{sanitize(each.draft.label)}",
                    hint="rename one, or push them separately; nothing was pushed",
                )


def _look_up(uploader: Uploader, release: _Release) -> _Release:
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
            raise ConflictError(
                f"`{name}` {tag} is published already, with other content: {difference}",
                hint="a published version must not change: raise the version; nothing was pushed",
                skills=[name],
            )
        new_tags.append(tag)
    return release.replace(new_tags=tuple(new_tags))


def _find_newest_tag(uploader: Uploader, release: _Release) -> str:
    """Return the tag of the newest published version; empty if there is none."""
    tags = uploader.list_tags(release.repository)
    versions = [(parsed, tag) for tag in tags if (parsed := parse_version(tag_version(tag))) is not None]
    return max(versions)[1] if versions else ""


def _has_same_layer(uploader: Uploader, release: _Release, published: bytes) -> bool:
    try:
        manifest, is_image = _read_published(uploader, release, published, f"oci://{release.repository}")
    except DocumentError:  # something else than a skill
        return False
    is_same_kind = is_image == bool(release.artifact.manifests)
    return is_same_kind and manifest is not None and manifest.layer.digest == release.artifact.layer.digest


def _has_same_files(uploader: Uploader, release: _Release, published: bytes) -> bool:
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
    uploader: Uploader, release: _Release, published: bytes, address: str
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


def _describe_difference(uploader: Uploader, release: _Release, published: bytes, address: str) -> str:
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


def _push(context: Context, uploader: Uploader, release: _Release) -> int:
    """Push what is missing of a release, and then its new tags; return the bytes sent."""
    task, artifact = f"pushing {release.draft.name}", release.artifact
    context.reporter.start_task(task, [release.draft.name])
    try:
        new_blobs = [blob for blob in artifact.blobs if uploader.push_blob(release.repository, blob.digest, blob.data)]
        for manifest in artifact.manifests:
            uploader.push_manifest(release.repository, manifest.digest, manifest.media_type, manifest.data)
        # Last, so that a tag never points at something incomplete.
        for tag in release.new_tags:
            uploader.push_manifest(release.repository, tag, artifact.top.media_type, artifact.top.data)
    finally:
        context.reporter.finish_task(task)
    tops = [artifact.top] * len(release.new_tags)
    return sum(len(blob.data) for blob in (*new_blobs, *artifact.manifests, *tops))


def _push_signatures(uploader: Uploader, release: _Release, key: "SigningKey") -> int:
    """Push a cosign signature of each manifest of a release beside those that it has; return the bytes sent."""
    from skillpm.trust.cosign import sign_payload, write_payload  # noqa: PLC0415  (the extra `sign`)

    repository, sent = release.repository, 0
    for manifest in (*release.artifact.manifests, release.artifact.top):
        payload = Blob(media_type=PAYLOAD_TYPE, data=write_payload(repository, manifest.digest))
        config = Blob(media_type=IMAGE_CONFIG_TYPE, data=b"{}")
        layer = signature_layer(payload.descriptor(), sign_payload(key, payload.data))
        tag = signature_tag(manifest.digest)
        existing = uploader.find_manifest(repository, tag)
        layers = parse_json(existing.decode(errors="replace"), tag).require("layers").value if existing else []
        if layer in layers:
            continue
        for blob in (payload, config):
            sent += len(blob.data) if uploader.push_blob(repository, blob.digest, blob.data) else 0
        data = dump_json(signature_manifest(config.descriptor(), [*layers, layer])).encode()
        uploader.push_manifest(repository, tag, OCI_MANIFEST, data)
        sent += len(data)
    return sent


def _check_one_registry(releases: Sequence[_Release], target: OciSource) -> None:
    if any(each.artifact.manifests for each in releases):
        raise UsageError("--collection cannot be used with --image")
    host = target.repository.partition("/")[0]
    if not target.ref:
        raise UsageError("--collection needs a tag", hint=f"e.g. oci://{target.repository}:1.0.0")
    if any(each.repository.partition("/")[0] != host for each in releases):
        raise UsageError(f"the collection must be in the registry of its skills, not in {host}")


def _build_collection(uploader: Uploader, releases: Sequence[_Release], target: OciSource) -> tuple[Blob, bool]:
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
    return Pushed(
        name=target.repository.rpartition("/")[2],
        version=tag_version(target.ref),
        ref=f"oci://{target.repository}:{target.ref}",
        digest=top.digest,
        is_new=is_new,
        bytes_sent=sent,
    )


def _describe(release: _Release, tag: str, *, is_new: bool, sent: int) -> Pushed:
    return Pushed(
        name=release.draft.name,
        version=release.draft.version,
        ref=f"oci://{release.repository}:{tag}",
        digest=release.artifact.top.digest,
        is_new=is_new,
        bytes_sent=sent,
    )
