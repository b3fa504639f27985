"""Drafts of releases: the skills of a source, read and validated, each with the errors that block its publication."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.suggestions import closest_matches, did_you_mean
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.core.versions import is_range
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.gate import Cooldown
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.fetchers.git.tagged_releases import TaggedRelease
from skillpm.fetchers.notices import report_warnings
from skillpm.fetchers.packages.local import read_skill_folder, would_be_included
from skillpm.files import read_regular_file, translate_os_errors
from skillpm.formats.index_schema import version_problem
from skillpm.formats.lockfile import LockedSkill
from skillpm.installer.disk.skill_file import find_skill_folders
from skillpm.kinds.git import GitSource
from skillpm.kinds.local import PathPin
from skillpm.publishing.index.release_merge import find_errors
from skillpm.requirements.specifier import ARCHIVE_SUFFIXES, parse_specifier
from skillpm.scope.project import Project, Session
from skillpm.scope.scope import user_scope

if TYPE_CHECKING:
    from skillpm.publishing.checkout import Checkout, CommittedState

NO_VERSION = "no version"


class ReleaseDraft(Value):
    """A version of a skill in a source, which may be published."""

    name: str
    label: str  # for messages, short: a relative path, or the folder and its tag
    origin: str  # for messages, complete
    tree: FileTree | None = None
    version: str = ""
    errors: tuple[str, ...] = ()
    # Whether the skills of the index satisfy its dependencies, as far as they are there.
    is_installable: bool = True
    dependencies: Mapping[str, Any] = EMPTY_MAPPING
    published: str = ""  # UTC, ISO 8601
    tag: str = ""
    is_current: bool = True  # the author can still fix it; what an older tag holds cannot be fixed
    age_rank: int = 0  # of the tag; the newest has 0
    changed_files: tuple[str, ...] = ()  # that differ from the checked-out commit
    history_version: str = ""  # of the last commit that changed the skill; empty unless asked for, or if unknown
    is_from_history: bool = False  # the version is that one
    no_version: str = NO_VERSION  # the error of a draft without a version
    commit: str = ""  # the last one that changed the skill; empty if it is not committed as it is
    url: str = ""  # of its repository


class _Checkouts:
    """The git checkouts that skills are in, each opened once; one that cannot be read is None."""

    def __init__(self, session: Session, folders: Sequence[str]) -> None:
        self._session = session
        self._folders: dict[str, list[str]] = {}
        for folder in map(os.path.realpath, folders):
            self._folders.setdefault(_find_checkout_root(folder), []).append(folder)
        self._checkouts: dict[str, Checkout | None] = {}

    def read_state(self, folder: str, name: str, tree: FileTree) -> "CommittedState | None":
        """Return what is committed of a skill; None outside of git, and where git cannot say."""
        folder = os.path.realpath(folder)
        root = _find_checkout_root(folder)
        if not root:
            return None
        try:
            from skillpm.publishing.checkout import READ_ERRORS, Checkout  # noqa: PLC0415  (imports GitPython)
        except ImportError as error:  # GitPython found no git program
            self._session.reporter.log_verbose(
                f"{sanitize(root)} is not read as a git repository: {sanitize(str(error), 300)}"
            )
            return None
        try:
            if root not in self._checkouts:
                self._checkouts[root] = None
                self._checkouts[root] = Checkout(self._session, root, self._folders[root])
            checkout = self._checkouts[root]
            return None if checkout is None else checkout.read_state(folder, name, tree)
        except READ_ERRORS as error:
            self._session.reporter.log_verbose(
                f"{sanitize(root)} cannot be read as a git repository: {sanitize(str(error), 300)}"
            )
            return None


def _find_checkout_root(folder: str) -> str:
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


DraftCallback = Callable[[ReleaseDraft], None]


def read_drafts(
    session: Session,
    source: str,
    on_draft: DraftCallback,
    default_version: str = "",
    *,
    versions_from_commits: bool = False,
) -> None:
    """Pass the skills of a folder, a folder of folders, an archive or a repository to `on_draft`, one at a time.

    `default_version` applies to skills without a version, or with `versions_from_commits` the day of their last commit.
    Raises `NotFoundError` for a source without skills, and `UsageError` for a default version that is not one.
    """
    if default_version and version_problem(default_version):
        raise UsageError(f"`{sanitize(default_version, 60)}` is not a valid version", hint="write one like 1.2.0")

    def complete(draft: ReleaseDraft) -> None:
        if not draft.version and versions_from_commits:
            no_version = f"{NO_VERSION}: {_why_no_history(draft)}"
            is_from_history = bool(draft.history_version)
            draft = draft.replace(version=draft.history_version, is_from_history=is_from_history, no_version=no_version)
        draft = draft if draft.version else draft.replace(version=default_version)
        on_draft(draft.replace(errors=(*draft.errors, *_find_refusals(session, draft.name, draft.tree))))

    path = os.path.join(session.settings.working_directory, source)
    if not os.path.lexists(path) and isinstance(repository := parse_specifier(source).source, GitSource):
        _read_tagged_drafts(session, repository, complete, with_history=versions_from_commits)
        return
    for draft in (
        _read_archive_draft(session, path, source)
        if source.endswith(ARCHIVE_SUFFIXES)
        else _read_folder_drafts(session, path, source)
    ):
        complete(draft)


def _find_refusals(session: Session, name: str, tree: FileTree | None) -> Iterator[str]:
    """Yield why the rules of this user refuse the content of a skill: what may not be used here is not published here.

    Rules about where a skill comes from, and about reviews and signatures, are for those who install it.
    """
    if tree is None or not is_skill_name(name):
        return
    from skillpm.vetting.incoming import find_refusals  # noqa: PLC0415  (imports the audit)

    locked = LockedSkill(pin=PathPin(path=name), digest=tree.digest)
    problems = find_refusals(Project(user_scope(session.settings), session), SkillName(name), locked, tree)
    yield from (each.text for each in problems if each.kind == "audit" or each.rule == "blocked")


def find_version_error(draft: ReleaseDraft) -> str:
    """Return why a draft cannot be published under its version; empty if it can."""
    return version_problem(draft.version) if draft.version else draft.no_version


def _why_no_history(draft: ReleaseDraft) -> str:
    if draft.changed_files:
        return "it has uncommitted changes"
    if draft.commit:
        return "the clone is shallow, so its last change is unknown; run `git fetch --unshallow`"
    return "it is not committed in a git repository"


def _read_tagged_drafts(session: Session, source: GitSource, on_draft: DraftCallback, *, with_history: bool) -> None:
    """Read every tagged version of a repository's skills; those with the same content follow each other."""
    from skillpm.fetchers.git.git_fetcher import GitFetcher  # noqa: PLC0415  (only where a source is a repository)

    last_validated: tuple[FileTree | None, str, list[str]] = (None, "", [])

    def add_release(item: TaggedRelease) -> None:
        nonlocal last_validated
        tag = item.ref.removeprefix("refs/tags/")
        draft = ReleaseDraft(
            name=item.folder,
            label=f"{item.folder} at {tag}",
            origin=f"{source.url} at {tag}",
            tag=tag,
            is_current=item.is_current,
            age_rank=item.rank,
            published=format_timestamp(item.seconds) if item.seconds else "",
            history_version=item.history_version,
        )
        if item.tree is None or item.skill is None:
            on_draft(draft.replace(errors=(item.fault,)))
            return
        if last_validated[:2] != (item.tree, item.folder):
            last_validated = item.tree, item.folder, find_errors(item.tree, item.folder)
        on_draft(_complete_draft(draft, item.tree, item.skill, last_validated[2]))

    destinations = Destinations()
    destinations.name(source.url)
    fetcher = GitFetcher(
        session.settings, session.store, session.reporter, session.git_cache_dir(), destinations, Cooldown()
    )
    fetcher.read_tagged_releases(source, add_release, with_history=with_history)


