"""Flat files in a skills directory, by the rule of `migrate`: whoever lists skills is told that they are none yet.

Most directories have none: that is seen from names alone, and only who has some pays for reading them.
"""

import os
from collections.abc import Collection, Iterator

from skillpm.core.file_tree import Limits
from skillpm.errors import SkillpmError
from skillpm.files import read_text
from skillpm.formats.legacy_registry import NON_SKILL_NAME
from skillpm.installer.layout import Layout

MAX_FOLDERS = 100


def find_flat_files(directory: str, skills: Collection[str], limits: Limits) -> list[str]:
    """Give the flat files of a folder that are meant to be skills. `skills` are folders that need no look."""
    names = sorted(_find_markdown(directory, skills))
    if not names:
        return []
    # The reader brings a YAML library with it.
    from skillpm.installer.migration.migration_planner import find_skill_candidates  # noqa: PLC0415
    from skillpm.installer.migration.scanner import scan_flat_files  # noqa: PLC0415
    from skillpm.operations.migrate.handwritten_registry import load_legacy_registry  # noqa: PLC0415

    layout = Layout(directory)
    try:
        return sorted(
            find_skill_candidates(
                scan_flat_files(directory, limits), load_legacy_registry(layout, read_text(layout.registry))
            )
        )
    except (OSError, SkillpmError):
        return names  # `migrate` says what is wrong with them


def _find_markdown(directory: str, skills: Collection[str]) -> Iterator[str]:
    """Give the Markdown files that lie at the top of a folder, or in one of its folders that is no skill."""
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
    stem, ending = os.path.splitext(entry.name)
    return ending.lower() == ".md" and not NON_SKILL_NAME.fullmatch(stem) and entry.is_file(follow_symlinks=False)
