"""The skills in a commit: found by path, by folder, by the name they declare; or all of them."""

import posixpath
from collections.abc import Mapping, Sequence

from skillpm.core.names import SKILL_FILES
from skillpm.core.suggestions import few, near
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import ConflictError, NotFoundError, RefusedError
from skillpm.fetchers.git.errors import translated
from skillpm.fetchers.git.objects import KINDS, LINK, TREE, CacheDamaged, GitObject
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.tree_walk import TooMuch, entry_of, folder_id, walk
from skillpm.requirements.source import GitSource
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.frontmatter import LARGEST_FILE
from skillpm.skillmd.skill import Skill, read_skill

AT_ONCE = 50
LONGEST_DESCRIPTION = 1024  # Agent Skills specification, "description"
UNREADABLE = Skill(declared="", description="", body="")


class Place(Value):
    """Where a skill stands in a commit, the tree id of that folder, and the id of its SKILL.md (none for a link)."""

    path: str
    tree: str
    text: str


def place_of(repository: Repository, root: str, source: GitSource, name: str) -> Place:
    """Find the folder a source means. `name` is what to look for where the source says neither path nor skill."""
    if source.path:
        place = _place_at(repository, root, source)
        if source.skill:
            _check_name(repository, place, source.skill)
        return place
    return _called(repository, all_places(repository, root), source.skill or name, is_named=bool(source.skill))


def places_at(repository: Repository, root: str, source: GitSource) -> Sequence[Place]:
    """Find the skill in the folder that a source names, or where it is none, those in the folders below it: all, or
    the one that the source names. Raises `NotFoundError`.
    """
    tree, place = _look_at(repository, root, source)
    if place is not None:
        if source.skill:
            _check_name(repository, place, source.skill)
        return [place]
    try:
        below = all_places(repository, tree) if tree is not None else ()
    except NotFoundError:
        below = ()
    if not below:
        raise _no_such_folder(repository, root, source, found=tree is not None)
    inside = [place.but(path=posixpath.join(source.path, place.path)) for place in below]
    return [_called(repository, inside, source.skill, is_named=True)] if source.skill else inside


def _called(repository: Repository, places: Sequence[Place], wanted: str, *, is_named: bool) -> Place:
    """Find the skill of a name: that of its folder, or the one it declares. A repository's only skill is meant where
    nobody named one (`is_named`).
    """
    exact = [place for place in places if posixpath.basename(place.path) == wanted]
    if not exact:
        skills = read_skills(repository, places)
        exact = [place for place in places if skills[place.path].declared == wanted]
        if not exact and len(places) == 1 and not is_named:
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


def all_places(repository: Repository, root: str) -> tuple[Place, ...]:
    """Give every folder with a SKILL.md, sorted; one that lies inside another skill is a part of that skill.

    The top of a repository may be a skill beside the ones below it. Raises `NotFoundError` where there is none.
    """
    try:
        walked = walk(repository.reader, root)
    except TooMuch:
        raise RefusedError(
            f"{repository.url} holds more files than can be searched", hint="say where the skill is, with --path"
        ) from None
    if walked.lacking:
        raise CacheDamaged("a commit came with all its trees, and some are gone")
    texts = {
        posixpath.dirname(leaf.path) or ".": leaf.id if leaf.mode != LINK else ""
        for name in reversed(SKILL_FILES)  # the one that is preferred comes last, and stays
        for leaf in walked.leaves
        if posixpath.basename(leaf.path) == name
    }
    if not texts:
        raise NotFoundError(f"{repository.url} holds no skill: there is no SKILL.md in it")
    return tuple(
        Place(path=folder, tree=walked.folders[folder], text=texts[folder])
        for folder in sorted(texts)
        if not _is_inside(folder, texts)
    )


def read_skills(repository: Repository, places: Sequence[Place]) -> Mapping[str, Skill]:
    """Read the SKILL.md of each place, all fetched in one batch; one that cannot be loaded reads as empty."""
    wanted = [place.text for place in places if place.text]
    sizes = repository.reader.sizes(wanted)
    lacking = [oid for oid, size in sizes.items() if size is None]
    if lacking and not repository.around.settings.offline:
        try:
            repository.fetch(["--filter=blob:none"], ids=lacking)
        except GitFailed as failed:
            raise translated(failed, repository.url) from failed
        sizes |= repository.reader.sizes(lacking)
    small = [oid for oid, size in sizes.items() if size is not None and size <= LARGEST_FILE]
    skills = {"": UNREADABLE}
    # Not all at once: a hostile repository may hold a hundred thousand.
    for start in range(0, len(small), AT_ONCE):
        found = repository.reader.read(small[start : start + AT_ONCE])
        skills |= {oid: _skill(blob) for oid, blob in found.items()}
    return {place.path: skills.get(place.text, UNREADABLE) for place in places}


