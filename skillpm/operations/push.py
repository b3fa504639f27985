"""`push`: publish skills in an OCI registry, each as a tag of a repository, and several as a collection."""

from collections.abc import Mapping, Sequence
from itertools import product

from skillpm.core.file_tree import FileTree
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, RefusedError, UsageError
from skillpm.fetchers.destinations import Destinations
from skillpm.fetchers.oci.registry import OciRegistries
from skillpm.fetchers.oci.uploads import Uploader
from skillpm.formats.oci.reference import is_tag, repository_url, tag_version, version_tag
from skillpm.indexes.publish.oci_artifact import (
    Artifact,
    Blob,
    ReleaseFacts,
    build_artifact,
    build_collection,
    build_image,
    skill_annotations,
)
from skillpm.operations.context.runtime import Context
from skillpm.operations.publish import warn_uncommitted
from skillpm.operations.publish_drafts import ReleaseDraft, find_version_error, read_drafts
from skillpm.requirements.source import OciSource
from skillpm.requirements.specifier import parse_specifier
from skillpm.skillmd.skill import read_skill

MAX_LISTED = 20


class PushRequest(Value):
    """What to push, and where to; `destination` and `collection` are SPECs of repositories."""

    paths: tuple[str, ...]
    destination: str
    # Other tags to set, which may move: `latest`.
    tags: tuple[str, ...] = ()
    as_image: bool = False
    collection: str = ""
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
    tree: FileTree
    repository: str
    tag: str
    artifact: Artifact
    annotations: Mapping[str, str]


def push_skills(context: Context, request: PushRequest) -> list[Pushed]:
    """Push skills, and then their collection.

    All are validated, and all tags are looked up, before anything is sent. Raises `RefusedError` for an invalid skill,
    and `ConflictError` for a version that is published already with other content.
    """
    if wrong := next((tag for tag in request.tags if not is_tag(tag)), None):
        hint = "letters, digits, `.`, `_` and `-`, e.g. latest"
        raise UsageError(f"`{sanitize(wrong, 60)}` is not a tag", hint=hint)
    releases = _read_releases(context, request)
    target = _parse_destination(request.collection, "--collection") if request.collection else None
    destinations = Destinations()
    destinations.name(*(repository_url(each.repository) for each in releases))
    if target is not None:
        destinations.name(repository_url(target.repository))
        _check_one_registry(releases, target)
    uploader = Uploader(OciRegistries(context.settings, context.reporter, destinations))
    known = {each.repository: _check_tag(uploader, each, each.tag) for each in releases}
    for each, tag in product(releases, request.tags):
        if tag_version(tag):  # others may move
            _check_tag(uploader, each, tag)
    pushed = []
    for each in releases:
        is_new, sent = known[each.repository] == "", 0
        if not request.dry_run:
            sent = _push(context, uploader, each, is_new=is_new)
            for tag in request.tags:
                top = each.artifact.top
                uploader.push_manifest(each.repository, tag, top.media_type, top.data)
        pushed.append(_describe(each, is_new=is_new, sent=sent))
    if target is not None:
        pushed.append(_push_collection(uploader, releases, target, dry_run=request.dry_run))
    return pushed


def _read_releases(context: Context, request: PushRequest) -> list[_Release]:
    """Return all skills of the paths with their artifacts. Raises `RefusedError` if one cannot be published."""
    drafts: list[ReleaseDraft] = []
    for path in request.paths:
        read_drafts(context, path, drafts.append)
    drafts = [draft for draft in drafts if draft.is_current]
    problems = {draft.label: "; ".join(draft.errors[:3]) for draft in drafts if draft.errors or draft.tree is None}
    is_folder = request.destination.endswith("/") or len(drafts) > 1
    destination = _parse_destination(request.destination.rstrip("/"), "the destination")
    if destination.ref and is_folder:
        raise UsageError(
            f"a tag fits one skill, but {len(drafts)} are pushed", hint="omit it; each skill's version becomes its tag"
        )
    releases = []
    for draft in drafts:
        tag = destination.ref or version_tag(draft.version)
        problem = "" if destination.ref else find_version_error(draft.version)
        if problem and draft.label not in problems:
            problems[draft.label] = problem
        if draft.tree is not None and draft.label not in problems:
            repository = f"{destination.repository}/{draft.name}" if is_folder else destination.repository
            releases.append(_build(draft, draft.tree, repository, tag, as_image=request.as_image))
    if problems:
        lines = [f"{sanitize(label)}: {problem}" for label, problem in sorted(problems.items())]
        hint = "run `skillpm validate` for all findings; nothing was pushed"
        if any(problem == "no version" for problem in problems.values()):
            hint = f"add `metadata: version:` to SKILL.md, or name a tag: oci://HOST/PATH:TAG; {hint}"
        raise RefusedError("cannot be pushed: " + "\n  ".join(lines[:MAX_LISTED]), hint=hint)
    _check_distinct(releases)
    warn_uncommitted(context, drafts, "pushed")
    return releases


def _parse_destination(spec: str, what: str) -> OciSource:
    source = parse_specifier(spec).source if spec.startswith("oci://") else None
    if not isinstance(source, OciSource) or source.kind not in {"", "tag"}:
        raise UsageError(
            f"{what} `{sanitize(spec)}` is not a repository of a registry", hint="e.g. oci://ghcr.io/acme/skills/pdf"
        )
    return source


