"""Every version of every skill that a repository has tagged, for publishers; one skill in memory at a time.

A tag that bears a skill's name is a version of that skill; a plain one is a version of all that have none of their own
name. A repository without such tags is taken as it stands, and each skill's version is what its SKILL.md says.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from skillpm.core.file_tree import FileTree, Limits
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.core.values import Value
from skillpm.core.versions import is_version, parse_version
from skillpm.errors import NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.base import FetchedSkill
from skillpm.fetchers.git.fetch_strategies import WantedFolder, fetch_missing, read_cache_state
from skillpm.fetchers.git.history import read_commit_times
from skillpm.fetchers.git.refs import resolve_ref
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.skill_finder import SkillLocation, find_all_skills
from skillpm.fetchers.git.tree_walk import read_entries
from skillpm.fetchers.metadata import read_metadata
from skillpm.formats.pin import GitPin
from skillpm.requirements.source import GitSource
from skillpm.settings import Settings

if TYPE_CHECKING:
    from packaging.version import Version

# docs/formats.md, "skills.json, the manifest": the spellings of a tag that is a version.
TAG_PATTERN = re.compile(r"(?:(?P<name>[a-z0-9-]*[a-z0-9])(?:--|-|@|/))?v?(?P<version>[0-9].*)", re.ASCII)
BATCH_SIZE = 2_000  # folders: what is known of their files must fit into memory, and each batch is one question


class TaggedRelease(Value):
    """A version of a skill: its folder's name, its files and what is known of them, or the `fault` that hides them.

    `is_current`: nothing newer of its kind is tagged. `rank` counts the tags from the newest. `seconds`: the time of
    the commit, 0 where it is not known.
    """

    folder: str
    ref: str
    is_current: bool
    rank: int
    seconds: int = 0
    found: FetchedSkill | None = None
    tree: FileTree | None = None
    fault: str = ""


class _Ref(Value):
    """A ref to look at; `whose` is the skill that a tag bears the name of, None where it is no version."""

    name: str
    rank: int
    skill_name: str | None
    is_current: bool


class _Location(Value):
    """A place in a commit that a ref leads to; `twin` is another one with the same name and other content."""

    path: str
    ref: _Ref
    commit: str
    duplicate_path: str = ""


ReleaseHandler = Callable[[TaggedRelease], None]


def read_tagged_releases(
    repository: Repository, source: GitSource, settings: Settings, reporter: Reporter, handle_release: ReleaseHandler
) -> None:
    """Hand over every tagged version of the skills that a source means, read through the gate.

    Versions with one content come one after the other, with the same `Tree`. Raises `NotFoundError` for none at all.
    """
    refs = _list_refs(repository, source, reporter)
    commits = repository.resolve_commits([ref.name for ref in refs])
    sights: dict[str, list[_Location]] = {}
    for ref in refs:
        for oid, sight in _find_locations(repository, source, ref, commits[ref.name], reporter):
            sights.setdefault(oid, []).append(sight)
    if not sights:
        raise NotFoundError(f"{repository.url} holds no skill in any of its versions")
    seconds = read_commit_times(repository, {commits[ref.name][0] for ref in refs})
    named = {ref.skill_name for ref in refs if ref.skill_name}
    wanted = [_to_wanted_folder(tree, seen[0], repository.url) for tree, seen in sights.items()]
    for start in range(0, len(wanted), BATCH_SIZE):
        part = wanted[start : start + BATCH_SIZE]
        for want, tree, fault in _read_trees(repository, part, settings.limits, reporter):
            for sight in sights[want.tree]:
                found = _build_release(repository, sight, want, tree, fault, reporter)
                if _belongs_to_skill(found, sight, named):
                    handle_release(found.replace(seconds=seconds.get(sight.commit, 0)))


def _list_refs(repository: Repository, source: GitSource, reporter: Reporter) -> list[_Ref]:
    """Give the refs to look at, newest first: the named one, else the tags that are versions, else what is current."""
    if source.kind:
        ref = resolve_ref(repository, source, source.skill, (reporter.warn, reporter.log_verbose))[0]
        match = _match_version(ref)
        return [_Ref(name=ref, rank=0, skill_name=match and (match["name"] or ""), is_current=True)]
    commits = repository.list_remote_tags()
    kinds: dict[str, dict[Version, list[str]]] = {}
    for tag in sorted(commits):
        if (match := _match_version(f"refs/tags/{tag}")) and (version := parse_version(match["version"])) is not None:
            kinds.setdefault(match["name"] or "", {}).setdefault(version, []).append(tag)
    found: list[_Ref] = []
    for whose, versions in kinds.items():
        for version in sorted(versions, reverse=True):
            best, *others = sorted(versions[version], key=lambda tag: (-tag.count("."), tag))
            for other in [tag for tag in others if commits[tag] != commits[best]][:1]:
                said = f"the tags {sanitize(best, 60)} and {sanitize(other, 60)} name one version and different commits"
                reporter.warn(f"{repository.url}: {said}; the first counts")
            is_current = version == max(versions)
            found.append(_Ref(name=f"refs/tags/{best}", rank=len(found), skill_name=whose, is_current=is_current))
    return found or [_Ref(name="HEAD", rank=0, skill_name=None, is_current=True)]


def _match_version(ref: str) -> re.Match[str] | None:
    match = TAG_PATTERN.fullmatch(ref.removeprefix("refs/tags/")) if ref.startswith("refs/tags/") else None
    return match if match and is_version(match["version"]) else None


def _find_locations(
    repository: Repository, source: GitSource, ref: _Ref, commit: tuple[str, str], reporter: Reporter
) -> Iterator[tuple[str, _Location]]:
    """Give the places that a source means at a ref, each with its tree."""
    try:
        places: Sequence[SkillLocation] = find_all_skills(repository, commit[1])
    except NotFoundError:
        reporter.log_verbose(f"{repository.url}: no skill at {sanitize(ref.name)}")
        return
    if source.path:
        places = [place for place in places if f"{place.path}/".startswith(f"{source.path}/")]
    elif source.skill:
        places = [place for place in places if _location_name(place.path, repository.url) == source.skill]
    by_name: dict[str, dict[str, str]] = {}
    for place in places:
        by_name.setdefault(_location_name(place.path, repository.url), {}).setdefault(place.tree, place.path)
    for place in places:
        others = [
            path for tree, path in by_name[_location_name(place.path, repository.url)].items() if tree != place.tree
        ]
        yield (
            place.tree,
            _Location(path=place.path, ref=ref, commit=commit[0], duplicate_path=others[0] if others else ""),
        )


def _read_trees(
    repository: Repository, folders: Sequence[WantedFolder], limits: Limits, reporter: Reporter
) -> Iterator[tuple[WantedFolder, FileTree | None, str]]:
    """Fetch what is missing of some folders at once, and read one after the other: its tree, or why there is none."""
    refused: dict[str, str] = {}
    for want in folders:
        try:
            read_cache_state(repository, [want], limits)
        except RefusedError as error:
            refused[want.tree] = error.message
    # How large files are is known when they are here: then each folder is judged by itself, and not all for one.
    roomy = limits.replace(file=limits.skill * len(folders), skill=limits.skill * len(folders))
    fetch_missing(repository, [want for want in folders if want.tree not in refused], roomy)
    for want in folders:
        if want.tree in refused:
            yield want, None, refused[want.tree]
            continue
        try:
            leaves = read_cache_state(repository, [want], limits).entries[want.tree]
            entries = read_entries(repository, leaves, want.name, reporter.log_verbose)
            yield want, check_tree(entries, name=want.name, limits=limits), ""
        except RefusedError as error:
            yield want, None, error.message


def _build_release(
    repository: Repository,
    location: _Location,
    wanted_folder: WantedFolder,
    tree: FileTree | None,
    tree_error: str,
    reporter: Reporter,
) -> TaggedRelease:
    folder = _location_name(location.path, repository.url)
    version = TaggedRelease(
        folder=folder, ref=location.ref.name, is_current=location.ref.is_current, rank=location.ref.rank
    )
    if tree is None or location.duplicate_path:
        paths = sorted([location.path, location.duplicate_path])
        return version.replace(
            fault=tree_error or f"{sanitize(paths[0])} and {sanitize(paths[1])} are both called that"
        )
    pin = GitPin(
        url=repository.url, commit=location.commit, tree=wanted_folder.tree, path=location.path, ref=location.ref.name
    )
    try:
        found = read_metadata(tree, pin, folder)
    except RefusedError as error:
        return version.replace(fault=error.message)
    for remark in found.warnings:
        reporter.log_verbose(remark)
    name = found.declared_name if location.path == "." and found.declared_name else folder
    return version.replace(folder=name, found=found, tree=tree)


def _belongs_to_skill(release: TaggedRelease, location: _Location, tagged_names: set[str]) -> bool:
    """Tell whether a tag speaks of this skill: it bears its name, or none and the skill has no tags of its own."""
    names = {release.folder, release.found.declared_name if release.found else ""}
    return (
        location.ref.skill_name in names
        if location.ref.skill_name
        else location.ref.skill_name is None or not tagged_names & names
    )


def _location_name(path: str, url: str) -> str:
    return posixpath.basename(url).removesuffix(".git") if path == "." else posixpath.basename(path)


def _to_wanted_folder(tree: str, location: _Location, url: str) -> WantedFolder:
    return WantedFolder(
        name=_location_name(location.path, url), tree=tree, commit=location.commit, ref=location.ref.name
    )
