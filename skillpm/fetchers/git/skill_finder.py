"""Find the skills in a commit: by path, by folder name, by the name they declare, or all of them.

Submodules, whose skills are in other repositories, are named with their URLs, and never fetched.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from skillpm.core.git_syntax import abbreviate_url, normalize_git_url
from skillpm.core.names import SKILL_FILES, SkillName, choose_install_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import closest_matches, list_some, suggestion_hint
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import MissingSkill, NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.common.copies import CopyRule
from skillpm.fetchers.git.program.errors import GitFailed, translate_error
from skillpm.fetchers.git.program.objects import KIND_MASK, LINK, TREE, CacheDamaged, GitObject
from skillpm.fetchers.git.repository import Repository
from skillpm.fetchers.git.tree_walk import TreeTooLarge, find_entry, find_folder_id, walk_tree
from skillpm.kinds.git import GitSource
from skillpm.skillmd.findings import NotLoadable
from skillpm.skillmd.frontmatter import MAX_FILE_SIZE
from skillpm.skillmd.skill import read_skill

BATCH_SIZE = 50
MAX_LINKS = 1_000  # of a skill
MAX_DESCRIPTION_LENGTH = 1024  # Agent Skills specification, "description"
MAX_SIZE = 100_000  # bytes of .gitmodules
MAX_NAMED = 3
SECTION = lazy_pattern(r'\s*\[submodule\s+".*"\]\s*')
SETTING = lazy_pattern(r"\s*(path|url)\s*=\s*(\S.*?)\s*", re.IGNORECASE)


class SkillLocation(Value):
    """A skill's folder in a commit, the folder's tree id, and the id of its SKILL.md (empty if that is a link)."""

    path: str
    tree: str
    skill_file_id: str
    # The ids of links in it, which may lead out of it.
    link_ids: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """What identifies the content: the same tree is another one elsewhere if its links lead out of it."""
        return f"{self.tree} {self.path}" if self.link_ids else self.tree


class LocatedSkill(Value):
    """What is read of a SKILL.md to choose a skill; `problem` is why it cannot be loaded."""

    declared: str = ""
    description: str = ""
    problem: str = ""


UNREAD_SKILL = LocatedSkill()


def find_skill(repository: Repository, root: str, source: GitSource, name: str, copies: CopyRule) -> SkillLocation:
    """Find the folder of a source; `name` is the name to search for if the source has neither path nor skill."""
    if source.path:
        tree, location = _look_up_folder(repository, root, source)
        if location is None:
            raise _folder_not_found_error(repository, root, source, folder_exists=tree is not None)
        if source.skill:
            _check_name(repository, location, source.skill)
        return location
    found = find_by_name(
        repository, find_all_skills(repository, root), source.skill or name, is_explicit=bool(source.skill)
    )
    path = copies.choose(repository.url, name, [location.path for location in found])
    return next(location for location in found if location.path == path)


def find_skills_at(repository: Repository, root: str, source: GitSource) -> Sequence[SkillLocation]:
    """Find the skill in the folder that a source names; if that is not a skill, those in the folders below it.

    If the source also names a skill, only that one. Raises `NotFoundError`.
    """
    tree, location = _look_up_folder(repository, root, source)
    if location is not None:
        if source.skill:
            _check_name(repository, location, source.skill)
        return [location]
    try:
        below = find_all_skills(repository, tree) if tree is not None else ()
    except NotFoundError:
        below = ()
    if not below:
        raise _folder_not_found_error(repository, root, source, folder_exists=tree is not None)
    inside = [location.replace(path=posixpath.join(source.path, location.path)) for location in below]
    return find_by_name(repository, inside, source.skill, is_explicit=True) if source.skill else inside


def find_by_name(
    repository: Repository, locations: Sequence[SkillLocation], name: str, *, is_explicit: bool
) -> Sequence[SkillLocation]:
    """Find the skills whose folder has a name, or that declare it: several if the repository has copies.

    `is_explicit`: the user named the skill. If not, the only skill of a repository matches any name.
    """
    exact = [location for location in locations if posixpath.basename(location.path) == name]
    if len(exact) == 1:
        return exact
    # Only now: folder names are known from the tree, but declared names need every SKILL.md.
    skills = read_skills(repository, exact or locations)
    url = repository.url
    named = [it for it in exact if choose_install_name(name_of(it, skills[it.path], url), name) == name]
    exact = named or exact or [location for location in locations if skills[location.path].declared == name]
    if not exact and len(locations) == 1 and not is_explicit:
        exact = list(locations)
    if not exact:
        raise _skill_not_found_error(repository, name, skills, locations)
    return exact


def find_available(
    repository: Repository, root: str, names: Sequence[SkillName], copies: CopyRule
) -> dict[SkillName, SkillLocation]:
    """Return those of these skills that a commit has, as `@NAME` finds them."""
    found: dict[SkillName, SkillLocation] = {}
    for name in names:
        with suppress(MissingSkill):
            found[name] = find_skill(repository, root, GitSource(url=repository.url, skill=name), name, copies)
    return found


def find_all_skills(repository: Repository, root: str) -> tuple[SkillLocation, ...]:
    """Return every folder with a SKILL.md, sorted. A folder inside another skill is part of that skill.

    The root of a repository is an exception: it may be a skill beside those below it. Raises `NotFoundError` for a
    repository without skills.
    """
    try:
        listing = walk_tree(repository.reader, root)
    except TreeTooLarge:
        raise RefusedError(
            f"{repository.url} has too many files to search", hint="name the skill's folder with --path"
        ) from None
    if listing.missing_trees:
        raise CacheDamaged("trees of a fetched commit are missing")
    skill_files = {
        posixpath.dirname(entry.path) or ".": entry.id if entry.mode != LINK else ""
        for name in reversed(SKILL_FILES)  # the preferred name is last, so it replaces the others
        for entry in listing.entries
        if posixpath.basename(entry.path) == name
    }
    if not skill_files:
        hint = _describe_submodules(repository, root, [entry.path for entry in listing.entries if entry.is_submodule])
        raise NotFoundError(f"{repository.url} has no skills: it contains no SKILL.md", hint=hint)
    links: dict[str, list[str]] = {}
    for entry in listing.entries:
        if entry.mode == LINK:
            for above in _folders_above(entry.path):
                links.setdefault(above, []).append(entry.id)
    return tuple(
        SkillLocation(
            path=folder,
            tree=listing.folders[folder],
            skill_file_id=skill_files[folder],
            link_ids=tuple(links.get(folder, ())),
        )
        for folder in sorted(skill_files)
        if not _is_inside(folder, skill_files)
    )


def find_submodule_hint(repository: Repository, root: str, locations: Sequence[SkillLocation]) -> str:
    """Return where the submodules of a repository that may contain skills come from; empty if it has none."""
    try:
        paths = [entry.path for entry in walk_tree(repository.reader, root).entries if entry.is_submodule]
    except TreeTooLarge:
        return ""
    if not paths:
        return ""

    return _describe_submodules(repository, root, find_likely_submodules(paths, [each.path for each in locations]))


def _describe_submodules(repository: Repository, root: str, paths: Sequence[str]) -> str:
    """Return where submodules come from; empty for none."""
    if not paths:
        return ""

    return describe_submodules(repository, root, paths)


def add_submodule_hint(repository: Repository, root: str, source: GitSource, name: str, error: NotFoundError) -> None:
    """Replace the hint of an error about a skill that is a submodule, or in one."""
    try:
        modules = [entry.path for entry in walk_tree(repository.reader, root).entries if entry.is_submodule]
    except TreeTooLarge:
        return
    wanted = source.skill or name
    paths = [
        path
        for path in modules
        if f"{source.path}/".startswith(f"{path}/") or (not source.path and posixpath.basename(path) == wanted)
    ]
    if paths:
        error.hint = _describe_submodules(repository, root, paths)


def read_skills(repository: Repository, locations: Sequence[SkillLocation]) -> Mapping[str, LocatedSkill]:
    """Read the SKILL.md of each location; a link, and what is not cached, is not read.

    They are fetched in one request, with the links of the skills.
    """
    file_ids = [location.skill_file_id for location in locations if location.skill_file_id]
    link_ids = [oid for location in locations for oid in location.link_ids[:MAX_LINKS]]
    sizes = repository.reader.read_sizes([*file_ids, *link_ids])
    missing = [oid for oid, size in sizes.items() if size is None]
    if missing and not repository.context.settings.offline:
        try:
            repository.fetch_blobs(missing)
        except GitFailed as failed:
            raise translate_error(failed, repository.url) from failed
        sizes |= repository.reader.read_sizes(missing)
    known = {oid: size for oid, size in sizes.items() if size is not None}
    small = [oid for oid in dict.fromkeys(file_ids) if oid in known and known[oid] <= MAX_FILE_SIZE]
    too_large = LocatedSkill(problem=f"it is over {MAX_FILE_SIZE} bytes")
    skills = {oid: too_large for oid, size in known.items() if size > MAX_FILE_SIZE}
    # In batches, to bound memory: a hostile repository may have a hundred thousand.
    for start in range(0, len(small), BATCH_SIZE):
        blobs = repository.reader.read(small[start : start + BATCH_SIZE])
        skills |= {oid: _read_summary(blob) for oid, blob in blobs.items()}
    return {location.path: skills.get(location.skill_file_id, UNREAD_SKILL) for location in locations}


def name_of(location: SkillLocation, skill: LocatedSkill, url: str) -> str:
    """Return the name to install a skill under: the one it declares, or that of its folder, or of the repository."""
    folder = posixpath.basename(url).removesuffix(".git") if location.path == "." else posixpath.basename(location.path)
    return skill.declared or folder


def _look_up_folder(repository: Repository, root: str, source: GitSource) -> tuple[str | None, SkillLocation | None]:
    """Return the tree id of a source's folder if it exists, and its location if it is a skill."""
    try:
        tree = find_folder_id(repository.reader, root, source.path)
        files = (find_entry(repository.reader, tree, name) for name in SKILL_FILES) if tree is not None else ()
        mode, oid = next(((mode, oid) for mode, oid in files if mode), (0, ""))
    except TreeTooLarge:
        raise RefusedError(f"{repository.url}: a folder above `{sanitize(source.path)}` is too large to read") from None
    if tree is None or not mode:
        return tree, None
    return tree, SkillLocation(
        path=source.path, tree=tree, skill_file_id=oid if mode & KIND_MASK not in {LINK, TREE} else ""
    )


