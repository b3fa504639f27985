"""What `push` publishes: skills with their repositories, tags and artifacts."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skillpm.core.file_tree import FileTree
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.core.versions import parse_version
from skillpm.errors import ConflictError, RefusedError, UsageError
from skillpm.kinds.oci import OciSource, tag_version, version_tag
from skillpm.publishing.drafts import NO_VERSION, ReleaseDraft, find_version_error, read_drafts
from skillpm.publishing.index.oci_artifact import (
    Artifact,
    ReleaseFacts,
    build_artifact,
    build_image,
    skill_annotations,
)
from skillpm.publishing.reports import warn_placeholder, warn_uncommitted
from skillpm.publishing.signing import sign_tree
from skillpm.requirements.specifier import parse_specifier
from skillpm.scope.project import Session
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


class PushRelease(Value):
    """A skill with its repository, its tags and its artifact."""

    draft: ReleaseDraft
    repository: str
    # The first one is its version.
    tags: tuple[str, ...]
    artifact: Artifact
    annotations: Mapping[str, str]
    # Those that do not point at the artifact yet.
    new_tags: tuple[str, ...] = ()
    # Of a version that is published already without it; attached to what is published.
    signature: bytes = b""

    @property
    def tag(self) -> str:
        """The tag of its version."""
        return self.tags[0]


def read_releases(session: Session, request: PushRequest) -> tuple[list[PushRelease], dict[str, str]]:
    """Return all skills of the paths with their artifacts, and what is left out.

    Raises `RefusedError` if one cannot be published.
    """
    destination = parse_destination(request.destination.rstrip("/"), "the destination")
    releases: list[PushRelease] = []
    changed: list[ReleaseDraft] = []
    problems: dict[str, str] = {}

    def add(draft: ReleaseDraft) -> None:
        if not draft.is_current and not request.all_versions:
            return
        errors = list(draft.errors[:3])
        if not destination.ref and draft.tree is not None and (error := find_version_error(draft)):
            errors = [error]
        if draft.tree is not None and not errors:
            tree = sign_tree(session, draft, draft.tree, request.key)
            releases.append(_build(draft, tree, destination, request))
            changed.append(draft.replace(tree=None))
            warn_placeholder(session, draft)
        elif draft.is_current:
            problems[draft.label] = "; ".join(errors)
        else:  # an old tag, which its author cannot fix any more
            session.reporter.log_verbose(f"skipped {draft.label}: {'; '.join(errors)}")

    for path in request.paths:
        commits = request.versions_from_commits
        read_drafts(session, path, add, request.default_version, versions_from_commits=commits)
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
    _warn_version_tags(session, releases)
    warn_uncommitted(session, changed, "pushed")
    return releases, problems


def _warn_version_tags(session: Session, releases: Sequence[PushRelease]) -> None:
    """Warn about tags that are another version than that of the skill: clients choose the highest one."""
    for each, tag in [(release, tag) for release in releases for tag in release.tags]:
        own, version = each.draft.version, tag_version(tag)
        if own and version and parse_version(version) != parse_version(own):
            session.reporter.warn(
                f"{sanitize(each.draft.label)}: the tag {tag} is a version, but the skill is {sanitize(own, 60)}; "
                f"users can install it as {version}"
            )


def _invalid_skills_error(problems: Mapping[str, str]) -> RefusedError:
    lines = [f"{sanitize(label)}: {problem}" for label, problem in sorted(problems.items())]
    hint = "run `skillpm validate` for all findings; nothing was pushed"
    if any(problem.startswith(NO_VERSION) for problem in problems.values()):
        hint = f"add `metadata: version:` to SKILL.md or pass --default-version; {hint}"
    return RefusedError("cannot be pushed: " + "\n  ".join(lines[:MAX_LISTED]), hint=hint)


def parse_destination(spec: str, what: str) -> OciSource:
    """Return the repository that a SPEC names, with its tag. Raises `UsageError`."""
    source = parse_specifier(spec).source if spec.startswith("oci://") else None
    if not isinstance(source, OciSource) or source.kind not in {"", "tag"}:
        raise UsageError(
            f"{what} `{sanitize(spec)}` is not a repository of a registry", hint="e.g. oci://ghcr.io/acme/skills/pdf"
        )
    return source


def _build(draft: ReleaseDraft, tree: FileTree, destination: OciSource, request: PushRequest) -> PushRelease:
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
    return PushRelease(
        draft=draft.replace(tree=None),
        repository=destination.repository,
        tags=tuple(dict.fromkeys([tag, *(request.tags if draft.is_current else ())])),
        artifact=build(skill, tree, facts),
        annotations=skill_annotations(skill, facts),
    )


def _check_distinct(releases: Sequence[PushRelease]) -> None:
    seen: dict[tuple[str, str], PushRelease] = {}
    for each in releases:
        version = each.tag if each.draft.tag else ""  # of a tagged repository, a skill has several
        for key in ((each.repository, each.tag), (each.repository, version)):
            if (other := seen.setdefault(key, each)) is not each:
                raise ConflictError(
                    f"two skills have the name `{each.draft.name}`: {sanitize(other.draft.label)} and "
                    f"{sanitize(each.draft.label)}",
                    hint="rename one, or push them separately; nothing was pushed",
                )
