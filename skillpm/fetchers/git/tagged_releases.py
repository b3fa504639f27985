"""Every version of every skill that a repository has tagged, for publishers; one skill in memory at a time.

A tag that bears a skill's name is a version of that skill; a plain one is a version of all that have none of their own
name. A repository without such tags is taken as it stands, and each skill's version is what its SKILL.md says.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from skillpm.core.file_tree import Limits, Tree
from skillpm.core.text import show
from skillpm.core.tree_checks import checked_tree
from skillpm.core.values import Value
from skillpm.core.versions import is_version, version_of
from skillpm.errors import NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.base import Found
from skillpm.fetchers.git.fetch_strategies import Wanted, bring, look
from skillpm.fetchers.git.history import seconds_of
from skillpm.fetchers.git.refs import named_ref
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.skill_finder import Place, all_places
from skillpm.fetchers.git.tree_walk import entries_of
from skillpm.fetchers.metadata import described
from skillpm.formats.pin import GitPin
from skillpm.requirements.source import GitSource
from skillpm.settings import Settings

if TYPE_CHECKING:
    from packaging.version import Version

# docs/formats.md, "skills.json, the manifest": the spellings of a tag that is a version.
SPELLING = re.compile(r"(?:(?P<name>[a-z0-9-]*[a-z0-9])(?:--|-|@|/))?v?(?P<version>[0-9].*)", re.ASCII)
AT_ONCE = 2_000  # folders: what is known of their files must fit into memory, and each batch is one question


class Tagged(Value):
    """A version of a skill: its folder's name, its files and what is known of them, or the `fault` that hides them.

    `is_current`: nothing newer of its kind is tagged. `rank` counts the tags from the newest. `seconds`: the time of
    the commit, 0 where it is not known.
    """

    folder: str
    ref: str
    is_current: bool
    rank: int
    seconds: int = 0
    found: Found | None = None
    tree: Tree | None = None
    fault: str = ""


class _Ref(Value):
    """A ref to look at; `whose` is the skill that a tag bears the name of, None where it is no version."""

    name: str
    rank: int
    whose: str | None
    is_current: bool


class _Sight(Value):
    """A place in a commit that a ref leads to; `twin` is another one with the same name and other content."""

    path: str
    ref: _Ref
    commit: str
    twin: str = ""


Take = Callable[[Tagged], None]


def tagged(repository: Repository, source: GitSource, settings: Settings, reporter: Reporter, take: Take) -> None:
    """Hand over every tagged version of the skills that a source means, read through the gate.

    Versions with one content come one after the other, with the same `Tree`. Raises `NotFoundError` for none at all.
    """
    refs = _refs(repository, source, reporter)
    commits = repository.commits([ref.name for ref in refs])
    sights: dict[str, list[_Sight]] = {}
    for ref in refs:
        for oid, sight in _sights(repository, source, ref, commits[ref.name], reporter):
            sights.setdefault(oid, []).append(sight)
    if not sights:
        raise NotFoundError(f"{repository.url} holds no skill in any of its versions")
    seconds = seconds_of(repository, {commits[ref.name][0] for ref in refs})
    named = {ref.whose for ref in refs if ref.whose}
    wanted = [_wanted(tree, seen[0], repository.url) for tree, seen in sights.items()]
    for start in range(0, len(wanted), AT_ONCE):
        part = wanted[start : start + AT_ONCE]
        for want, tree, fault in _brought(repository, part, settings.limits, reporter):
            for sight in sights[want.tree]:
                found = _judged(repository, sight, want, tree, fault, reporter)
                if _is_meant(found, sight, named):
                    take(found.but(seconds=seconds.get(sight.commit, 0)))


def _refs(repository: Repository, source: GitSource, reporter: Reporter) -> list[_Ref]:
    """Give the refs to look at, newest first: the named one, else the tags that are versions, else what is current."""
    if source.kind:
        ref = named_ref(repository, source, source.skill, (reporter.warning, reporter.note))[0]
        match = _version_in(ref)
        return [_Ref(name=ref, rank=0, whose=match and (match["name"] or ""), is_current=True)]
    commits = repository.remote_tags()
    kinds: dict[str, dict[Version, list[str]]] = {}
    for tag in sorted(commits):
        if (match := _version_in(f"refs/tags/{tag}")) and (version := version_of(match["version"])) is not None:
            kinds.setdefault(match["name"] or "", {}).setdefault(version, []).append(tag)
    found: list[_Ref] = []
    for whose, versions in kinds.items():
        for version in sorted(versions, reverse=True):
            best, *others = sorted(versions[version], key=lambda tag: (-tag.count("."), tag))
            for other in [tag for tag in others if commits[tag] != commits[best]][:1]:
                said = f"the tags {show(best, 60)} and {show(other, 60)} name one version and different commits"
                reporter.warning(f"{repository.url}: {said}; the first counts")
            is_current = version == max(versions)
            found.append(_Ref(name=f"refs/tags/{best}", rank=len(found), whose=whose, is_current=is_current))
    return found or [_Ref(name="HEAD", rank=0, whose=None, is_current=True)]


def _version_in(ref: str) -> re.Match[str] | None:
    match = SPELLING.fullmatch(ref.removeprefix("refs/tags/")) if ref.startswith("refs/tags/") else None
    return match if match and is_version(match["version"]) else None


def _sights(
    repository: Repository, source: GitSource, ref: _Ref, commit: tuple[str, str], reporter: Reporter
) -> Iterator[tuple[str, _Sight]]:
    """Give the places that a source means at a ref, each with its tree."""
    try:
        places: Sequence[Place] = all_places(repository, commit[1])
    except NotFoundError:
        reporter.note(f"{repository.url}: no skill at {show(ref.name)}")
        return
    if source.path:
        places = [place for place in places if f"{place.path}/".startswith(f"{source.path}/")]
    elif source.skill:
        places = [place for place in places if _name(place.path, repository.url) == source.skill]
    by_name: dict[str, dict[str, str]] = {}
    for place in places:
        by_name.setdefault(_name(place.path, repository.url), {}).setdefault(place.tree, place.path)
    for place in places:
        others = [path for tree, path in by_name[_name(place.path, repository.url)].items() if tree != place.tree]
        yield place.tree, _Sight(path=place.path, ref=ref, commit=commit[0], twin=others[0] if others else "")


def _brought(
    repository: Repository, part: Sequence[Wanted], limits: Limits, reporter: Reporter
) -> Iterator[tuple[Wanted, Tree | None, str]]:
    """Fetch what is missing of some folders at once, and read one after the other: its tree, or why there is none."""
    refused: dict[str, str] = {}
    for want in part:
        try:
            look(repository, [want], limits)
        except RefusedError as error:
            refused[want.tree] = error.message
    # How large files are is known when they are here: then each folder is judged by itself, and not all for one.
    roomy = limits.but(file=limits.skill * len(part), skill=limits.skill * len(part))
    bring(repository, [want for want in part if want.tree not in refused], roomy)
    for want in part:
        if want.tree in refused:
            yield want, None, refused[want.tree]
            continue
        try:
            leaves = look(repository, [want], limits).leaves[want.tree]
            entries = entries_of(repository, leaves, want.name, reporter.note)
            yield want, checked_tree(entries, name=want.name, limits=limits), ""
        except RefusedError as error:
            yield want, None, error.message


def _judged(
    repository: Repository, sight: _Sight, want: Wanted, tree: Tree | None, fault: str, reporter: Reporter
) -> Tagged:
    folder = _name(sight.path, repository.url)
    version = Tagged(folder=folder, ref=sight.ref.name, is_current=sight.ref.is_current, rank=sight.ref.rank)
    if tree is None or sight.twin:
        paths = sorted([sight.path, sight.twin])
        return version.but(fault=fault or f"{show(paths[0])} and {show(paths[1])} are both called that")
    pin = GitPin(url=repository.url, commit=sight.commit, tree=want.tree, path=sight.path, ref=sight.ref.name)
    try:
        found = described(tree, pin, folder)
    except RefusedError as error:
        return version.but(fault=error.message)
    for remark in found.remarks:
        reporter.note(remark)
    name = found.declared if sight.path == "." and found.declared else folder
    return version.but(folder=name, found=found, tree=tree)


def _is_meant(version: Tagged, sight: _Sight, named: set[str]) -> bool:
    """Tell whether a tag speaks of this skill: it bears its name, or none and the skill has no tags of its own."""
    names = {version.folder, version.found.declared if version.found else ""}
    return sight.ref.whose in names if sight.ref.whose else sight.ref.whose is None or not named & names


def _name(path: str, url: str) -> str:
    return posixpath.basename(url).removesuffix(".git") if path == "." else posixpath.basename(path)


def _wanted(tree: str, sight: _Sight, url: str) -> Wanted:
    return Wanted(name=_name(sight.path, url), tree=tree, commit=sight.commit, ref=sight.ref.name)