def _check_name(repository: Repository, location: SkillLocation, name: str) -> None:
    """Raise `NotFoundError` if the skill in a folder has another name: ignoring either of the two would be wrong."""
    if posixpath.basename(location.path) == name:
        return
    actual = name_of(location, read_skills(repository, [location])[location.path], repository.url)
    if actual != name:
        raise NotFoundError(
            f"{repository.url} has no skill named `{sanitize(name)}` in `{sanitize(location.path)}`",
            hint=f"the skill there is named {sanitize(actual, 64)}; give the folder or the skill, not both",
        )


def _read_summary(blob: GitObject | None) -> LocatedSkill:
    """Read what is needed to choose a skill, and drop the rest: there may be many, and each may be large."""
    try:
        skill = read_skill(blob.data) if blob is not None else None
    except NotLoadable as error:
        return LocatedSkill(problem=error.finding.message)
    if skill is None:
        return UNREAD_SKILL
    return LocatedSkill(declared=skill.declared, description=skill.description[:MAX_DESCRIPTION_LENGTH])


def _folders_above(path: str) -> Iterator[str]:
    yield "."
    while path := posixpath.dirname(path):
        yield path


def _is_inside(folder: str, folders: Mapping[str, str]) -> bool:
    parts = folder.split("/")
    return any("/".join(parts[:depth]) in folders for depth in range(1, len(parts)))


