"""Skills as their sources have them, for publishing: read, judged strictly, each with all that speaks against it."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.suggestions import closest_matches
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.core.versions import is_range
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.fetchers.base import FetchedSkill
from skillpm.fetchers.git.tagged_releases import TaggedRelease
from skillpm.fetchers.local import read_skill_folder
from skillpm.fetchers.metadata import read_metadata
from skillpm.fetchers.notices import report_warnings
from skillpm.files import read_regular_file, translate_os_errors
from skillpm.formats.index_schema import version_problem
from skillpm.formats.pin import PathPin
from skillpm.indexes.publish.release_merge import find_errors
from skillpm.operations.context.runtime import Context
from skillpm.operations.validate import find_skill_folders
from skillpm.requirements.source import GitSource
from skillpm.requirements.specifier import parse_specifier

ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".zip")
NO_VERSION = "it has no version"


class ReleaseDraft(Value):
    """A version of a skill that a source has. `place` names it briefly, `came_from` wholly, `at` is its tag.

    `is_current`: whoever keeps the source can still mend it; what was tagged long ago stays as it is. `rank` counts
    tags from the newest.
    """

    name: str
    label: str
    origin: str
    tree: FileTree | None = None
    version: str = ""
    errors: tuple[str, ...] = ()
    dependencies: Mapping[str, Any] = EMPTY_MAPPING
    published: str = ""
    tag: str = ""
    is_current: bool = True
    age_rank: int = 0


DraftCallback = Callable[[ReleaseDraft], None]


def read_drafts(context: Context, source: str, on_draft: DraftCallback, default_version: str = "") -> None:
    """Hand over the skills of a folder, a folder of many, an archive or a repository, one at a time.

    `version` is that of skills which say none. Raises `NotFoundError` for a source without any.
    """
    whole = os.path.join(context.settings.working_directory, source)
    if not os.path.lexists(whole) and isinstance(repository := parse_specifier(source).source, GitSource):
        _read_tagged_drafts(context, repository, on_draft, default_version)
        return
    for draft in (
        _read_archive_draft(context, whole, source)
        if source.endswith(ARCHIVE_SUFFIXES)
        else _read_folder_drafts(context, whole, source)
    ):
        on_draft(draft if draft.version else draft.replace(version=default_version))


def find_version_error(version: str) -> str:
    """Say why a version cannot be published, empty where it can."""
    return version_problem(version) if version else NO_VERSION


def _read_tagged_drafts(context: Context, source: GitSource, on_draft: DraftCallback, default_version: str) -> None:
    """Read every tagged version of a repository's skills; versions of one content are judged once."""
    from skillpm.fetchers.git.git_fetcher import GitFetcher  # noqa: PLC0415  (only where a source is a repository)

    judged: tuple[FileTree | None, str, list[str]] = (None, "", [])

    def draft(item: TaggedRelease) -> None:
        nonlocal judged
        at = item.ref.removeprefix("refs/tags/")
        made = ReleaseDraft(
            name=item.folder,
            label=f"{item.folder} at {at}",
            origin=f"{source.url} at {at}",
            tag=at,
            is_current=item.is_current,
            age_rank=item.rank,
            published=_format_timestamp(item.seconds),
        )
        if item.tree is None or item.found is None:
            on_draft(made.replace(errors=(item.fault,)))
            return
        if judged[:2] != (item.tree, item.folder):
            judged = item.tree, item.folder, find_errors(item.tree, item.folder)
        on_draft(_complete_draft(made, item.tree, item.found, judged[2], default_version))

    GitFetcher(context.settings, context.store, context.reporter, context.git_cache_dir()).read_tagged_releases(
        source, draft
    )