def _read_folder_drafts(session: Session, path: str, source: str) -> Iterator[ReleaseDraft]:
    folders = [*find_skill_folders(path)]
    if not folders:
        hint = "name a skill's folder, or a folder of skills"
        if os.path.lexists(path):
            raise NotFoundError(f"{sanitize(source)} contains no SKILL.md", hint=hint)
        similar = closest_matches(os.path.basename(path), _list_sibling_folders(path))
        paths = [os.path.join(os.path.dirname(source), name) for name in similar]
        raise NotFoundError(f"{sanitize(source)} does not exist", hint=did_you_mean(paths) or hint)
    checkouts = _Checkouts(session, folders)
    for folder in folders:
        name = os.path.basename(os.path.realpath(folder))
        label = os.path.relpath(folder, session.settings.working_directory)
        try:
            tree = read_skill_folder(folder, name, session.settings.limits, display_path=label)
        except RefusedError as error:
            yield ReleaseDraft(name=name, label=label, origin=label, errors=(error.message,))
            continue
        draft = _make_local_draft(session, ReleaseDraft(name=name, label=label, origin=label), tree)
        yield _add_committed_state(draft, checkouts.read_state(folder, name, tree))


def _add_committed_state(draft: ReleaseDraft, state: "CommittedState | None") -> ReleaseDraft:
    """Date a draft by the last commit that changed it; `SOURCE_DATE_EPOCH` and SKILL.md come first."""
    if state is None or state.changed_files:
        return draft if state is None else draft.replace(changed_files=state.changed_files)
    return draft.replace(
        version=draft.version or state.version,
        published=draft.published or format_timestamp(state.seconds),
        history_version=state.history_version,
        commit=state.commit,
        url=state.url,
    )