def _folder_not_found_error(
    repository: Repository, root: str, source: GitSource, *, folder_exists: bool
) -> NotFoundError:
    try:
        trees = {location.path: location.tree for location in find_all_skills(repository, root)}
    except (NotFoundError, RefusedError):
        trees = {}
    paths = [*trees]
    similar = closest_matches(source.path, paths)
    at = f" at {source.ref}" if source.ref else ""
    problem = "has no SKILL.md in" if folder_exists else "has no folder"
    hint = f"its skills are in: {list_some(similar or paths, 3)}" if paths else "it has no skills at all"
    name, names = posixpath.basename(source.path), [posixpath.basename(path) for path in paths]
    if name not in names and name == source.path:
        name = next(iter(closest_matches(name, names)), "")
    matches = [path for path, folder in zip(paths, names, strict=True) if folder == name]
    if len(matches) == 1:
        # The SPEC helps on the command line, the folder in a manifest.
        hint = f"did you mean `{_format_spec(source, name)}`? its folder is {sanitize(matches[0])}"
    return MissingSkill(f"{repository.url} {problem} `{sanitize(source.path)}`{at}", hint=hint, trees=trees)


def _format_spec(source: GitSource, name: str) -> str:
    """Return the SPEC of a skill by name, in the short form of GitHub if possible."""
    ref = f"#{source.ref}" if source.ref and source.kind != "version" else ""
    return sanitize(f"{abbreviate_url(source.url)}{ref}@{name}")


