"""Read an archive or a single SKILL.md into entries: detect the format, and strip a wrapping folder."""

import posixpath
from collections.abc import Callable

from skillpm.core.file_tree import SourceEntry
from skillpm.core.limits import Limits
from skillpm.core.names import SKILL_FILE, SKILL_FILES, find_skill_file
from skillpm.core.text import WEB_PAGE_HINT, is_web_page, sanitize
from skillpm.errors import RefusedError
from skillpm.fetchers.archives.tar import read_tar
from skillpm.fetchers.archives.zip import read_zip

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")


def read_archive(data: bytes, origin: str, limits: Limits) -> list[SourceEntry]:
    """Return the entries of a `.tar.gz`, a `.zip` or a SKILL.md; archives are recognized by content, not by name.

    Raises `RefusedError` with the reason for an invalid one; a damaged archive is never read in part.
    """

    def make_error(reason: str) -> RefusedError:
        return RefusedError(f"{sanitize(origin)}: {reason}", hint="nothing was installed; report it to the publisher")

    if data.startswith(GZIP_MAGIC):
        return _strip_top_folder(read_tar(data, limits, make_error), make_error)
    if data.startswith(ZIP_MAGICS):
        return _strip_top_folder(read_zip(data, limits, make_error), make_error)
    expected = "expected a .tar.gz, a .zip or a SKILL.md"
    if is_web_page(data):
        raise RefusedError(f"{sanitize(origin)}: {expected}, got a web page (a login?)", hint=WEB_PAGE_HINT)
    if origin.partition("?")[0].endswith(SKILL_FILES):
        return [SourceEntry(path=SKILL_FILE, data=data)]
    raise make_error(f"{expected}, got an unknown format")


def _strip_top_folder(entries: list[SourceEntry], make_error: Callable[[str], RefusedError]) -> list[SourceEntry]:
    """Strip the single folder that GitHub and others wrap an archive in. `check_tree` checks the paths afterwards."""
    paths = dict.fromkeys(entry.path for entry in entries)
    if find_skill_file(paths) or not entries:
        return entries
    folder = entries[0].path.partition("/")[0]
    if all(path.startswith(f"{folder}/") for path in paths) and find_skill_file(paths, f"{folder}/"):
        return [entry.replace(path=entry.path[len(folder) + 1 :]) for entry in entries]
    inside = sorted(posixpath.dirname(path) for path in paths if posixpath.basename(path) in SKILL_FILES)
    if inside:
        some = ", ".join(sanitize(path, 60) for path in inside[:5])
        raise make_error(f"SKILL.md is not at the top level, but in {some}; an archive contains one skill")
    raise make_error("it has no SKILL.md")
