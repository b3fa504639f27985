"""The folder of an index as it lies on the disk: what may be written through, and what may be swept away.

It may have come from a repository or a drop box: a link in it would lead writing and sweeping into somebody else's
folder, and files that no index makes are somebody's own.
"""

import os
import stat
from collections.abc import Collection, Iterable

from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.versions import is_version
from skillpm.errors import DocumentError, RefusedError
from skillpm.files import (
    HALF,
    discard_file,
    is_alive,
    read_document,
    read_text,
    sync_file,
    sync_folder,
    told,
    write_new,
)
from skillpm.formats.index_catalog import Catalogue, read_catalogue
from skillpm.formats.index_releases import Releases, read_releases
from skillpm.formats.well_known import PATH
from skillpm.indexes.page.header import head_of

CATALOGUE = "index.json"
PAGE = "catalog.html"
FOLDERS = ("archives", "skills", ".well-known", ".well-known/agent-skills")


def check_ground(folder: str) -> None:
    """Refuse an index whose own folders lead elsewhere, or are no folders."""
    for inside in FOLDERS:
        path = os.path.join(folder, inside)
        with told("look at an index", path):
            try:
                mode = os.lstat(path).st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
        if not stat.S_ISDIR(mode):
            what = "a link" if stat.S_ISLNK(mode) else "no folder"
            raise RefusedError(
                f"`{inside}` of an index must be a folder, and is {what}",
                where=path,
                hint="put a real folder in its place; nothing was written",
            )


def unneeded(folder: str, named: Collection[str]) -> list[str]:
    """Give the files that a killed build left: archives that are not `named`, and halves of what it was writing."""
    found = []
    for inside in ("", *FOLDERS):
        with told("look at an index", os.path.join(folder, inside)):
            try:
                names = os.listdir(os.path.join(folder, inside))
            except FileNotFoundError:
                continue
            for name in names:
                path = f"{inside}/{name}" if inside else name
                is_left = (_is_archive(path) and path not in named) or _is_half(path)
                if is_left and stat.S_ISREG(os.lstat(os.path.join(folder, path)).st_mode):
                    found.append(path)
    return sorted(found)


def _is_archive(path: str) -> bool:
    """Tell whether an index gives this path to an archive: `archives/NAME-VERSION.tar.gz`."""
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".tar.gz")
    if folder != "archives" or stem == name:
        return False
    dashes = [at for at, letter in enumerate(stem) if letter == "-"]
    return any(is_skill_name(stem[:at]) and is_version(stem[at + 1 :]) for at in dashes)


def _is_half(path: str) -> bool:
    """Tell whether this is what a process that runs no more was writing."""
    match = HALF.fullmatch(path)
    return match is not None and path.endswith(".tmp") and _is_ours(match[1]) and not is_alive(int(match[2]))


def _is_ours(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    is_skill = folder == "skills" and name.endswith(".json") and is_skill_name(name.removesuffix(".json"))
    return is_skill or path in {CATALOGUE, PAGE, PATH} or _is_archive(path)


def standing_catalogue(folder: str) -> Catalogue | None:
    """Give the catalogue of an index, None where there is none yet."""
    where = os.path.join(folder, CATALOGUE)
    text = read_text(where)
    return None if text is None else read_catalogue(text, where)


def standing_releases(folder: str, catalogue: Catalogue | None) -> dict[SkillName, Releases]:
    """Give the versions of every skill of an index.

    Raises `DocumentError` where they and the catalogue do not belong together: writing would lose versions.
    """
    found = {}
    for path in _files(folder):
        name = os.path.basename(path).removesuffix(".json")
        if path.endswith(".json") and is_skill_name(name):
            text = read_text(path)
            if text is not None:
                releases = read_releases(text, path, name)
                found[releases.name] = releases
    if found and catalogue is None:
        raise DocumentError(
            "there are versions of skills here, and no index.json", where=folder, hint="is this an index?"
        )
    for summary in catalogue.skills if catalogue else ():
        if summary.name not in found:
            raise DocumentError(
                f"index.json lists `{summary.name}`, and its versions are not there",
                where=os.path.join(folder, "skills", f"{summary.name}.json"),
                hint="take that file from version control or from where the index is served; nothing was written",
            )
    return found


def standing_page(folder: str, *, replaced: bool) -> bytes | None:
    """Give the page for people, None where there is none of ours. Raises `RefusedError` where one of somebody else
    would be replaced.
    """
    where = os.path.join(folder, PAGE)
    if not os.path.lexists(where):
        return None
    with told("read a page", where):
        page = read_document(where)
    if head_of(page) is not None:
        return page
    if replaced:
        raise RefusedError(
            "this page is not skillpm's, and would be replaced",
            where=where,
            hint="move it away, or leave it there with --no-catalog; nothing was written",
        )
    return None


def _files(folder: str) -> list[str]:
    try:
        return sorted(os.path.join(folder, "skills", name) for name in os.listdir(os.path.join(folder, "skills")))
    except FileNotFoundError:
        return []


def put(folder: str, files: Iterable[tuple[str, bytes]], *, fsync: bool) -> list[str]:
    """Write files of an index where they differ, and give which: paths below its folder.

    All are on the disk before the first takes its place, and half-written ones are gone if one cannot be written.
    """
    ready: dict[str, str] = {}
    with told("write an index", folder):
        try:
            for path, data in files:
                whole = os.path.join(folder, path)
                if not (os.path.isfile(whole) and read_document(whole) == data):
                    _make_folder(os.path.dirname(whole))
                    ready[path] = f"{whole}.{os.getpid()}.tmp"
                    discard_file(ready[path])
                    write_new(ready[path], data, 0o644)
            if fsync:
                # One after the other when all are written: the first takes the others along, or nearly so.
                for temporary in ready.values():
                    sync_file(temporary)
            for path, temporary in ready.items():
                os.replace(temporary, os.path.join(folder, path))
        except BaseException:
            for temporary in ready.values():
                discard_file(temporary)
            raise
        if fsync:
            for changed in sorted({os.path.dirname(os.path.join(folder, path)) for path in ready}):
                sync_folder(changed)
    return [*ready]


def _make_folder(folder: str) -> None:
    """Make a folder that a web server can look into, whatever the umask is; the files are as open."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        os.mkdir(each)
        os.chmod(each, 0o755)  # noqa: S103  (what is published is for everybody)


def nearest(folder: str) -> str:
    """Give the folder, or the nearest one above it that is there."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder
