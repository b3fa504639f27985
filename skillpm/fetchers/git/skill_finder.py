"""The skills in a commit: found by path, by folder, by the name they declare; or all of them."""

import posixpath
from collections.abc import Mapping, Sequence

from skillpm.core.names import SKILL_FILES
from skillpm.core.suggestions import closest_matches, list_some
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, NotFoundError, RefusedError
from skillpm.fetchers.git.errors import translate_error
from skillpm.fetchers.git.objects import KIND_MASK, LINK, TREE, CacheDamaged, GitObject
from skillpm.fetchers.git.process import GitFailed
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.tree_walk import TreeTooLarge, find_entry, find_folder_id, walk_tree
from skillpm.requirements.source import GitSource
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.frontmatter import MAX_FILE_SIZE
from skillpm.skillmd.skill import Skill, read_skill

BATCH_SIZE = 50
MAX_DESCRIPTION_LENGTH = 1024  # Agent Skills specification, "description"
UNREADABLE_SKILL = Skill(declared="", description="", body="")


class SkillLocation(Value):
    """Where a skill stands in a commit, the tree id of that folder, and the id of its SKILL.md (none for a link)."""

    path: str
    tree: str
    skill_file_id: str


def find_skill(repository: Repository, root: str, source: GitSource, name: str) -> SkillLocation:
    """Find the folder a source means. `name` is what to look for where the source says neither path nor skill."""
    if source.path:
        place = _find_at_path(repository, root, source)
        if source.skill:
            _check_name(repository, place, source.skill)
        return place
    return _find_by_name(
        repository, find_all_skills(repository, root), source.skill or name, is_explicit=bool(source.skill)
    )


def find_skills_at(repository: Repository, root: str, source: GitSource) -> Sequence[SkillLocation]:
    """Find the skill in the folder that a source names, or where it is none, those in the folders below it: all, or
    the one that the source names. Raises `NotFoundError`.
    """
    tree, place = _look_up_folder(repository, root, source)
    if place is not None:
        if source.skill:
            _check_name(repository, place, source.skill)
        return [place]
    try:
        below = find_all_skills(repository, tree) if tree is not None else ()
    except NotFoundError:
        below = ()
    if not below:
        raise _folder_not_found_error(repository, root, source, folder_exists=tree is not None)
    inside = [place.replace(path=posixpath.join(source.path, place.path)) for place in below]
    return [_find_by_name(repository, inside, source.skill, is_explicit=True)] if source.skill else inside


def _find_by_name(
    repository: Repository, locations: Sequence[SkillLocation], name: str, *, is_explicit: bool
) -> SkillLocation:
    """Find the skill of a name: that of its folder, or the one it declares. A repository's only skill is meant where
    nobody named one (`is_named`).
    """
    exact = [place for place in locations if posixpath.basename(place.path) == name]
    if not exact:
        skills = read_skills(repository, locations)
        exact = [place for place in locations if skills[place.path].declared == name]
        if not exact and len(locations) == 1 and not is_explicit:
            exact = list(locations)
        if not exact:
            raise _skill_not_found_error(
                repository, name, [name_of(place, skills[place.path], repository.url) for place in locations]
            )
    if len({place.tree for place in exact}) > 1:
        paths = ", ".join(sanitize(place.path) for place in exact[:8])
        raise ConflictError(
            f"{repository.url} holds several skills called `{name}`: {paths}",
            hint=f"choose one with --path, e.g. --path {exact[0].path}",
        )
    return min(exact, key=lambda place: (place.path.count("/"), place.path))


def find_all_skills(repository: Repository, root: str) -> tuple[SkillLocation, ...]:
    """Give every folder with a SKILL.md, sorted; one that lies inside another skill is a part of that skill.

    The top of a repository may be a skill beside the ones below it. Raises `NotFoundError` where there is none.
    """
    try:
        walked = walk_tree(repository.reader, root)
    except TreeTooLarge:
        raise RefusedError(
            f"{repository.url} holds more files than can be searched", hint="say where the skill is, with --path"
        ) from None
    if walked.missing_trees:
        raise CacheDamaged("a commit came with all its trees, and some are gone")
    texts = {
        posixpath.dirname(leaf.path) or ".": leaf.id if leaf.mode != LINK else ""
        for name in reversed(SKILL_FILES)  # the one that is preferred comes last, and stays
        for leaf in walked.entries
        if posixpath.basename(leaf.path) == name
    }
    if not texts:
        raise NotFoundError(f"{repository.url} holds no skill: there is no SKILL.md in it")
    return tuple(
        SkillLocation(path=folder, tree=walked.folders[folder], skill_file_id=texts[folder])
        for folder in sorted(texts)
        if not _is_inside(folder, texts)
    )