def _read_folder_drafts(context: Context, path: str, source: str) -> Iterator[ReleaseDraft]:
    folders = [*find_skill_folders(path)]
    if not folders:
        hint = "name a skill's folder, or a folder of skills"
        if os.path.lexists(path):
            raise NotFoundError(f"{sanitize(source)} holds no SKILL.md", hint=hint)
        similar = closest_matches(os.path.basename(path), _list_sibling_folders(path))
        meant = " or ".join(sanitize(os.path.join(os.path.dirname(source), name)) for name in similar)
        raise NotFoundError(f"{sanitize(source)} is not there", hint=f"did you mean {meant}?" if similar else hint)
    for folder in folders:
        name = os.path.basename(os.path.realpath(folder))
        place = os.path.relpath(folder, context.settings.working_directory)
        try:
            tree = read_skill_folder(folder, name, context.settings.limits, display_path=place)
        except RefusedError as error:
            yield ReleaseDraft(name=name, label=place, origin=place, errors=(error.message,))
            continue
        yield _make_local_draft(context, ReleaseDraft(name=name, label=place, origin=place), tree)


def _list_sibling_folders(path: str) -> list[str]:
    try:
        with os.scandir(os.path.dirname(path)) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []


def _read_archive_draft(context: Context, path: str, source: str) -> Iterator[ReleaseDraft]:
    limits = context.settings.limits
    if not os.path.isfile(path):
        raise NotFoundError(f"{sanitize(source)} is not there", where=path)
    with translate_os_errors("read an archive", path):
        data = read_regular_file(path)
    try:
        tree = check_tree(read_archive(data, source, limits), name=os.path.basename(source), limits=limits)
        # An archive has no folder whose name could be another one.
        found = read_metadata(tree, PathPin(path=source), os.path.basename(source))
        report_warnings({SkillName(os.path.basename(source)): found}, {}, context.reporter)
    except RefusedError as error:
        yield ReleaseDraft(name=os.path.basename(source), label=source, origin=source, errors=(error.message,))
        return
    yield _make_local_draft(context, ReleaseDraft(name=found.declared_name, label=source, origin=source), tree)


def _make_local_draft(context: Context, draft: ReleaseDraft, tree: FileTree) -> ReleaseDraft:
    try:
        found = read_metadata(tree, PathPin(path=draft.label), draft.name)
        report_warnings({SkillName(draft.name): found}, {}, context.reporter)
    except RefusedError as error:
        return draft.replace(errors=(error.message,))
    return _complete_draft(
        draft.replace(published=_publication_time(context)), tree, found, find_errors(tree, draft.name)
    )


def _complete_draft(
    draft: ReleaseDraft, tree: FileTree, skill: FetchedSkill, errors: list[str], default_version: str = ""
) -> ReleaseDraft:
    """Give a draft with what is known of it, and all that an index cannot say."""
    if not is_skill_name(draft.name):
        errors = [*errors, f"`{sanitize(draft.name, 80)}` is no name of a skill"]
    elsewhere = [name for name, wanted in skill.dependencies.items() if not _is_version_range(wanted)]
    errors = [
        *errors,
        *(f"it needs `{name}` from a place of its own; in an index only versions count" for name in elsewhere),
    ]
    version = skill.version.removeprefix("v") or default_version
    return draft.replace(tree=tree, version=version, errors=tuple(errors), dependencies=skill.dependencies)


def _is_version_range(value: object) -> bool:
    """Tell whether what a skill asks of another is a mere range, which an index can fulfil."""
    return isinstance(value, str) and is_range(value)


def _publication_time(context: Context) -> str:
    """Give the moment of the build where the surroundings say one (reproducible-builds.org, SOURCE_DATE_EPOCH)."""
    text = context.settings.environ.get("SOURCE_DATE_EPOCH", "")
    if not text:
        return ""
    if not text.isascii() or not text.isdigit() or len(text) > 11:  # noqa: PLR2004  (year 5138)
        raise UsageError(f"SOURCE_DATE_EPOCH={sanitize(text, 40)} is no number of seconds")
    return _format_timestamp(int(text))


def _format_timestamp(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) if seconds else ""
