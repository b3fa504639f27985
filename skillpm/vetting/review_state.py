"""Review state of the locked skills, and of one skill with its unreviewed content."""

from collections.abc import Sequence

from skillpm.compare.file_diff import FileDiff, compare_trees
from skillpm.compare.locked_contents import read_contents
from skillpm.compare.skill_change import compare_content
from skillpm.core.digest import Digest
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName, parse_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import NotFoundError, SkillpmError, UsageError
from skillpm.fetchers.bundled import is_bundled_content
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.trust.reviews import Review, find_last_reviewed, find_reviews
from skillpm.scope.project import Project, Session
from skillpm.scope.project_files import read_project_files
from skillpm.skillmd.capabilities import ReviewFinding
from skillpm.vetting.review_files import ScopeReviews, load_reviews

DIGEST_PREFIX = lazy_pattern(r"(?:sha256:)?([0-9a-f]{12,64})(?:…|\.\.\.)?")


class ReviewedSkill(Value):
    """A locked skill, and the reviews of exactly its content."""

    name: SkillName
    locked: LockedSkill
    reviews: tuple[Review, ...] = ()
    # The content that was reviewed last, if it is another one; empty if none was.
    last_reviewed: str = ""


class ReviewList(Value):
    """The reviews of all locked skills."""

    skills: tuple[ReviewedSkill, ...]
    is_project_trusted: bool

    @property
    def unreviewed(self) -> tuple[ReviewedSkill, ...]:
        """The skills whose locked content has no review."""
        return tuple(skill for skill in self.skills if not skill.reviews)


class ReviewSubject(Value):
    """One content to review."""

    name: SkillName
    digest: Digest
    reviews: tuple[Review, ...]
    # The content that it is compared with; empty for none.
    base: str
    # A note about the base for the reader.
    note: str
    files: tuple[FileDiff, ...]
    # What it may do that the base could not; without a base, all of it.
    capabilities: tuple[ReviewFinding, ...]


def list_reviews(project: Project) -> ReviewList:
    """Return the reviews of all locked skills but those that ship with skillpm, sorted by name."""
    found = load_reviews(project)
    skills = read_project_files(project).whole_lockfile.skills
    return ReviewList(
        skills=tuple(
            describe_reviews(found.all, name, locked)
            for name, locked in sorted(skills.items())
            if not is_bundled_content(locked)
        ),
        is_project_trusted=found.is_project_trusted,
    )


def describe_reviews(reviews: Sequence[Review], name: SkillName, locked: LockedSkill) -> ReviewedSkill:
    """Return what was reviewed of a locked skill."""
    digest = locked.digest or ""
    others = [each for each in find_last_reviewed(reviews, name) if each != digest]
    return ReviewedSkill(
        name=name,
        locked=locked,
        reviews=find_reviews(reviews, name, digest),
        last_reviewed=others[0] if others else "",
    )


def find_subject(project: Project, name_text: str, digest_text: str = "") -> ReviewSubject:
    """Return what is to review of a skill: its locked content, or the content in the cache with a digest.

    Raises `NotFoundError` if there is none, and `UsageError` for an invalid name or digest.
    """
    name = parse_skill_name(name_text)
    tree = _find_stored(project.session, digest_text) if digest_text else _read_locked(project, name)
    found, digest = load_reviews(project), tree.digest
    base, before, note = _find_base(project.session, found, name, digest)
    if not base and not note and digest_text:
        base, before, note = _find_locked_base(project, name, digest)
    return ReviewSubject(
        name=name,
        digest=digest,
        reviews=find_reviews(found.all, name, digest),
        base=base,
        note=note,
        files=compare_trees(before, tree),
        capabilities=compare_content(before, tree),
    )


def _find_base(
    session: Session, found: ScopeReviews, name: SkillName, digest: Digest
) -> tuple[str, FileTree | None, str]:
    """Return the content reviewed last that is still in the cache: its digest, its files, and a note if it is not."""
    reviewed = [each for each in find_last_reviewed(found.all, name) if each != digest]
    for each in reviewed:
        if (tree := session.store.read_any(Digest(each))) is not None:
            return each, tree, ""
    note = "the content that was reviewed before is not in the cache, so that all of it is shown" if reviewed else ""
    return "", None, note


def _find_locked_base(project: Project, name: SkillName, digest: Digest) -> tuple[str, FileTree | None, str]:
    """Return the locked content as the base for other content, if it is in the cache."""
    locked = read_project_files(project).whole_lockfile.skills.get(name)
    if locked is None or locked.digest in {None, digest}:
        return "", None, ""
    tree = project.store.read_any(Digest(locked.digest or ""))
    return (
        ("", None, "")
        if tree is None
        else (tree.digest, tree, "compared with the locked content, which has not been reviewed")
    )


def _read_locked(project: Project, name: SkillName) -> FileTree:
    files = read_project_files(project)
    locked = files.whole_lockfile.skills.get(name)
    if locked is None:
        hint = f"run `{project.command('review')}` to see what is locked, or name the content with --digest"
        raise NotFoundError(f"`{name}` is not in {project.scope.lockfile}", hint=hint)
    contents = read_contents(project, files, {name: locked})
    if name in contents.unread:
        raise SkillpmError(f"the content of `{name}` was not read: {sanitize(contents.unread[name], 400)}")
    return contents.trees[name]


def _find_stored(session: Session, text: str) -> FileTree:
    match = DIGEST_PREFIX.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"invalid digest `{sanitize(text, 80)}`", hint="use sha256: and at least 12 digits of it")
    digests = session.store.find_digests(match[1])
    if len(digests) > 1:
        raise UsageError(f"several contents have a digest that begins with {match[1]}", hint="use more digits of it")
    tree = session.store.read_any(digests[0]) if digests else None
    if tree is None:
        hint = "only content that skillpm has fetched on this machine can be named by its digest"
        raise NotFoundError(f"no content with the digest sha256:{match[1]} is in the cache", hint=hint)
    return tree
