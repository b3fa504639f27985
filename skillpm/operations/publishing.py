"""`pack` and `index build`: skills from folders and archives, judged strictly, as archives and as an index."""

import os
import time
from collections.abc import Iterator, Sequence

from skillpm.documents.index import VERSION
from skillpm.documents.names import SkillName, is_skill_name, skill_name
from skillpm.documents.pin import PathPin
from skillpm.documents.text import show
from skillpm.documents.tree import Tree, checked_tree
from skillpm.documents.versions import is_range, is_version
from skillpm.errors import NotFoundError, RefusedError, UsageError
from skillpm.fetching.archives.reading import read_archive
from skillpm.fetching.describe import described
from skillpm.fetching.local import read_skill_folder
from skillpm.files import read_document, told, write_document
from skillpm.indexes.building import Built, Shelf
from skillpm.indexes.packing import pack
from skillpm.indexes.publishing import Made, faults
from skillpm.operations.tools import Tools
from skillpm.operations.validating import skill_folders
from skillpm.sources.source import GitSource
from skillpm.sources.specifier import parse_specifier

ARCHIVES = (".tar.gz", ".tgz", ".zip")


def pack_skill(tools: Tools, path: str, out: str = "") -> str:
    """Write the archive of one skill, strictly valid, and give its path; the same skill gives the same bytes."""
    made = [*read_sources(tools, path)]
    if len(made) != 1:
        raise UsageError(f"{show(path)} holds {len(made)} skills; `pack` takes one", hint="name the folder of one")
    skill = made[0]
    file = f"{skill.name}-{skill.version}.tar.gz" if skill.version else f"{skill.name}.tar.gz"
    base = tools.settings.working_directory
    place = os.path.join(base, out)
    target = os.path.join(place, file) if not out.endswith(ARCHIVES) else place
    with told("write an archive", target):
        write_document(target, pack(skill.tree), fsync=tools.settings.fsync)
    return os.path.relpath(target, base)


def build_index(tools: Tools, sources: Sequence[str], out: str, name: str = "", version: str = "") -> Built:
    """Publish the skills of these sources in the index at `out`, beside what it holds; all are judged first.

    `version` is that of skills which say none.
    """
    if version and not (VERSION.fullmatch(version) and is_version(version)):
        raise UsageError(f"`{show(version, 60)}` is no version", hint="write one like 1.2.0")
    made = [skill for source in sources for skill in read_sources(tools, source, version)]
    nameless = [skill for skill in made if not skill.version]
    if nameless:
        raise RefusedError(
            f"no version: {', '.join(f'`{skill.name}` ({show(skill.came_from)})' for skill in nameless)}",
            hint="write `metadata: version:` into SKILL.md, or give --default-version; nothing was written",
        )
    return shelf_at(tools, out).add(made, name)


def shelf_at(tools: Tools, out: str, *, must_exist: bool = False) -> Shelf:
    """Open the index in a folder, to change it."""
    settings = tools.settings
    shelf = Shelf(os.path.join(settings.working_directory, out), limits=settings.limits, fsync=settings.fsync)
    if must_exist and shelf.is_new:
        raise NotFoundError(f"{show(out)} is no index: there is no index.json", hint="make one: skillpm index build")
    return shelf


def read_sources(tools: Tools, source: str, version: str = "") -> Iterator[Made]:
    """Read the skills of a folder, a folder of many, or an archive. Raises `RefusedError` with every fault of all."""
    whole = os.path.join(tools.settings.working_directory, source)
    if not os.path.lexists(whole) and isinstance(repository := parse_specifier(source).source, GitSource):
        yield from _tagged(tools, repository, version)
        return
    trees = [*_archive(tools, whole, source)] if source.endswith(ARCHIVES) else [*_folders(tools, whole, source)]
    bad = [f"{show(place)}: {fault}" for folder, place, tree in trees for fault in faults(tree, folder)]
    if bad:
        more = f" and {len(bad) - 20} more" if len(bad) > 20 else ""  # noqa: PLR2004  (a screen of them)
        raise RefusedError(
            f"not valid, so not published: {'; '.join(bad[:20])}{more}",
            hint="`skillpm validate` tells every finding; nothing was written",
        )
    for folder, place, tree in trees:
        made = _made(tools, skill_name(folder, where=place), place, tree)
        yield made if made.version else made.but(version=version)


