"""Every version of every skill that a repository has tagged, for publishers.

A tag that bears a skill's name is a version of that skill; a plain one is a version of all that have none of their own
name. A repository without such tags is taken as it stands, and each skill's version is what its SKILL.md says.
"""

import posixpath
import re

from skillpm.documents.pin import GitPin
from skillpm.documents.text import show
from skillpm.documents.tree import Tree, checked_tree
from skillpm.documents.versions import is_version
from skillpm.errors import NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetching.base import Found
from skillpm.fetching.describe import described
from skillpm.fetching.git.dates import seconds_of
from skillpm.fetching.git.entries import entries_of
from skillpm.fetching.git.listing import Place, all_places
from skillpm.fetching.git.refs import named_ref
from skillpm.fetching.git.repository import Repository
from skillpm.fetching.git.ways import Wanted, bring
from skillpm.settings import Settings
from skillpm.sources.source import GitSource
from skillpm.values import Value

# docs/formats.md, "skills.json, the manifest": the spellings of a tag that is a version.
SPELLING = re.compile(r"(?:(?P<name>[a-z0-9-]*[a-z0-9])(?:--|-|@|/))?v?(?P<version>[0-9].*)", re.ASCII)


class Tagged(Value):
    """A version of a skill: the folder's name, what is known of it, and when it was committed (seconds, 0: unknown)."""

    folder: str
    found: Found
    tree: Tree
    ref: str
    seconds: int


class _Sight(Value):
    """A place in a commit that a ref leads to."""

    place: Place
    ref: str
    commit: str

    def name(self, url: str) -> str:
        path = posixpath.basename(url).removesuffix(".git") if self.place.path == "." else self.place.path
        return posixpath.basename(path)


def tagged(repository: Repository, source: GitSource, settings: Settings, reporter: Reporter) -> list[Tagged]:
    """Give every tagged version of the skills that a source means, read through the gate."""
    refs = _refs(repository, source, reporter)
    commits = repository.commits(refs)
    sights = [sight for ref in refs for sight in _sights(repository, source, ref, commits[ref], reporter)]
    if not sights:
        raise NotFoundError(f"{repository.url} holds no skill in any of its versions")
    wanted = {
        sight.place.tree: Wanted(
            name=sight.name(repository.url), tree=sight.place.tree, commit=sight.commit, ref=sight.ref
        )
        for sight in sights
    }
    have = bring(repository, list(wanted.values()), settings.limits)
    trees: dict[str, Tree] = {}
    seconds = seconds_of(repository, {sight.commit for sight in sights})
    named = {match["name"] for ref in refs if (match := _version_in(ref)) and match["name"]}
    versions = []
    for sight in sights:
        folder, want = sight.name(repository.url), wanted[sight.place.tree]
        pin = GitPin(url=repository.url, commit=sight.commit, tree=want.tree, path=sight.place.path, ref=sight.ref)
        try:
            if want.tree not in trees:
                entries = entries_of(repository, have.leaves[want.tree], want.name, reporter.note)
                trees[want.tree] = checked_tree(entries, name=want.name, limits=settings.limits)
            found = described(trees[want.tree], pin, folder, reporter.note)
        except RefusedError as error:
            at = f"{folder} at {sight.ref.removeprefix('refs/tags/')}"
            reporter.warning(f"{show(at)} is left out: {error.message}")
            continue
        folder = found.declared if sight.place.path == "." and found.declared else folder
        match = _version_in(sight.ref)
        whose = match["name"] if match else None
        if whose not in {None, folder, found.declared} or (match and not whose and named & {folder, found.declared}):
            continue  # a tag of another skill, or a plain one where this skill has its own
        versions.append(
            Tagged(
                folder=folder, found=found, tree=trees[want.tree], ref=sight.ref, seconds=seconds.get(sight.commit, 0)
            )
        )
    return versions


def _refs(repository: Repository, source: GitSource, reporter: Reporter) -> list[str]:
    """Give the refs to look at: the one that is named, else the tags that are versions, else what is current."""
    if source.kind:
        return [named_ref(repository, source, source.skill, (reporter.warning, reporter.note))[0]]
    return [f"refs/tags/{tag}" for tag in sorted(repository.remote_tags()) if _version_in(f"refs/tags/{tag}")] or [
        "HEAD"
    ]


def _version_in(ref: str) -> re.Match[str] | None:
    match = SPELLING.fullmatch(ref.removeprefix("refs/tags/")) if ref.startswith("refs/tags/") else None
    return match if match and is_version(match["version"]) else None


def _sights(
    repository: Repository, source: GitSource, ref: str, commit: tuple[str, str], reporter: Reporter
) -> list[_Sight]:
    try:
        places = all_places(repository, commit[1])
    except NotFoundError:
        reporter.note(f"{repository.url}: no skill at {show(ref)}")
        return []
    sights = [_Sight(place=place, ref=ref, commit=commit[0]) for place in places]
    if source.path:
        return [sight for sight in sights if sight.place.path == source.path]
    return [sight for sight in sights if source.skill in {"", sight.name(repository.url)}]
