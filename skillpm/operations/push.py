"""`push`: publish skills in an OCI registry, each as a tag of a repository, and several as a collection."""

from collections.abc import Mapping, Sequence

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
from skillpm.operations.publish_drafts import NO_VERSION, ReleaseDraft, find_version_error, read_drafts
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
    # The version of skills that declare none.
    default_version: str = ""
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
    new_tags = {each.repository: _find_new_tags(uploader, each, request.tags) for each in releases}
    collection = None if target is None else _build_collection(uploader, releases, target)
    pushed = []
    for each in releases:
        new = new_tags[each.repository]
        sent = _push(context, uploader, each, new) if new and not request.dry_run else 0
        pushed += [
            _describe(each, tag, is_new=tag in new, sent=sent if tag == each.tag else 0)
            for tag in dict.fromkeys([each.tag, *request.tags])
        ]
    if target is not None and collection is not None:
        pushed.append(_push_collection(uploader, releases, target, collection, dry_run=request.dry_run))
    return pushed


def _read_releases(context: Context, request: PushRequest) -> list[_Release]:
    """Return all skills of the paths with their artifacts. Raises `RefusedError` if one cannot be published."""
    drafts: list[ReleaseDraft] = []
    for path in request.paths:
        read_drafts(context, path, drafts.append, request.default_version)
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
        problem = "" if destination.ref else find_version_error(draft)
        if problem and draft.label not in problems:
            problems[draft.label] = problem
        if draft.tree is not None and draft.label not in problems:
            repository = f"{destination.repository}/{draft.name}" if is_folder else destination.repository
            releases.append(_build(draft, draft.tree, repository, tag, as_image=request.as_image))
    if problems:
        lines = [f"{sanitize(label)}: {problem}" for label, problem in sorted(problems.items())]
        hint = "run `skillpm validate` for all findings; nothing was pushed"
        if any(problem.startswith(NO_VERSION) for problem in problems.values()):
            hint = f"add `metadata: version:` to SKILL.md or pass --default-version; {hint}"
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


def _find_new_tags(uploader: Uploader, release: _Release, others: Sequence[str]) -> list[str]:
    """Return which of a release's tags do not lead to it yet. Raises `ConflictError` for a published version."""
    digest, name = release.artifact.top.digest, release.draft.name
    return [
        tag
        for tag in dict.fromkeys([release.tag, *others])
        if _is_new(uploader, release.repository, tag, digest, f"`{name}` {tag}", skills=[name])
    ]


def _is_new(
    uploader: Uploader, repository: str, tag: str, digest: str, label: str, *, skills: Sequence[str] = ()
) -> bool:
    """Return whether a tag does not lead to a digest yet. Raises `ConflictError` if it is a version of another one."""
    published = uploader.find_digest(repository, tag)
    if published and published != digest and tag_version(tag):
        raise ConflictError(
            f"{label} is published already, with other content: oci://{repository}:{tag} is {published}, this would be "
            f"{digest}",
            hint="a published version must not change: raise the version; nothing was pushed",
            skills=skills,
        )
    return published != digest


def _push(context: Context, uploader: Uploader, release: _Release, tags: Sequence[str]) -> int:
    """Push what is missing of a release, and then its tags; return the bytes sent."""
    task, artifact = f"pushing {release.draft.name}", release.artifact
    context.reporter.start_task(task, [release.draft.name])
    try:
        new_blobs = [blob for blob in artifact.blobs if uploader.push_blob(release.repository, blob.digest, blob.data)]
        for manifest in artifact.manifests:
            uploader.push_manifest(release.repository, manifest.digest, manifest.media_type, manifest.data)
        # Last, so that a tag never points at something incomplete.
        for tag in tags:
            uploader.push_manifest(release.repository, tag, artifact.top.media_type, artifact.top.data)
    finally:
        context.reporter.finish_task(task)
    return sum(len(blob.data) for blob in (*new_blobs, *artifact.manifests, *[artifact.top] * len(tags)))


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
    return top, _is_new(uploader, target.repository, target.ref, top.digest, f"the collection {target.ref}")


def _push_collection(
    uploader: Uploader,
    releases: Sequence[_Release],
    target: OciSource,
    collection: tuple[Blob, bool],
    *,
    dry_run: bool,
) -> Pushed:
    """Push the index of a collection into its own repository, with the manifests and blobs that it lists.

    Registries refuse an index whose manifests are not in its own repository; they take the blobs from the other ones.
    """
    top, is_new = collection
    sent = 0
    if is_new and not dry_run:
        for each in releases:
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
