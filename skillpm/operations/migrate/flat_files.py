"""Flat files in a skills directory, by the rule of `migrate`: whoever lists skills is told that they are none yet.

Most directories have none: that is seen from names alone, and only who has some pays for reading them.
"""

import os
from collections.abc import Collection, Iterator

from skillpm.core.file_tree import Limits
from skillpm.errors import SkillpmError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import ABOUT_A_FOLDER
from skillpm.installer.layout import Layout

MOST_FOLDERS = 100


def flat_files_in(directory: str, skills: Collection[str], limits: Limits) -> list[str]:
    """Give the flat files of a folder that are meant to be skills. `skills` are folders that need no look."""
    names = sorted(_markdown_in(directory, skills))
    if not names:
        return []
    # The reader brings a YAML library with it.
    from skillpm.installer.migration.migration_planner import would_be_skills  # noqa: PLC0415
    from skillpm.installer.migration.scanner import look_at_flat_files  # noqa: PLC0415
    from skillpm.operations.migrate.handwritten_registry import old_registry_of  # noqa: PLC0415

    layout = Layout(directory)
    try:
        return sorted(
            would_be_skills(look_at_flat_files(directory, limits), old_registry_of(layout, read_text(layout.registry)))
        )
    except (OSError, SkillpmError):
        return names  # `migrate` says what is wrong with them


def _markdown_in(directory: str, skills: Collection[str]) -> Iterator[str]:
    """Give the Markdown files that lie at the top of a folder, or in one of its folders that is no skill."""
    folders: list[str] = []
    for entry in _entries(directory):
        if _is_flat(entry):
            yield entry.name
        elif entry.name not in skills and entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
    for folder in folders[:MOST_FOLDERS]:
        inside = list(_entries(os.path.join(directory, folder)))
        if not any(entry.name.upper() == "SKILL.MD" for entry in inside):
            yield from (f"{folder}/{entry.name}" for entry in inside if _is_flat(entry))


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry for entry in entries if not entry.name.startswith("."))
    except OSError:
        return


def _is_flat(entry: os.DirEntry[str]) -> bool:
    stem, ending = os.path.splitext(entry.name)
    return ending.lower() == ".md" and not ABOUT_A_FOLDER.fullmatch(stem) and entry.is_file(follow_symlinks=False)