def _skill_not_found_error(
    repository: Repository, name: str, skills: Mapping[str, LocatedSkill], locations: Sequence[SkillLocation]
) -> NotFoundError:
    names = [name_of(location, skills[location.path], repository.url) for location in locations]
    trees = {location.path: location.tree for location in locations}
    hint = suggestion_hint(name, names, f"it has: {list_some(sorted(names), 8)}")
    return MissingSkill(f"{repository.url} has no skill named `{sanitize(name)}`", hint=hint, trees=trees)


def find_likely_submodules(paths: Sequence[str], skill_folders: Sequence[str]) -> list[str]:
    """Return the submodules that may contain skills: beside a skill, or in a folder named `skills`."""
    beside = {posixpath.dirname(folder) for folder in skill_folders if folder != "."}
    return [path for path in paths if posixpath.dirname(path) in beside or "skills" in path.split("/")]


def describe_submodules(repository: Repository, root: str, paths: Sequence[str]) -> str:
    """Return "`a` is a submodule: skillpm install URL" for submodules at these paths of a commit's tree."""
    urls = read_submodule_urls(repository, root)
    described = [f"`{sanitize(path, 80)}` is a submodule{_describe_url(urls.get(path, ''))}" for path in sorted(paths)]
    return list_some(described, MAX_NAMED, 300)


def _describe_url(url: str) -> str:
    try:
        return f": skillpm install {shell_word(normalize_git_url(url))}" if url else ""
    except SkillpmError:
        return f" ({sanitize(url, 200)})"


def read_submodule_urls(repository: Repository, root: str) -> Mapping[str, str]:
    """Return the URLs of submodules by path, as `.gitmodules` has them; relative ones are made absolute."""
    _, oid = find_entry(repository.reader, root, ".gitmodules")
    if not oid:
        return {}
    if repository.reader.read_sizes([oid])[oid] is None and not repository.context.settings.offline:
        try:
            repository.fetch_blobs([oid])
        except GitFailed:
            return {}
    blob = repository.reader.read([oid], max_size=MAX_SIZE)[oid]
    text = "" if blob is None or blob.kind != "blob" else blob.data.decode("utf-8", "replace")
    return dict(_parse(text, repository.url))


def _parse(text: str, base: str) -> Iterator[tuple[str, str]]:
    values: dict[str, str] = {}
    for line in [*text.splitlines(), '[submodule ""]']:
        if SECTION.fullmatch(line):
            if values.keys() == {"path", "url"}:
                yield values["path"], _absolute(values["url"], base)
            values = {}
        elif match := SETTING.fullmatch(line):
            values[match[1].lower()] = match[2].strip('"')


def _absolute(url: str, base: str) -> str:
    if not url.startswith(("./", "../")):
        return url
    scheme, separator, rest = base.partition("://")
    return scheme + separator + posixpath.normpath(posixpath.join(rest, url)) if separator else url