def read_skills(repository: Repository, locations: Sequence[SkillLocation]) -> Mapping[str, Skill]:
    """Read the SKILL.md of each place, all fetched in one batch; one that cannot be loaded reads as empty."""
    wanted = [place.skill_file_id for place in locations if place.skill_file_id]
    sizes = repository.reader.read_sizes(wanted)
    lacking = [oid for oid, size in sizes.items() if size is None]
    if lacking and not repository.context.settings.offline:
        try:
            repository.fetch(["--filter=blob:none"], ids=lacking)
        except GitFailed as failed:
            raise translate_error(failed, repository.url) from failed
        sizes |= repository.reader.read_sizes(lacking)
    small = [oid for oid, size in sizes.items() if size is not None and size <= MAX_FILE_SIZE]
    skills = {"": UNREADABLE_SKILL}
    # Not all at once: a hostile repository may hold a hundred thousand.
    for start in range(0, len(small), BATCH_SIZE):
        found = repository.reader.read(small[start : start + BATCH_SIZE])
        skills |= {oid: _read_summary(blob) for oid, blob in found.items()}
    return {place.path: skills.get(place.skill_file_id, UNREADABLE_SKILL) for place in locations}


def name_of(location: SkillLocation, skill: Skill, url: str) -> str:
    """Give the name to show and install a place under: its own, its folder's, at the top the repository's."""
    folder = posixpath.basename(url).removesuffix(".git") if location.path == "." else posixpath.basename(location.path)
    return skill.declared or folder


def _find_at_path(repository: Repository, root: str, source: GitSource) -> SkillLocation:
    """Find the skill at a written path, without a look at the rest of the repository."""
    tree, place = _look_up_folder(repository, root, source)
    if place is None:
        raise _folder_not_found_error(repository, root, source, folder_exists=tree is not None)
    return place


def _look_up_folder(repository: Repository, root: str, source: GitSource) -> tuple[str | None, SkillLocation | None]:
    """Give the id of the folder at a written path, if there is one, and the skill in it, if it is one."""
    try:
        tree = find_folder_id(repository.reader, root, source.path)
        found = (find_entry(repository.reader, tree, name) for name in SKILL_FILES) if tree is not None else ()
        mode, text = next(((mode, text) for mode, text in found if mode), (0, ""))
    except TreeTooLarge:
        raise RefusedError(
            f"{repository.url}: a folder above `{sanitize(source.path)}` is too large to be read"
        ) from None
    if tree is None or not mode:
        return tree, None
    return tree, SkillLocation(
        path=source.path, tree=tree, skill_file_id=text if mode & KIND_MASK not in {LINK, TREE} else ""
    )


def _check_name(repository: Repository, location: SkillLocation, name: str) -> None:
    """Refuse a folder that was named together with another skill's name: one of the two would count for nothing."""
    if posixpath.basename(location.path) == name:
        return
    called = name_of(location, read_skills(repository, [location])[location.path], repository.url)
    if called != name:
        raise NotFoundError(
            f"{repository.url} holds no skill called `{sanitize(name)}` in `{sanitize(location.path)}`",
            hint=f"the one there is called {sanitize(called, 64)}; name the folder or the skill, not both",
        )


def _read_summary(blob: GitObject | None) -> Skill:
    """Give what has to be known of a skill to choose it, and no more: there may be many, and each may be large."""
    try:
        said = read_skill(blob.data) if blob is not None else UNREADABLE_SKILL
    except NotLoadable:
        return UNREADABLE_SKILL
    return Skill(declared=said.declared, description=said.description[:MAX_DESCRIPTION_LENGTH], body="")


def _is_inside(folder: str, folders: Mapping[str, str]) -> bool:
    parts = folder.split("/")
    return any("/".join(parts[:depth]) in folders for depth in range(1, len(parts)))


def _folder_not_found_error(
    repository: Repository, root: str, source: GitSource, *, folder_exists: bool
) -> NotFoundError:
    try:
        paths = [place.path for place in find_all_skills(repository, root)]
    except (NotFoundError, RefusedError):
        paths = []
    similar = closest_matches(source.path, paths)
    at = f" at {source.ref}" if source.ref else ""
    what = "has no SKILL.md in" if folder_exists else "has no folder"
    hint = f"skills are at: {list_some(similar or paths, 3)}" if paths else "it holds no skill at all"
    name, names = posixpath.basename(source.path), [posixpath.basename(path) for path in paths]
    if name not in names and name == source.path:
        name = next(iter(closest_matches(name, names)), "")
    called = [path for path, there in zip(paths, names, strict=True) if there == name]
    if len(called) == 1:
        # Typed as a SPEC it was meant for a name; written in a manifest, for the folder.
        hint = f"did you mean {_format_spec(source, name)}? its folder is {sanitize(called[0])}"
    return NotFoundError(f"{repository.url} {what} `{sanitize(source.path)}`{at}", hint=hint)


def _format_spec(source: GitSource, name: str) -> str:
    """Give the SPEC of a skill by its name, short where it can be."""
    short = source.url.removeprefix("https://github.com/").removesuffix(".git")
    ref = f"#{source.ref}" if source.ref and source.kind != "version" else ""
    return sanitize(f"{short if short.count('/') == 1 else source.url}{ref}@{name}")


def _skill_not_found_error(repository: Repository, name: str, names: Sequence[str]) -> NotFoundError:
    similar = closest_matches(name, names)
    hint = f"{'did you mean' if similar else 'it holds'}: {list_some(similar or sorted(names), 8)}"
    return NotFoundError(f"{repository.url} holds no skill called `{sanitize(name)}`", hint=hint)