def _build(draft: ReleaseDraft, tree: FileTree, repository: str, tag: str, *, as_image: bool) -> _Release:
    skill = read_skill(tree.read(tree.skill_file) or b"")
    facts = ReleaseFacts(
        name=draft.name,
        version=draft.version or tag_version(tag),
        created=draft.published,
        source=draft.url.removesuffix(".git"),  # forges link it to the repository's page
        revision=draft.commit,
    )
    build = build_image if as_image else build_artifact
    return _Release(
        draft=draft,
        tree=tree,
        repository=repository,
        tag=tag,
        artifact=build(skill, tree, facts),
        annotations=skill_annotations(skill, facts),
    )


def _check_distinct(releases: Sequence[_Release]) -> None:
    seen: dict[str, _Release] = {}
    for each in releases:
        if (other := seen.setdefault(each.repository, each)) is not each:
            raise ConflictError(
                f"two skills have the name `{each.draft.name}`: {sanitize(other.draft.label)} and "
                f"{sanitize(each.draft.label)}",
                hint="rename one, or push them separately; nothing was pushed",
            )


def _check_tag(uploader: Uploader, release: _Release, tag: str) -> str:
    """Return the digest published under a tag. Raises `ConflictError` for a version with other content."""
    published = uploader.find_digest(release.repository, tag)
    if published and published != release.artifact.top.digest and tag_version(tag):
        raise ConflictError(
            f"`{release.draft.name}` {tag} is published already, with other content: "
            f"oci://{release.repository}:{tag} is {published}, this would be {release.artifact.top.digest}",
            hint="a published version must not change: raise the version; nothing was pushed",
            skills=[release.draft.name],
        )
    return published if published == release.artifact.top.digest else ""


def _push(context: Context, uploader: Uploader, release: _Release, *, is_new: bool) -> int:
    """Push what is missing of a release; return the bytes sent."""
    if not is_new:
        return 0
    task, sent, artifact = f"pushing {release.draft.name}", 0, release.artifact
    context.reporter.start_task(task, [release.draft.name])
    try:
        for blob in artifact.blobs:
            if uploader.push_blob(release.repository, blob.digest, blob.data):
                sent += len(blob.data)
        for manifest in artifact.manifests:
            uploader.push_manifest(release.repository, manifest.digest, manifest.media_type, manifest.data)
        # Last, so that the tag never points at something incomplete.
        uploader.push_manifest(release.repository, release.tag, artifact.top.media_type, artifact.top.data)
    finally:
        context.reporter.finish_task(task)
    return sent + len(artifact.top.data) + sum(len(manifest.data) for manifest in artifact.manifests)


def _check_one_registry(releases: Sequence[_Release], target: OciSource) -> None:
    if any(each.artifact.manifests for each in releases):
        raise UsageError("--collection cannot be used with --image")
    host = target.repository.partition("/")[0]
    if not target.ref:
        raise UsageError("--collection needs a tag", hint=f"e.g. oci://{target.repository}:1.0.0")
    if any(each.repository.partition("/")[0] != host for each in releases):
        raise UsageError(f"the collection must be in the registry of its skills, not in {host}")


def _push_collection(uploader: Uploader, releases: Sequence[_Release], target: OciSource, *, dry_run: bool) -> Pushed:
    """Push the index of a collection into its own repository, with the manifests and blobs that it lists.

    Registries refuse an index whose manifests are not in its own repository; they take the blobs from the other ones.
    """
    ordered = sorted(releases, key=lambda release: release.draft.name)
    name = target.repository.rpartition("/")[2]
    entries = [(each.artifact.top, each.annotations, f"{each.repository}:{each.tag}") for each in ordered]
    top: Blob = build_collection(name, tag_version(target.ref), entries)
    published = uploader.find_digest(target.repository, target.ref)
    if published and published != top.digest and tag_version(target.ref):
        raise ConflictError(
            f"the collection oci://{target.repository}:{target.ref} is published already, with other content",
            hint="a published version must not change: choose another tag",
        )
    sent = 0
    if not dry_run and published != top.digest:
        for each in ordered:
            for blob in each.artifact.blobs:
                origin = each.repository.partition("/")[2]
                if uploader.push_blob(target.repository, blob.digest, blob.data, mount_from=origin):
                    sent += len(blob.data)
            manifest = each.artifact.top
            uploader.push_manifest(target.repository, manifest.digest, manifest.media_type, manifest.data)
        uploader.push_manifest(target.repository, target.ref, top.media_type, top.data)
        sent += len(top.data)
    return Pushed(
        name=name,
        version=tag_version(target.ref),
        ref=f"oci://{target.repository}:{target.ref}",
        digest=top.digest,
        is_new=published != top.digest,
        bytes_sent=sent,
    )


def _describe(release: _Release, *, is_new: bool, sent: int) -> Pushed:
    return Pushed(
        name=release.draft.name,
        version=release.draft.version,
        ref=f"oci://{release.repository}:{release.tag}",
        digest=release.artifact.top.digest,
        is_new=is_new,
        bytes_sent=sent,
    )
