"""The output folder of an index: check it, read and write its files, find the leftovers of killed builds.

The folder may be untrusted, e.g. a checked-out branch. A symbolic link that was planted in it would make a build write,
or `index prune` delete, files elsewhere on the machine. Files that are not part of an index belong to the user.
"""

import os
import re
import stat
from collections.abc import Collection, Iterable

from skillpm.core.names import SkillName, is_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.text import sanitize
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
from skillpm.indexes.page.header import SKILL_FILE_START, read_header

CATALOG_FILE = "index.json"
PAGE_FILE = "catalog.html"
START_FILE = "index.html"  # the same page, which web servers show for a folder
SIGNATURE_PATH = lazy_pattern(r"(archives/.+)\.[0-9a-f]{16}\.oms\.sig", re.ASCII)
FOLDERS = ("archives", "skills", ".well-known", ".well-known/agent-skills")


def check_output_dir(folder: str) -> None:
    """Raise `RefusedError` if the folder is a file, or one of the folders of an index a symbolic link or a file."""
    existing = os.path.abspath(folder)
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        raise RefusedError(f"{sanitize(existing)} is not a folder", hint="name another folder; nothing was written")
    for inside in FOLDERS:
        path = os.path.join(folder, inside)
        with translate_os_errors("look at an index", path):
            try:
                mode = os.lstat(path).st_mode
            except (FileNotFoundError, NotADirectoryError):
                continue
        if not stat.S_ISDIR(mode):
            actual = "a symbolic link" if stat.S_ISLNK(mode) else "a file"
            raise RefusedError(
                f"`{inside}` of an index must be a folder, not {actual}",
                where=path,
                hint="replace it with a folder; nothing was written",
            )


def find_leftovers(folder: str, referenced: Collection[str]) -> list[str]:
    """Return the files that killed builds left: archives that are not `referenced`, and temporary files."""
    leftovers = []
    for inside in ("", *FOLDERS):
        with translate_os_errors("look at an index", os.path.join(folder, inside)):
            try:
                names = os.listdir(os.path.join(folder, inside))
            except FileNotFoundError:
                continue
            for name in names:
                path = f"{inside}/{name}" if inside else name
                is_stale = (_is_archive(path) or _is_signature(path)) and path not in referenced
                is_leftover = is_stale or _is_abandoned_temp_file(path)
                if is_leftover and stat.S_ISREG(os.lstat(os.path.join(folder, path)).st_mode):
                    leftovers.append(path)
    return sorted(leftovers)


def _is_archive(path: str) -> bool:
    """Return whether a path is that of an archive in an index: `archives/NAME-VERSION.tar.gz`."""
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".tar.gz")
    if folder != "archives" or stem == name:
        return False
    # Names and versions may both contain hyphens, so every split is tried.
    dashes = [at for at, letter in enumerate(stem) if letter == "-"]
    return any(is_skill_name(stem[:at]) and is_version(stem[at + 1 :]) for at in dashes)


def _is_signature(path: str) -> bool:
    """Return whether a path is that of a signature beside an archive: `archives/NAME-VERSION.CHECKSUM.oms.sig`."""
    match = SIGNATURE_PATH.fullmatch(path)
    return match is not None and _is_archive(f"{match[1]}.tar.gz")


def _is_abandoned_temp_file(path: str) -> bool:
    """Return whether a path is a temporary file of a process that is no longer running."""
    match = TEMPORARY_NAME.fullmatch(path)
    return (
        match is not None and path.endswith(".tmp") and _is_index_file(match[1]) and not is_process_alive(int(match[2]))
    )


