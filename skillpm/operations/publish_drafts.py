"""Skills as their sources have them, for publishing: read, judged strictly, each with all that speaks against it."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from skillpm.core.file_tree import Tree
from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.suggestions import near
from skillpm.core.text import show
from skillpm.core.tree_checks import checked_tree
from skillpm.core.values import NOTHING, Value
from skillpm.core.versions import is_range
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.fetchers.base import Found
from skillpm.fetchers.git.tagged_releases import Tagged
from skillpm.fetchers.local import read_skill_folder
from skillpm.fetchers.metadata import described
from skillpm.fetchers.notices import tell_remarks
from skillpm.files import read_document, told
from skillpm.formats.index_schema import fault_of_version
from skillpm.formats.pin import PathPin
from skillpm.indexes.publish.release_merge import faults
from skillpm.operations.context.runtime import Tools
from skillpm.operations.validate import skill_folders
from skillpm.requirements.source import GitSource
from skillpm.requirements.specifier import parse_specifier

ARCHIVES = (".tar.gz", ".tgz", ".zip")
NO_VERSION = "it has no version"


class Draft(Value):
    """A version of a skill that a source has. `place` names it briefly, `came_from` wholly, `at` is its tag.

    `is_current`: whoever keeps the source can still mend it; what was tagged long ago stays as it is. `rank` counts
    tags from the newest.
    """

    name: str
    place: str
    came_from: str
    tree: Tree | None = None
    version: str = ""
    faults: tuple[str, ...] = ()
    dependencies: Mapping[str, Any] = NOTHING
    published: str = ""
    at: str = ""
    is_current: bool = True
    rank: int = 0


Take = Callable[[Draft], None]


def read_drafts(tools: Tools, source: str, take: Take, version: str = "") -> None:
    """Hand over the skills of a folder, a folder of many, an archive or a repository, one at a time.

    `version` is that of skills which say none. Raises `NotFoundError` for a source without any.
    """
    whole = os.path.join(tools.settings.working_directory, source)
    if not os.path.lexists(whole) and isinstance(repository := parse_specifier(source).source, GitSource):
        _tagged(tools, repository, take, version)
        return
    for draft in _archive(tools, whole, source) if source.endswith(ARCHIVES) else _folders(tools, whole, source):
        take(draft if draft.version else draft.but(version=version))


def version_fault(version: str) -> str:
    """Say why a version cannot be published, empty where it can."""
    return fault_of_version(version) if version else NO_VERSION


def _tagged(tools: Tools, source: GitSource, take: Take, default: str) -> None:
    """Read every tagged version of a repository's skills; versions of one content are judged once."""
    from skillpm.fetchers.git.git_fetcher import GitFetcher  # noqa: PLC0415  (only where a source is a repository)

    judged: tuple[Tree | None, str, list[str]] = (None, "", [])

    def draft(item: Tagged) -> None:
        nonlocal judged
        at = item.ref.removeprefix("refs/tags/")
        made = Draft(
            name=item.folder,
            place=f"{item.folder} at {at}",
            came_from=f"{source.url} at {at}",
            at=at,
            is_current=item.is_current,
            rank=item.rank,
            published=_moment(item.seconds),
        )
        if item.tree is None or item.found is None:
            take(made.but(faults=(item.fault,)))
            return
        if judged[:2] != (item.tree, item.folder):
            judged = item.tree, item.folder, faults(item.tree, item.folder)
        take(_described(made, item.tree, item.found, judged[2], default))

    GitFetcher(tools.settings, tools.store, tools.reporter, tools.git_cache()).tagged(source, draft)


def _folders(tools: Tools, whole: str, source: str) -> Iterator[Draft]:
    folders = [*skill_folders(whole)]
    if not folders:
        hint = "name a skill's folder, or a folder of skills"
        if os.path.lexists(whole):
            raise NotFoundError(f"{show(source)} holds no SKILL.md", hint=hint)
        similar = near(os.path.basename(whole), _folders_beside(whole))
        meant = " or ".join(show(os.path.join(os.path.dirname(source), name)) for name in similar)
        raise NotFoundError(f"{show(source)} is not there", hint=f"did you mean {meant}?" if similar else hint)
    for folder in folders:
        name = os.path.basename(os.path.realpath(folder))
        place = os.path.relpath(folder, tools.settings.working_directory)
        try:
            tree = read_skill_folder(folder, name, tools.settings.limits, written=place)
        except RefusedError as error:
            yield Draft(name=name, place=place, came_from=place, faults=(error.message,))
            continue
        yield _local(tools, Draft(name=name, place=place, came_from=place), tree)


def _folders_beside(path: str) -> list[str]:
    try:
        with os.scandir(os.path.dirname(path)) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []


def _archive(tools: Tools, whole: str, source: str) -> Iterator[Draft]:
    limits = tools.settings.limits
    if not os.path.isfile(whole):
        raise NotFoundError(f"{show(source)} is not there", where=whole)
    with told("read an archive", whole):
        data = read_document(whole)
    try:
        tree = checked_tree(read_archive(data, source, limits), name=os.path.basename(source), limits=limits)
        # An archive has no folder whose name could be another one.
        found = described(tree, PathPin(path=source), os.path.basename(source))
        tell_remarks({SkillName(os.path.basename(source)): found}, {}, tools.reporter)
    except RefusedError as error:
        yield Draft(name=os.path.basename(source), place=source, came_from=source, faults=(error.message,))
        return
    yield _local(tools, Draft(name=found.declared, place=source, came_from=source), tree)


def _local(tools: Tools, draft: Draft, tree: Tree) -> Draft:
    try:
        found = described(tree, PathPin(path=draft.place), draft.name)
        tell_remarks({SkillName(draft.name): found}, {}, tools.reporter)
    except RefusedError as error:
        return draft.but(faults=(error.message,))
    return _described(draft.but(published=_published(tools)), tree, found, faults(tree, draft.name))


def _described(draft: Draft, tree: Tree, found: Found, bad: list[str], default: str = "") -> Draft:
    """Give a draft with what is known of it, and all that an index cannot say."""
    if not is_skill_name(draft.name):
        bad = [*bad, f"`{show(draft.name, 80)}` is no name of a skill"]
    elsewhere = [name for name, wanted in found.dependencies.items() if not _is_text_range(wanted)]
    bad = [*bad, *(f"it needs `{name}` from a place of its own; in an index only versions count" for name in elsewhere)]
    version = found.version.removeprefix("v") or default
    return draft.but(tree=tree, version=version, faults=tuple(bad), dependencies=found.dependencies)


def _is_text_range(value: object) -> bool:
    """Tell whether what a skill asks of another is a mere range, which an index can fulfil."""
    return isinstance(value, str) and is_range(value)


def _published(tools: Tools) -> str:
    """Give the moment of the build where the surroundings say one (reproducible-builds.org, SOURCE_DATE_EPOCH)."""
    text = tools.settings.environ.get("SOURCE_DATE_EPOCH", "")
    if not text:
        return ""
    if not text.isascii() or not text.isdigit() or len(text) > 11:  # noqa: PLR2004  (year 5138)
        raise UsageError(f"SOURCE_DATE_EPOCH={show(text, 40)} is no number of seconds")
    return _moment(int(text))


def _moment(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) if seconds else ""