def _tagged(tools: Tools, source: GitSource, default: str) -> Iterator[Made]:
    """Read every tagged version of a repository's skills. History cannot be mended: what is not valid is left out."""
    from skillpm.fetching.git.fetcher import GitFetcher  # noqa: PLC0415  (only where a source is a repository)

    fetcher = GitFetcher(tools.settings, tools.store, tools.reporter, tools.git_cache())
    kept: dict[tuple[str, str], str] = {}
    for item in fetcher.tagged(source):
        at = f"{item.folder} at {item.ref.removeprefix('refs/tags/')}"
        version = item.found.version.removeprefix("v") or default
        bad = faults(item.tree, item.folder)
        if not is_skill_name(item.folder):
            bad.append("its folder's name is no name of a skill")
        if not (VERSION.fullmatch(version) and is_version(version)):
            bad.append("it has no version")
        bad += [
            f"it needs `{name}` from a place of its own"
            for name, it in item.found.dependencies.items()
            if not is_text_range(it)
        ]
        if bad:
            tools.reporter.warning(f"{show(at)} is left out: {bad[0]}")
            continue
        key = (item.folder, version)
        if kept.setdefault(key, item.tree.digest) != item.tree.digest:
            tools.reporter.warning(f"{show(at)} is left out: another tag names version {version} too")
            continue
        yield Made(
            name=SkillName(item.folder),
            version=version,
            tree=item.tree,
            came_from=f"{source.url} at {item.ref}",
            published=_moment(item.seconds),
            dependencies=item.found.dependencies,
        )
    if not kept:
        raise RefusedError(f"{source.url} has nothing that can be published", hint="the warnings say why")


def is_text_range(value: object) -> bool:
    """Tell whether what a skill asks of another is a mere range, which an index can fulfil."""
    return isinstance(value, str) and is_range(value)


def _folders(tools: Tools, whole: str, source: str) -> Iterator[tuple[str, str, Tree]]:
    folders = [*skill_folders(whole)]
    if not folders:
        raise NotFoundError(f"{show(source)} holds no SKILL.md", hint="name a skill's folder, or a folder of skills")
    for folder in folders:
        name = os.path.basename(os.path.realpath(folder))
        place = os.path.relpath(folder, tools.settings.working_directory)
        yield name, place, read_skill_folder(folder, name, tools.settings.limits, written=place)


def _archive(tools: Tools, whole: str, source: str) -> Iterator[tuple[str, str, Tree]]:
    limits = tools.settings.limits
    if not os.path.isfile(whole):
        raise NotFoundError(f"{show(source)} is not there", where=whole)
    with told("read an archive", whole):
        data = read_document(whole)
    tree = checked_tree(read_archive(data, source, limits), name=os.path.basename(source), limits=limits)
    # An archive has no folder whose name could be another one.
    declared = described(tree, PathPin(path=source), os.path.basename(source), tools.reporter.warning).declared
    yield declared, source, tree


def _made(tools: Tools, name: SkillName, place: str, tree: Tree) -> Made:
    found = described(tree, PathPin(path=place), name, tools.reporter.warning)
    version = found.version.removeprefix("v")
    if version and not (VERSION.fullmatch(version) and is_version(version)):
        raise RefusedError(
            f"`{name}`: `{show(version, 60)}` is no version that can be compared",
            where=place,
            hint="write one like 1.2.0 into SKILL.md; nothing was written",
        )
    for other, wanted in found.dependencies.items():
        if not is_text_range(wanted):
            raise RefusedError(f"`{name}` needs `{other}` from a place of its own; in an index only versions count")
    return Made(
        name=name,
        version=version,
        tree=tree,
        came_from=place,
        published=_published(tools),
        dependencies=found.dependencies,
    )


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