def _is_index_file(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    stem, _, suffix = name.rpartition(".")
    is_skill = folder == "skills" and suffix in {"json", "js"} and is_skill_name(stem)
    is_document = is_skill or path in {CATALOG_FILE, PAGE_FILE, START_FILE, WELL_KNOWN_PATH}
    return is_document or _is_archive(path) or _is_signature(path)


def read_existing_catalog(folder: str) -> Catalog | None:
    """Return the catalog of an index; None for a new index."""
    where = os.path.join(folder, CATALOG_FILE)
    text = read_text(where)
    return None if text is None else read_catalog(text, where)


def read_existing_releases(folder: str, catalog: Catalog | None) -> dict[SkillName, SkillReleases]:
    """Return the releases of all skills of an index.

    Raises `DocumentError` if they do not match the catalog: writing the index would lose versions.
    """
    releases_by_name = {}
    for path in _list_skill_files(folder):
        name = os.path.basename(path).removesuffix(".json")
        if path.endswith(".json") and is_skill_name(name):
            text = read_text(path)
            if text is not None:
                releases = read_releases(text, path, name)
                releases_by_name[releases.name] = releases
    if releases_by_name and catalog is None:
        raise DocumentError(
            "found versions of skills, but no index.json", where=folder, hint="check that this folder is an index"
        )
    for summary in catalog.skills if catalog else ():
        if summary.name not in releases_by_name:
            raise DocumentError(
                f"`{summary.name}` is listed in index.json, but the file of its versions is missing",
                where=os.path.join(folder, "skills", f"{summary.name}.json"),
                hint="restore it from version control or from the published index; nothing was written",
            )
    return releases_by_name


def has_own_page(folder: str, *, will_replace: bool) -> bool:
    """Return whether the folder has an HTML catalog that skillpm wrote.

    Raises `RefusedError` where `will_replace` would overwrite a page that skillpm did not write.
    """
    where = os.path.join(folder, PAGE_FILE)
    if not os.path.lexists(where):
        return False
    with translate_os_errors("read a page", where):
        page = read_regular_file(where)
    if read_header(page) is not None:
        return True
    if will_replace:
        raise RefusedError(
            "refusing to overwrite a page that skillpm did not write",
            where=where,
            hint="move it away, or keep it with --no-catalog; nothing was written",
        )
    return False


def owns_start_page(folder: str) -> bool:
    """Return whether `index.html` may be written or removed: it is missing, or skillpm wrote it."""
    where = os.path.join(folder, START_FILE)
    if not os.path.lexists(where):
        return True
    with translate_os_errors("read a page", where):
        return not os.path.islink(where) and read_header(read_regular_file(where)) is not None


def skill_page_path(name: str) -> str:
    """Return the path of the file with which the HTML catalog shows a skill."""
    return f"skills/{name}.js"


def check_skill_pages(folder: str, names: Iterable[str]) -> None:
    """Raise `RefusedError` if the file of a skill in the HTML catalog would replace one that skillpm did not write."""
    for path in (os.path.join(folder, skill_page_path(name)) for name in names):
        if os.path.lexists(path) and not _is_skill_page(path):
            raise RefusedError(
                "refusing to overwrite a file that skillpm did not write",
                where=path,
                hint="move it away, or build without the page (--no-catalog)",
            )


def _is_skill_page(path: str) -> bool:
    with translate_os_errors("read a page", path):
        return not os.path.islink(path) and read_regular_file(path).startswith(SKILL_FILE_START)


def find_page_files(folder: str) -> list[str]:
    """Return the files of the HTML catalog that skillpm wrote."""
    found = [START_FILE] if os.path.lexists(os.path.join(folder, START_FILE)) and owns_start_page(folder) else []
    if has_own_page(folder, will_replace=False):
        found.append(PAGE_FILE)
    for path in _list_skill_files(folder):
        name = os.path.basename(path)
        if name.endswith(".js") and is_skill_name(name.removesuffix(".js")) and _is_skill_page(path):
            found.append(f"skills/{name}")
    return sorted(found)


def _list_skill_files(folder: str) -> list[str]:
    try:
        return sorted(os.path.join(folder, "skills", name) for name in os.listdir(os.path.join(folder, "skills")))
    except FileNotFoundError:
        return []


def write_files(folder: str, files: Iterable[tuple[str, bytes]], *, fsync: bool) -> list[str]:
    """Write the files of an index that differ from existing ones, and return their paths.

    All of them are written to temporary files before the first replaces an existing file. On an error, the temporary
    files are removed.
    """
    temporary_files: dict[str, str] = {}
    with translate_os_errors("write an index", folder):
        try:
            for path, data in files:
                target = os.path.join(folder, path)
                if not (os.path.isfile(target) and read_regular_file(target) == data):
                    _make_folder(os.path.dirname(target))
                    temporary_files[path] = temporary = f"{target}.{os.getpid()}.tmp"
                    # A planted link of this name is removed, not followed: `write_new_file` fails if the file exists.
                    discard_file(temporary)
                    write_new_file(temporary, data, 0o644)
            if fsync:
                # After all writes: most file systems then flush the later files together with the first one.
                for temporary in temporary_files.values():
                    sync_file(temporary)
            for path, temporary in temporary_files.items():
                os.replace(temporary, os.path.join(folder, path))
        except BaseException:
            for temporary in temporary_files.values():
                discard_file(temporary)
            raise
        if fsync:
            for changed in sorted({os.path.dirname(os.path.join(folder, path)) for path in temporary_files}):
                sync_folder(changed)
    return [*temporary_files]


def _make_folder(folder: str) -> None:
    """Create a folder that a web server can read, regardless of the umask."""
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        os.mkdir(each)
        os.chmod(each, 0o755)  # noqa: S103  (an index is public)


def nearest_existing_folder(folder: str) -> str:
    """Return the folder, or its nearest existing parent."""
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder
