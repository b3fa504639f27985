"""The skills in a commit: found by path, by folder, by the name they declare; or all of them."""

import posixpath
from collections.abc import Mapping, Sequence

from skillpm.documents.agents import near
from skillpm.documents.findings import NotLoadable
from skillpm.documents.skill import Skill, read_skill
from skillpm.documents.text import show
from skillpm.errors import ConflictError, NotFoundError
from skillpm.fetching.git.complaints import translated
from skillpm.fetching.git.objects import LINK, Walked, folder_id, walk
from skillpm.fetching.git.process import GitFailed
from skillpm.fetching.git.repository import Repository
from skillpm.sources.source import GitSource
from skillpm.values import Value


class Place(Value):
    """Where a skill stands in a commit, and the tree id of that folder."""

    path: str
    tree: str


def place_of(repository: Repository, root: str, source: GitSource, name: str) -> Place:
    """Find the folder a source means. `name` is what to look for where the source says neither path nor skill."""
    if source.path:
        tree = folder_id(repository.reader, root, source.path)
        if tree is None or not _has_skill(repository, tree):
            raise _no_such_folder(repository, root, source, found=tree is not None)
        return Place(path=source.path, tree=tree)
    wanted = source.skill or name
    walked = walk(repository.reader, root)
    places = skill_places(walked)
    if not places:
        raise NotFoundError(f"{repository.url} holds no skill: there is no SKILL.md in it")
    exact = [place for place in places if posixpath.basename(place.path) == wanted]
    if not exact:
        skills = read_skills(repository, walked, places)
        exact = [place for place in places if skills[place.path].declared == wanted]
        if not exact and len(places) == 1 and not source.skill:
            exact = list(places)
        if not exact:
            raise _unknown(repository, wanted, [name_of(place, skills[place.path], repository.url) for place in places])
    if len({place.tree for place in exact}) > 1:
        paths = ", ".join(show(place.path) for place in exact[:8])
        raise ConflictError(
            f"{repository.url} holds several skills called `{wanted}`: {paths}",
            hint=f"choose one with --path, e.g. --path {exact[0].path}",
        )
    return min(exact, key=lambda place: (place.path.count("/"), place.path))


def skill_places(walked: Walked) -> tuple[Place, ...]:
    """Give every folder with a SKILL.md, sorted; one that lies inside another skill is a part of that skill.

    The top of a repository may be a skill beside the ones below it.
    """
    folders = sorted(
        posixpath.dirname(leaf.path) or "."
        for leaf in walked.leaves
        if posixpath.basename(leaf.path) == "SKILL.md"
    )
    inner = set(folders)
    return tuple(
        Place(path=folder, tree=walked.folders[folder]) for folder in folders if not _is_inside(folder, inner)
    )


def read_skills(repository: Repository, walked: Walked, places: Sequence[Place]) -> Mapping[str, Skill]:
    """Read the SKILL.md of each place, all fetched in one batch; one that cannot be loaded reads as empty."""
    wanted = {place.path: "SKILL.md" if place.path == "." else place.path + "/SKILL.md" for place in places}
    ids = {leaf.path: leaf.id for leaf in walked.leaves if leaf.mode != LINK}
    found = repository.reader.read(ids[path] for path in wanted.values() if path in ids)
    lacking = [oid for oid, blob in found.items() if blob is None]
    if lacking and not repository.around.settings.offline:
        try:
            repository.fetch(["--filter=blob:none"], ids=lacking)
        except GitFailed as failed:
            raise translated(failed, repository.url) from failed
        found |= repository.reader.read(lacking)
    skills = {}
    for path, file in wanted.items():
        blob = found.get(ids.get(file, ""))
        try:
            skills[path] = read_skill(blob.data if blob is not None else b"")
        except NotLoadable:
            skills[path] = Skill(declared="", description="", body="")
    return skills


def name_of(place: Place, skill: Skill, url: str) -> str:
    """Give the name to show and install a place under: its own, its folder's, at the top the repository's."""
    folder = posixpath.basename(url).removesuffix(".git") if place.path == "." else posixpath.basename(place.path)
    return skill.declared or folder


def _is_inside(folder: str, folders: set[str]) -> bool:
    parts = folder.split("/")
    return any("/".join(parts[:depth]) in folders for depth in range(1, len(parts)))


def _has_skill(repository: Repository, tree: str) -> bool:
    found = repository.reader.read([f"{tree}:SKILL.md"])[f"{tree}:SKILL.md"]
    if found is not None:
        return True
    # In a partial cache the file's content is not here yet; its entry in the tree is.
    entries = repository.reader.read([tree])[tree]
    return entries is not None and b" SKILL.md\0" in entries.data


def _no_such_folder(repository: Repository, root: str, source: GitSource, *, found: bool) -> NotFoundError:
    paths = [place.path for place in skill_places(walk(repository.reader, root))]
    similar = near(source.path, paths) or tuple(paths[:3])
    at = f" at {source.ref}" if source.ref else ""
    what = "has no SKILL.md in" if found else "has no folder"
    hint = f"skills are at: {', '.join(show(path) for path in similar)}" if similar else "it holds no skill at all"
    return NotFoundError(f"{repository.url} {what} `{show(source.path)}`{at}", hint=hint)


def _unknown(repository: Repository, wanted: str, names: Sequence[str]) -> NotFoundError:
    similar = near(wanted, names)
    few = ", ".join(show(name, 64) for name in (similar or names[:8]))
    lead = "did you mean" if similar else "it holds"
    return NotFoundError(f"{repository.url} holds no skill called `{show(wanted)}`", hint=f"{lead}: {few}")
