"""Find flat files in a skills directory, by the rules of `migrate`, so that `list` can point them out.

Most directories have none. That is visible from the names alone, so files are read only if there are some.
"""

import os
from collections.abc import Collection, Iterator

from skillpm.core.limits import Limits
from skillpm.core.text import pluralize
from skillpm.errors import SkillpmError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import NON_SKILL_NAME
from skillpm.installer.disk.layout import PROJECT_FOLDER, Layout
from skillpm.settings import Settings

MAX_FOLDERS = 100


def find_flat_files(directory: str, skills: Collection[str], limits: Limits) -> list[str]:
    """Return the flat files of a folder that are meant to be skills, skipping the folders in `skills`."""
    names = sorted(_find_markdown(directory, skills))
    if not names:
        return []
    # Reading them imports a YAML library.
    from skillpm.adopt.migration_planner import find_skill_candidates  # noqa: PLC0415
    from skillpm.adopt.scanner import load_legacy_registry, scan_flat_files  # noqa: PLC0415

    layout = Layout(directory=directory)
    try:
        registry = load_legacy_registry(layout, read_text(layout.registry))
        return sorted(find_skill_candidates(scan_flat_files(directory, limits, registry.entries), registry))
    except (OSError, SkillpmError):
        return names  # `migrate` reports what is wrong with them


def flat_files_hint(settings: Settings) -> str:
    """Return the command that migrates flat files in the working directory; empty if there are none."""
    for typed, called in ((PROJECT_FOLDER, PROJECT_FOLDER), (".", "the current folder")):
        if files := find_flat_files(os.path.join(settings.working_directory, typed), (), settings.limits):
            return f"run `skillpm migrate {typed}` for the {pluralize(len(files), 'flat file')} in {called}"
    return ""


def _find_markdown(directory: str, skills: Collection[str]) -> Iterator[str]:
    """Yield the Markdown files at the top of a folder, or in one of its folders that is not a skill."""
    folders: list[str] = []
    for entry in _scan_folder(directory):
        if _is_flat(entry):
            yield entry.name
        elif entry.name not in skills and entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
    for folder in folders[:MAX_FOLDERS]:
        inside = list(_scan_folder(os.path.join(directory, folder)))
        if not any(entry.name.upper() == "SKILL.MD" for entry in inside):
            yield from (f"{folder}/{entry.name}" for entry in inside if _is_flat(entry))


def _scan_folder(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if not entry.name.startswith("."))
    except OSError:
        return


def _is_flat(entry: os.DirEntry[str]) -> bool:
    stem, suffix = os.path.splitext(entry.name)
    return suffix.lower() == ".md" and not NON_SKILL_NAME.fullmatch(stem) and entry.is_file(follow_symlinks=False)
