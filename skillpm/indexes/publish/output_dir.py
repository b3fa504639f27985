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
    TEMPORARY_NAME,
    discard_file,
    is_process_alive,
    read_regular_file,
    read_text,
    sync_file,
    sync_folder,
    translate_os_errors,
    write_new_file,
)
from skillpm.formats.index_catalog import Catalog, read_catalog
from skillpm.formats.index_releases import SkillReleases, read_releases
from skillpm.formats.well_known import WELL_KNOWN_PATH
from skillpm.indexes.page.header import read_header

CATALOG_FILE = "index.json"
PAGE_FILE = "catalog.html"
FOLDERS = ("archives", "skills", ".well-known", ".well-known/agent-skills")


def check_output_dir(folder: str) -> None:
    """Refuse an index whose own folders lead elsewhere, or are no folders."""
    for inside in FOLDERS:
        path = os.path.join(folder, inside)
        with translate_os_errors("look at an index", path):
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


def find_leftovers(folder: str, referenced: Collection[str]) -> list[str]:
    """Give the files that a killed build left: archives that are not `named`, and halves of what it was writing."""
    found = []
    for inside in ("", *FOLDERS):
        with translate_os_errors("look at an index", os.path.join(folder, inside)):
            try:
                names = os.listdir(os.path.join(folder, inside))
            except FileNotFoundError:
                continue
            for name in names:
                path = f"{inside}/{name}" if inside else name
                is_left = (_is_archive(path) and path not in referenced) or _is_abandoned_temp_file(path)
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


def _is_abandoned_temp_file(path: str) -> bool:
    """Tell whether this is what a process that runs no more was writing."""
    match = TEMPORARY_NAME.fullmatch(path)
    return (
        match is not None and path.endswith(".tmp") and _is_index_file(match[1]) and not is_process_alive(int(match[2]))
    )


def _is_index_file(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    is_skill = folder == "skills" and name.endswith(".json") and is_skill_name(name.removesuffix(".json"))
    return is_skill or path in {CATALOG_FILE, PAGE_FILE, WELL_KNOWN_PATH} or _is_archive(path)


def read_existing_catalog(folder: str) -> Catalog | None:
    """Give the catalogue of an index, None where there is none yet."""
    where = os.path.join(folder, CATALOG_FILE)
    text = read_text(where)
    return None if text is None else read_catalog(text, where)


def read_existing_releases(folder: str, catalog: Catalog | None) -> dict[SkillName, SkillReleases]:
    """Give the versions of every skill of an index.

    Raises `DocumentError` where they and the catalogue do not belong together: writing would lose versions.
    """
    found = {}
    for path in _list_skill_files(folder):
        name = os.path.basename(path).removesuffix(".json")
        if path.endswith(".json") and is_skill_name(name):
            text = read_text(path)
            if text is not None:
                releases = read_releases(text, path, name)
                found[releases.name] = releases
    if found and catalog is None:
        raise DocumentError(
            "there are versions of skills here, and no index.json", where=folder, hint="is this an index?"
        )
    for summary in catalog.skills if catalog else ():
        if summary.name not in found:
            raise DocumentError(
                f"index.json lists `{summary.name}`, and its versions are not there",
                where=os.path.join(folder, "skills", f"{summary.name}.json"),
                hint="take that file from version control or from where the index is served; nothing was written",
            )
    return found


def read_existing_page(folder: str, *, will_replace: bool) -> bytes | None:
    """Give the page for people, None where there is none of ours. Raises `RefusedError` where one of somebody else
    would be replaced.
    """
    where = os.path.join(folder, PAGE_FILE)
    if not os.path.lexists(where):
        return None
    with translate_os_errors("read a page", where):
        page = read_regular_file(where)
    if read_header(page) is not None:
        return page
    if will_replace:
        raise RefusedError(
            "this page is not skillpm's, and would be replaced",
            where=where,
            hint="move it away, or leave it there with --no-catalog; nothing was written",
        )
    return None


def _list_skill_files(folder: str) -> list[str]:
    try:
        return sorted(os.path.join(folder, "skills", name) for name in os.listdir(os.path.join(folder, "skills")))
    except FileNotFoundError:
        return []


def write_files(folder: str, files: Iterable[tuple[str, bytes]], *, fsync: bool) -> list[str]:
    """Write files of an index where they differ, and give which: paths below its folder.

    All are on the disk before the first takes its place, and half-written ones are gone if one cannot be written.
    """
    ready: dict[str, str] = {}
    with translate_os_errors("write an index", folder):
        try:
            for path, data in files:
                whole = os.path.join(folder, path)
                if not (os.path.isfile(whole) and read_regular_file(whole) == data):
                    _make_folder(os.path.dirname(whole))
                    ready[path] = f"{whole}.{os.getpid()}.tmp"
                    discard_file(ready[path])
                    write_new_file(ready[path], data, 0o644)
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


def nearest_existing_folder(folder: str) -> str:
    """Give the folder, or the nearest one above it that is there."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder
