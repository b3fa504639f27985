"""Read all tagged versions of all skills of a repository, to publish them; one skill in memory at a time.

A tag with a skill's name is a version of that skill; a plain tag is a version of every skill without tags of its own.
A repository without version tags is read at its default branch, with the versions that each SKILL.md declares.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence

from skillpm.core.file_tree import FileTree
from skillpm.core.limits import Limits
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.core.values import Value
from skillpm.core.versions import is_version
from skillpm.errors import NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.common.base import FetchedSkill
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.fetchers.git.fetch_strategies import WantedFolder, fetch_missing, read_cache_state
from skillpm.fetchers.git.history import FolderChange, read_commit_times, read_folder_changes
from skillpm.fetchers.git.refs import resolve_ref
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.skill_finder import SkillLocation, find_all_skills
from skillpm.fetchers.git.tags import deduplicate_versions
from skillpm.fetchers.git.tree_walk import read_entries
from skillpm.kinds.git import GitPin, GitSource, tag_prefixes
from skillpm.settings import Settings

# docs/formats.md, "skills.json, the manifest": the forms of a version tag.
TAG_PATTERN = lazy_pattern(r"(?:(?P<name>[a-z0-9-]*[a-z0-9])(?:--|-|@|/))?v?(?P<version>[0-9].*)", re.ASCII)
BATCH_SIZE = 2_000  # folders: one request for each batch, whose file lists must fit into memory


class TaggedRelease(Value):
    """A version of a skill: the name of its folder, its metadata and files, or the `fault` that makes it unusable.

    `is_current`: no newer tag with the same name exists. `rank`: position among the tags, the newest first.
    `seconds`: the commit's date since 1970, 0 if unknown. `history_version`: what follows from the history of a branch,
    if that was asked for.
    """

    folder: str
    ref: str
    is_current: bool
    rank: int
    seconds: int = 0
    history_version: str = ""
    skill: FetchedSkill | None = None
    tree: FileTree | None = None
    fault: str = ""


class _Ref(Value):
    """A ref to read; `skill_name` is the name in its tag, empty for a plain version, None for any other ref."""

    name: str
    rank: int
    skill_name: str | None
    is_current: bool


class _Location(Value):
    """A skill's folder at a ref; `duplicate_path` is a folder with the same name and different content, if any."""

    path: str
    ref: _Ref
    commit: str
    duplicate_path: str = ""


ReleaseHandler = Callable[[TaggedRelease], None]


def read_tagged_releases(
    repository: Repository,
    source: GitSource,
    settings: Settings,
    reporter: Reporter,
    handle_release: ReleaseHandler,
    *,
    with_history: bool = False,
) -> None:
    """Pass every tagged version of a source's skills to `handle_release`, with checked files.

    `with_history` dates the skills of a branch by their own last commits. Versions with the same content follow each
    other, with the same `FileTree`. Raises `NotFoundError` if there are none.
    """
    refs = _list_refs(repository, source, reporter)
    commits = repository.resolve_commits([ref.name for ref in refs])
    locations: dict[str, list[_Location]] = {}
    for ref in refs:
        for oid, location in _find_locations(repository, source, ref, commits[ref.name], reporter):
            locations.setdefault(oid, []).append(location)
    if not locations:
        raise NotFoundError(f"{repository.url} has no skills in any of its versions")
    seconds = read_commit_times(repository, {commits[ref.name][0] for ref in refs})
    changes = (
        _read_changes(repository, [item for items in locations.values() for item in items]) if with_history else {}
    )
    tagged_names = {ref.skill_name for ref in refs if ref.skill_name}
    folders = [
        WantedFolder(
            name=_location_name(location.path, repository.url), tree=tree, commit=location.commit, ref=location.ref.name
        )
        for tree, (location, *_) in locations.items()
    ]
    for start in range(0, len(folders), BATCH_SIZE):
        batch = folders[start : start + BATCH_SIZE]
        for folder, tree, fault in _read_trees(repository, batch, settings.limits, reporter):
            for location in locations[folder.tree]:
                release = _build_release(repository, location, folder, tree, fault, reporter)
                release = release.replace(seconds=seconds.get(location.commit, 0))
                if change := changes.get((location.commit, location.path)):
                    release = release.replace(seconds=change.seconds, history_version=change.version)
                if _belongs_to_skill(release, location, tagged_names, repository.url):
                    handle_release(release)


def _list_refs(repository: Repository, source: GitSource, reporter: Reporter) -> list[_Ref]:
    """Return the refs to read, newest first: that of the source, or all version tags, or the default branch."""
    if source.kind:
        ref = resolve_ref(repository, source, source.skill, (reporter.warn, reporter.log_verbose))[0]
        match = _match_version(ref)
        return [_Ref(name=ref, rank=0, skill_name=match and (match["name"] or ""), is_current=True)]
    commits = repository.list_remote_tags()
    by_name: dict[str, dict[str, str]] = {}
    for tag in sorted(commits):
        if match := _match_version(f"refs/tags/{tag}"):
            by_name.setdefault(match["name"] or "", {})[tag] = match["version"]
    refs: list[_Ref] = []
    for skill_name, versions in by_name.items():
        tags = deduplicate_versions(
            versions, commits, lambda message: reporter.warn(f"{repository.url}: {message}; using the first")
        )
        for tag in tags:
            is_current = tag == tags[0]
            refs.append(_Ref(name=f"refs/tags/{tag}", rank=len(refs), skill_name=skill_name, is_current=is_current))
    return refs or [_Ref(name="HEAD", rank=0, skill_name=None, is_current=True)]


