"""An archive or a single SKILL.md as entries: which kind it is, and the one folder that wraps all, taken away."""

import posixpath
from collections.abc import Callable

from skillpm.core.file_tree import Limits, SourceEntry
from skillpm.core.names import SKILL_FILE, SKILL_FILES, find_skill_file
from skillpm.core.text import sanitize
from skillpm.errors import RefusedError
from skillpm.fetchers.archives.tar import read_tar
from skillpm.fetchers.archives.zip import read_zip

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")


def read_archive(data: bytes, origin: str, limits: Limits) -> list[SourceEntry]:
    """Give the entries of a `.tar.gz`, a `.zip` or a SKILL.md, told apart by their bytes, not by a name.

    Raises `RefusedError` that says what is wrong with it; nothing of a damaged archive is given.
    """

    def refuse(why: str) -> RefusedError:
        return RefusedError(f"{sanitize(origin)}: {why}", hint="nothing was installed; tell whoever offers this file")

    if data.startswith(GZIP_MAGIC):
        return _strip_top_folder(read_tar(data, limits, refuse), refuse)
    if data.startswith(ZIP_MAGICS):
        return _strip_top_folder(read_zip(data, limits, refuse), refuse)
    if origin.partition("?")[0].endswith(SKILL_FILES):
        return [SourceEntry(path=SKILL_FILE, data=data)]
    start = data[:200].lstrip().lower()
    what = "a web page" if start.startswith((b"<!doctype", b"<html")) else "something else"
    raise refuse(f"it is no .tar.gz, no .zip and no SKILL.md, but {what}")


def _strip_top_folder(entries: list[SourceEntry], make_error: Callable[[str], RefusedError]) -> list[SourceEntry]:
    """Take away the one folder that forges wrap a whole archive in; paths are checked by the gate behind us."""
    paths = dict.fromkeys(entry.path for entry in entries)
    if find_skill_file(paths) or not entries:
        return entries
    folder = entries[0].path.partition("/")[0]
    if all(path.startswith(f"{folder}/") for path in paths) and find_skill_file(paths, f"{folder}/"):
        return [entry.replace(path=entry.path[len(folder) + 1 :]) for entry in entries]
    inside = sorted(posixpath.dirname(path) for path in paths if posixpath.basename(path) in SKILL_FILES)
    if inside:
        some = ", ".join(sanitize(path, 60) for path in inside[:5])
        raise make_error(f"its SKILL.md is not at the top, but in {some}; an archive holds one skill")
    raise make_error("it holds no SKILL.md")