def _list_sibling_folders(path: str) -> list[str]:
    try:
        with os.scandir(os.path.dirname(path)) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []


def _read_archive_draft(session: Session, path: str, source: str) -> Iterator[ReleaseDraft]:
    limits = session.settings.limits
    if not os.path.isfile(path):
        raise NotFoundError(f"{sanitize(source)} does not exist", where=path)
    with translate_os_errors("read an archive", path):
        data = read_regular_file(path)
    name = os.path.basename(source)
    draft = ReleaseDraft(name=name, label=source, origin=source)
    try:
        tree = check_tree(read_archive(data, source, limits), name=name, limits=limits)
    except RefusedError as error:
        yield draft.replace(errors=(error.message,))
        return
    # An archive has no folder, whose name the skill's name could be checked against.
    yield _make_local_draft(session, draft, tree, takes_declared_name=True)


def _make_local_draft(
    session: Session, draft: ReleaseDraft, tree: FileTree, *, takes_declared_name: bool = False
) -> ReleaseDraft:
    try:
        skill = read_metadata(tree, PathPin(path=draft.label), draft.name)
    except RefusedError as error:
        return draft.replace(errors=(error.message,))
    report_warnings({SkillName(draft.name): skill}, {}, session.reporter)
    name = skill.declared_name if takes_declared_name else draft.name
    draft = draft.replace(name=name, published=_publication_time(session))
    return _complete_draft(draft, tree, skill, find_errors(tree, name))


def _complete_draft(draft: ReleaseDraft, tree: FileTree, skill: FetchedSkill, errors: list[str]) -> ReleaseDraft:
    """Return a draft with its version and dependencies, and errors for what an index cannot express."""
    if not is_skill_name(draft.name):
        errors = [*errors, f"`{sanitize(draft.name, 80)}` is not a valid skill name"]
    external = [name for name, value in skill.dependencies.items() if not (isinstance(value, str) and is_range(value))]
    errors = [
        *errors,
        *(f"its dependency `{name}` has a source of its own; an index allows only version ranges" for name in external),
    ]
    version = skill.version.removeprefix("v")
    return draft.replace(tree=tree, version=version, errors=tuple(errors), dependencies=skill.dependencies)


def _publication_time(session: Session) -> str:
    """Return the time of the build as set by `SOURCE_DATE_EPOCH` (reproducible-builds.org); empty if unset."""
    text = session.settings.environ.get("SOURCE_DATE_EPOCH", "")
    if not text:
        return ""
    if not text.isascii() or not text.isdigit() or len(text) > 11:  # noqa: PLR2004  (year 5138)
        raise UsageError(f"SOURCE_DATE_EPOCH={sanitize(text, 40)} is not a number of seconds")
    return format_timestamp(int(text))


def format_timestamp(seconds: int) -> str:
    """Return a time in seconds since 1970 as documents have it (UTC, ISO 8601)."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def would_include(session: Session, draft: ReleaseDraft, target: str) -> bool:
    """Return whether a file is inside a skill that it contains: the next build of the same version would differ."""
    folder = os.path.normpath(os.path.join(session.settings.working_directory, draft.label))
    return not draft.tag and os.path.isdir(folder) and would_be_included(folder, target)
