"""Find skills in a skills directory without a manifest beside it, which `list` would silently ignore."""

import os

from skillpm.core.shell import shell_word
from skillpm.core.values import Value
from skillpm.installer.disk.layout import PROJECT_FOLDER
from skillpm.installer.disk.skill_file import is_skill_folder
from skillpm.registry.builder import list_folders
from skillpm.scope.scope import Scope, candidate_project_dirs
from skillpm.settings import Settings


class OrphanedSkills(Value):
    """Skills that belong to no project."""

    count: int
    directory: str
    command: str  # that makes the folder a project


def find_orphaned_skills(scope: Scope, settings: Settings) -> OrphanedSkills | None:
    """Find orphaned skills here and in parent folders, if user scope was chosen for lack of a project; else None."""
    for folder in candidate_project_dirs(settings) if scope.is_fallback else ():
        directory = os.path.join(folder, PROJECT_FOLDER)
        skills = [name for name in list_folders(directory) if is_skill_folder(os.path.join(directory, name))]
        if skills and os.path.realpath(directory) != os.path.realpath(scope.layout.directory):
            path = os.path.relpath(folder, settings.working_directory)
            command = "skillpm init" if path == os.curdir else f"skillpm init {shell_word(path)}"
            return OrphanedSkills(count=len(skills), directory=directory, command=command)
    return None