def name_of(place: Place, skill: Skill, url: str) -> str:
    """Give the name to show and install a place under: its own, its folder's, at the top the repository's."""
    folder = posixpath.basename(url).removesuffix(".git") if place.path == "." else posixpath.basename(place.path)
    return skill.declared or folder


def _place_at(repository: Repository, root: str, source: GitSource) -> Place:
    """Find the skill at a written path, without a look at the rest of the repository."""
    tree, place = _look_at(repository, root, source)
    if place is None:
        raise _no_such_folder(repository, root, source, found=tree is not None)
    return place


def _look_at(repository: Repository, root: str, source: GitSource) -> tuple[str | None, Place | None]:
    """Give the id of the folder at a written path, if there is one, and the skill in it, if it is one."""
    try:
        tree = folder_id(repository.reader, root, source.path)
        found = (entry_of(repository.reader, tree, name) for name in SKILL_FILES) if tree is not None else ()
        mode, text = next(((mode, text) for mode, text in found if mode), (0, ""))
    except TooMuch:
        raise RefusedError(f"{repository.url}: a folder above `{show(source.path)}` is too large to be read") from None
    if tree is None or not mode:
        return tree, None
    return tree, Place(path=source.path, tree=tree, text=text if mode & KINDS not in {LINK, TREE} else "")


def _check_name(repository: Repository, place: Place, wanted: str) -> None:
    """Refuse a folder that was named together with another skill's name: one of the two would count for nothing."""
    if posixpath.basename(place.path) == wanted:
        return
    called = name_of(place, read_skills(repository, [place])[place.path], repository.url)
    if called != wanted:
        raise NotFoundError(
            f"{repository.url} holds no skill called `{show(wanted)}` in `{show(place.path)}`",
            hint=f"the one there is called {show(called, 64)}; name the folder or the skill, not both",
        )


def _skill(blob: GitObject | None) -> Skill:
    """Give what has to be known of a skill to choose it, and no more: there may be many, and each may be large."""
    try:
        said = read_skill(blob.data) if blob is not None else UNREADABLE
    except NotLoadable:
        return UNREADABLE
    return Skill(declared=said.declared, description=said.description[:LONGEST_DESCRIPTION], body="")


def _is_inside(folder: str, folders: Mapping[str, str]) -> bool:
    parts = folder.split("/")
    return any("/".join(parts[:depth]) in folders for depth in range(1, len(parts)))


def _no_such_folder(repository: Repository, root: str, source: GitSource, *, found: bool) -> NotFoundError:
    try:
        paths = [place.path for place in all_places(repository, root)]
    except (NotFoundError, RefusedError):
        paths = []
    similar = near(source.path, paths)
    at = f" at {source.ref}" if source.ref else ""
    what = "has no SKILL.md in" if found else "has no folder"
    hint = f"skills are at: {few(similar or paths, 3)}" if paths else "it holds no skill at all"
    name, names = posixpath.basename(source.path), [posixpath.basename(path) for path in paths]
    if name not in names and name == source.path:
        name = next(iter(near(name, names)), "")
    called = [path for path, there in zip(paths, names, strict=True) if there == name]
    if len(called) == 1:
        # Typed as a SPEC it was meant for a name; written in a manifest, for the folder.
        hint = f"did you mean {_by_name(source, name)}? its folder is {show(called[0])}"
    return NotFoundError(f"{repository.url} {what} `{show(source.path)}`{at}", hint=hint)


def _by_name(source: GitSource, name: str) -> str:
    """Give the SPEC of a skill by its name, short where it can be."""
    short = source.url.removeprefix("https://github.com/").removesuffix(".git")
    ref = f"#{source.ref}" if source.ref and source.kind != "version" else ""
    return show(f"{short if short.count('/') == 1 else source.url}{ref}@{name}")


def _unknown(repository: Repository, wanted: str, names: Sequence[str]) -> NotFoundError:
    similar = near(wanted, names)
    hint = f"{'did you mean' if similar else 'it holds'}: {few(similar or sorted(names), 8)}"
    return NotFoundError(f"{repository.url} holds no skill called `{show(wanted)}`", hint=hint)