def _match_version(ref: str) -> re.Match[str] | None:
    match = TAG_PATTERN.fullmatch(ref.removeprefix("refs/tags/")) if ref.startswith("refs/tags/") else None
    return match if match and is_version(match["version"]) else None


def _find_locations(
    repository: Repository, source: GitSource, ref: _Ref, commit: tuple[str, str], reporter: Reporter
) -> Iterator[tuple[str, _Location]]:
    """Yield the skills of a source at a ref: tree id and location."""
    try:
        skills: Sequence[SkillLocation] = find_all_skills(repository, commit[1])
    except NotFoundError:
        reporter.log_verbose(f"{repository.url}: no skill at {sanitize(ref.name)}")
        return
    if source.path:
        skills = [skill for skill in skills if f"{skill.path}/".startswith(f"{source.path}/")]
    elif source.skill:
        skills = [skill for skill in skills if _location_name(skill.path, repository.url) == source.skill]
    by_name: dict[str, dict[str, str]] = {}
    for skill in skills:
        by_name.setdefault(_location_name(skill.path, repository.url), {}).setdefault(skill.tree, skill.path)
    for skill in skills:
        others = [
            path for tree, path in by_name[_location_name(skill.path, repository.url)].items() if tree != skill.tree
        ]
        yield (
            skill.tree,
            _Location(path=skill.path, ref=ref, commit=commit[0], duplicate_path=others[0] if others else ""),
        )


def _read_changes(repository: Repository, locations: Sequence[_Location]) -> dict[tuple[str, str], FolderChange]:
    """Return the last change of each folder that is at no version tag, by commit and path."""
    changes: dict[tuple[str, str], FolderChange] = {}
    by_ref: dict[tuple[str, str], list[str]] = {}
    for location in locations:
        if location.ref.skill_name is None:
            by_ref.setdefault((location.ref.name, location.commit), []).append(location.path)
    for (ref, commit), paths in by_ref.items():
        found = read_folder_changes(repository, ref, commit, paths)
        changes |= {(commit, path): change for path, change in found.items()}
    return changes


def _read_trees(
    repository: Repository, folders: Sequence[WantedFolder], limits: Limits, reporter: Reporter
) -> Iterator[tuple[WantedFolder, FileTree | None, str]]:
    """Fetch several folders in one request, and yield each with its tree, or with the reason why it is refused."""
    refused: dict[str, str] = {}
    for folder in folders:
        try:
            read_cache_state(repository, [folder], limits)
        except RefusedError as error:
            refused[folder.tree] = error.message
    # File sizes are known only after the fetch. With the normal limits, `fetch_missing` would then fail for all folders
    # because of a single one; each is checked by itself below.
    batch_limits = limits.replace(file=limits.skill * len(folders), skill=limits.skill * len(folders))
    fetch_missing(repository, [folder for folder in folders if folder.tree not in refused], batch_limits)
    for folder in folders:
        if folder.tree in refused:
            yield folder, None, refused[folder.tree]
            continue
        try:
            listing = read_cache_state(repository, [folder], limits).entries[folder.key]
            entries = read_entries(repository, listing, folder.name, reporter.log_verbose)
            yield folder, check_tree(entries, name=folder.name, limits=limits), ""
        except RefusedError as error:
            yield folder, None, error.message


def _build_release(
    repository: Repository,
    location: _Location,
    wanted_folder: WantedFolder,
    tree: FileTree | None,
    tree_error: str,
    reporter: Reporter,
) -> TaggedRelease:
    folder = _location_name(location.path, repository.url)
    release = TaggedRelease(
        folder=folder, ref=location.ref.name, is_current=location.ref.is_current, rank=location.ref.rank
    )
    if tree is None or location.duplicate_path:
        paths = sorted([location.path, location.duplicate_path])
        return release.replace(fault=tree_error or f"{sanitize(paths[0])} and {sanitize(paths[1])} both have this name")
    pin = GitPin(
        url=repository.url, commit=location.commit, tree=wanted_folder.tree, path=location.path, ref=location.ref.name
    )
    try:
        skill = read_metadata(tree, pin, folder)
    except RefusedError as error:
        return release.replace(fault=error.message)
    for warning in skill.warnings:
        reporter.log_verbose(warning)
    name = skill.declared_name if location.path == "." and skill.declared_name else folder
    return release.replace(folder=name, skill=skill, tree=tree)


def _belongs_to_skill(release: TaggedRelease, location: _Location, tagged_names: set[str], url: str) -> bool:
    """Return whether a tag is a version of this skill: it has its name or that of a folder that holds it, the most
    specific one that a tag has, or is plain and no tag has one of these names.
    """
    if location.ref.skill_name is None:
        return True
    first, *holders = tag_prefixes(release.folder, location.path, url)
    first |= {release.skill.declared_name} if release.skill else set()
    names = next((names for names in (first, *holders) if tagged_names & names), set())
    return location.ref.skill_name in names if location.ref.skill_name else not names


def _location_name(path: str, url: str) -> str:
    return posixpath.basename(url).removesuffix(".git") if path == "." else posixpath.basename(path)
